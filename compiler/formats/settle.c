#include "formats/settle.h"
#include "scheme/recognise.h"
#include <stdio.h>
#include <string.h>

static const double MANY_PRODUCTS = 1e9; /* over this, only the declared layout is tried */

/* Every factor with its bit set in `turned` is read by columns instead of rows (or the other way round). */
static hpt_status relayout(hpt_scheme **out, const hpt_scheme *s, int turned, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_builder *builder = NULL;
    const int32_t rows[3] = {s->n, s->m, s->n}, columns[3] = {s->m, s->p, s->p};
    bool transposed = strcmp(s->convention, HPT_OUTPUT_TRANSPOSED) == 0;
    char convention[160];
    *out = NULL;
    HPT_TRY(hpt_builder_create(&builder, s->n, s->m, s->p, s->rank, s->name, error));
    hpt_builder_set_ring(builder, &s->ring, s->forced_ring);
    snprintf(convention, sizeof convention, "%s, found by checking%s%s",
             transposed != ((turned & 4) != 0) ? HPT_OUTPUT_TRANSPOSED : HPT_OUTPUT_PLAIN,
             turned & 1 ? "; first factor by columns" : "", turned & 2 ? "; second factor by columns" : "");
    hpt_builder_set_text(builder, s->name, s->format, s->source, convention);
    if (s->decimal) hpt_builder_set_decimal(builder);
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < s->rank; r++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            for (size_t k = 0; k < row.count; k++) {
                int32_t e = row.index[k];
                if ((turned >> f & 1) && f == HPT_W && transposed) /* back to where it stood in the file */
                    e = e % columns[f] * rows[f] + e / columns[f];
                else if (turned >> f & 1)
                    e = e % rows[f] * columns[f] + e / rows[f];
                int32_t id = hpt_builder_value(builder, &s->values[row.value[k]]);
                HPT_TRY(hpt_builder_term(builder, (hpt_factor)f, r, e, id, s->name, error));
            }
        }
    HPT_TRY(hpt_builder_finish(out, builder, s->name, error));
done:
    hpt_builder_destroy(builder);
    return status;
}

static double product_count(const hpt_scheme *s) {
    double total = 0;
    for (int32_t r = 0; r < s->rank; r++)
        total += (double)hpt_scheme_terms(s, HPT_U, r).count * (double)hpt_scheme_terms(s, HPT_V, r).count *
                 (double)hpt_scheme_terms(s, HPT_W, r).count;
    return total;
}

static hpt_status verify_and_keep(hpt_scheme *s, const hpt_progress *progress, hpt_error *error) {
    hpt_verification verdict;
    hpt_status status = hpt_scheme_verify_watched(&verdict, s, progress, error);
    if (status == HPT_OK) {
        s->known = verdict;
        s->verified = true;
    }
    return status;
}

static void replace(hpt_scheme **scheme, hpt_scheme *with) {
    hpt_scheme_destroy(*scheme);
    *scheme = with;
}

static hpt_status try_layouts(hpt_scheme **scheme, const hpt_progress *progress, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *other = NULL;
    for (int turned = 1; turned < 8; turned++) {
        HPT_TRY(relayout(&other, *scheme, turned, error));
        HPT_TRY(verify_and_keep(other, progress, error));
        if (other->known.verdict == HPT_VERDICT_PROVED) {
            replace(scheme, other);
            other = NULL;
            break;
        }
        hpt_scheme_destroy(other);
        other = NULL;
    }
done:
    hpt_scheme_destroy(other);
    return status;
}

static hpt_status move_to_ring(hpt_scheme **scheme, const char *ring, hpt_error *error) {
    hpt_scheme *moved = NULL;
    hpt_status status = hpt_scheme_over(&moved, *scheme, ring, error);
    if (status == HPT_OK) replace(scheme, moved);
    return status;
}

hpt_status hpt_scheme_settle(hpt_scheme **scheme, const hpt_read_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *exact = NULL;
    if (options->ring) HPT_TRY(move_to_ring(scheme, options->ring, error));
    HPT_TRY(verify_and_keep(*scheme, options->progress, error));
    if ((*scheme)->decimal && (*scheme)->known.verdict != HPT_VERDICT_PROVED) {
        HPT_TRY(hpt_scheme_recognise(&exact, *scheme, error));
        if (exact) {
            replace(scheme, exact);
            HPT_TRY(verify_and_keep(*scheme, options->progress, error));
        }
    }
    if ((*scheme)->known.verdict == HPT_VERDICT_REFUTED && product_count(*scheme) <= MANY_PRODUCTS &&
        (*scheme)->convention[0])
        HPT_TRY(try_layouts(scheme, options->progress, error));
    if (!options->ring && (*scheme)->ring.characteristic == 0 && strcmp((*scheme)->known.ring, "GF(2)") == 0) {
        hpt_verification verdict = (*scheme)->known;
        HPT_TRY(move_to_ring(scheme, "GF(2)", error));
        (*scheme)->known = verdict;
        (*scheme)->verified = true;
    }
done:
    return status;
}
