/* The text that heptane-check reads; its grammar is in proofs/README.md. */
#include "chains.h"

static void put_row(hpt_text *out, const hpt_scheme *scheme, hpt_factor factor, int32_t product) {
    hpt_terms row = hpt_scheme_terms(scheme, factor, product);
    size_t i = 0;
    for (int32_t e = 0; e < hpt_scheme_entries(scheme, factor); e++) {
        bool here = i < row.count && row.index[i] == e;
        hpt_text_printf(out, " %s", here ? hpt_scheme_value_text(scheme, row.value[i]) : "0");
        i += here;
    }
}

/* Identity of the factors as they stand, order and scaling included: what product numbers and scales refer to. */
static hpt_status digest(char out[HPT_HASH_LENGTH], const hpt_scheme *scheme, hpt_error *error) {
    hpt_text text = {0};
    hpt_text_printf(&text, "%d %d %d %d\n", hpt_scheme_n(scheme), hpt_scheme_m(scheme), hpt_scheme_p(scheme),
                    hpt_scheme_rank(scheme));
    for (int32_t r = 0; r < hpt_scheme_rank(scheme); r++) {
        put_row(&text, scheme, HPT_U, r);
        put_row(&text, scheme, HPT_V, r);
        put_row(&text, scheme, HPT_W, r);
        hpt_text_puts(&text, "\n");
    }
    bool failed = text.failed;
    if (!failed) hpt_sha256_hex(out, text.data, text.length);
    hpt_text_clear(&text);
    return failed ? hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.") : HPT_OK;
}

static void put_tree(hpt_text *out, const hpt_bound_tree *tree) {
    hpt_text_printf(out, "bound %d tree %d\n", tree->bound, HPT_BOUND_SCALE);
    for (size_t i = 0; i < tree->node_count; i++) {
        const hpt_bound_node *node = &tree->nodes[i];
        if (node->a >= 0) { /* the depot is product 0 */
            hpt_text_printf(out, "branch %d %d\n", node->a == tree->count ? 0 : node->a + 1,
                            node->b == tree->count ? 0 : node->b + 1);
            continue;
        }
        hpt_text_puts(out, "leaf");
        for (int32_t r = 0; r < tree->count; r++)
            hpt_text_printf(out, " %d", tree->multipliers[node->multipliers + (size_t)r]);
        hpt_text_puts(out, "\n");
    }
}

hpt_status hpt_chain_certify(hpt_text *out, const hpt_schedule *schedule, const hpt_chain_proof *proof,
                             const hpt_scheme *scheme, hpt_error *error) {
    hpt_status status = HPT_OK;
    char hash[HPT_HASH_LENGTH];
    HPT_TRY(digest(hash, scheme, error));
    hpt_text_printf(out, "heptane-certificate 1\nscheme %d %d %d %d\ndigest %s\nwrites %d\n", schedule->n, schedule->m,
                    schedule->p, schedule->rank, hash, schedule->writes);
    for (int32_t chain = 0; chain < schedule->chains; chain++) {
        hpt_text_puts(out, "chain");
        for (int32_t t = 0; t < schedule->step_count; t++)
            if (schedule->steps[t].chain == chain)
                hpt_text_printf(out, " %d:%s", schedule->steps[t].product + 1, schedule->steps[t].scale.text);
        hpt_text_puts(out, "\n");
    }
    if (proof->distinct)
        hpt_text_printf(out, "bound %d distinct\n", schedule->rank);
    else
        put_tree(out, &proof->tree);
    hpt_text_puts(out, "end\n");
    HPT_FAIL_IF(out->failed, HPT_NO_MEMORY, "", "Out of memory.");
done:
    return status;
}
