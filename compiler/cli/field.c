#include "field.h"
#include "launch/launch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hpt_status upload(hpt_context *context, uint64_t *out, const void *host, size_t elements, hpt_number_type from,
                         hpt_number_type to, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t bytes = elements * hpt_number_type_bytes(to);
    void *converted = NULL;
    if (from != to) {
        HPT_FAIL_NO_MEMORY(converted = malloc(bytes));
        hpt_typed_convert(converted, to, host, from, elements);
    }
    HPT_TRY(hpt_device_alloc(context, out, bytes, error));
    HPT_TRY(hpt_device_upload(context, *out, converted ? converted : host, bytes, error));
done:
    free(converted);
    return status;
}

static hpt_status upload_operands(hpt_field *f, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_data *d = &f->data;
    HPT_TRY(upload(f->context, &f->x, d->x, d->elements_x, d->type_x, d->type_x, error));
    HPT_TRY(upload(f->context, &f->y, d->y, d->elements_y, d->type_y, d->type_y, error));
    if (f->baseline_type != d->type_x) {
        HPT_TRY(upload(f->context, &f->base_x, d->x, d->elements_x, d->type_x, f->baseline_type, error));
        HPT_TRY(upload(f->context, &f->base_y, d->y, d->elements_y, d->type_y, f->baseline_type, error));
    } else {
        f->base_x = f->x;
        f->base_y = f->y;
    }
done:
    return status;
}

hpt_status hpt_field_create(hpt_field *f, hpt_context *context, const hpt_op *op, const hpt_shape *shape, uint64_t seed,
                            const char *baseline_type, hpt_error *error) {
    hpt_status status = HPT_OK;
    *f = (hpt_field){.context = context, .data = {.shape = *shape, .alpha = 1, .seed = seed}};
    hpt_data *d = &f->data;
    HPT_TRY(hpt_data_describe(d, op, error));
    f->baseline_type = d->type_x;
    HPT_FAIL_IF(baseline_type && !hpt_number_type_find(&f->baseline_type, baseline_type), HPT_USAGE, "--baseline-type",
                "It is f16 or bf16.");
    f->baseline_out = d->type_c == HPT_NUMBER_F32 ? HPT_NUMBER_F32 : f->baseline_type;
    if (f->baseline_type == HPT_NUMBER_BF16) d->rounding = HPT_NUMBER_BF16;
    HPT_TRY(hpt_data_make(d, error));
    HPT_TRY(upload_operands(f, error));
    HPT_FAIL_NO_MEMORY(f->host = malloc(d->elements_c * sizeof(float)));
    HPT_TRY(hpt_device_alloc(context, &f->c, d->elements_c * sizeof(float), error));
done:
    if (status != HPT_OK) hpt_field_clear(f);
    return status;
}

void hpt_field_clear(hpt_field *f) {
    if (!f->context) return;
    hpt_device_free(f->context, f->x);
    hpt_device_free(f->context, f->y);
    hpt_device_free(f->context, f->c);
    if (f->base_x != f->x) hpt_device_free(f->context, f->base_x);
    if (f->base_y != f->y) hpt_device_free(f->context, f->base_y);
    hpt_data_clear(&f->data);
    free(f->host);
    *f = (hpt_field){0};
}

/* ---- variants ---- */
hpt_status hpt_variant_parse(hpt_variant *out, const char *text, hpt_error *error) {
    const char *last = strrchr(text, '@'), *plan = last && strchr(last, '=') ? last + 1 : ""; /* paths have @ too */
    const size_t length = *plan ? (size_t)(last - text) : strlen(text);
    *out = (hpt_variant){0};
    if (length == 0 || length >= sizeof out->name || strlen(plan) >= sizeof out->plan)
        return hpt_error_set(error, HPT_USAGE, text, "This is not SCHEME or SCHEME@NAME=INTEGER,...");
    memcpy(out->name, text, length);
    strcpy(out->plan, plan);
    return HPT_OK;
}

hpt_status hpt_variant_open(hpt_variant *v, hpt_context *context, const hpt_source_options *options, hpt_error *error) {
    hpt_source_options own = *options;
    if (v->unchained) own.chain = "none";
    if (v->plan[0]) own.emit.plan = v->plan;
    return hpt_source_open(&v->op, context, v->name, &own, error);
}

hpt_status hpt_variants_open(hpt_variant *variants, size_t count, hpt_context *context,
                             const hpt_source_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    for (size_t i = 0; i < count && status == HPT_OK; i++)
        status = hpt_variant_open(&variants[i], context, options, error);
    return status;
}

hpt_status hpt_variant_open_tuned(hpt_variant *v, hpt_context *context, const hpt_source_options *options,
                                  hpt_error *error) {
    hpt_status status = hpt_variant_open(v, context, options, error);
    if (status != HPT_OK)
        fprintf(stderr, "heptane bench: note: %s stands in %s/tuned.json, where heptane tune remembers its choices.\n",
                v->name, hpt_cache_folder(context->cache));
    return status;
}

void hpt_variant_close(hpt_variant *v) {
    hpt_op_close(v->op);
    v->op = NULL;
}

hpt_status hpt_variant_problem(hpt_problem *out, const hpt_variant *v, const hpt_field *f, const hpt_data *data,
                               hpt_error *error) {
    hpt_data own = {0};
    hpt_status status = hpt_data_describe(&own, v->op, error);
    if (status != HPT_OK) return status;
    if (own.type_x != f->data.type_x || own.type_y != f->data.type_y || own.type_c != f->data.type_c ||
        own.trans_x != f->data.trans_x || own.trans_y != f->data.trans_y)
        return hpt_error_set(error, HPT_UNSUPPORTED, v->name, "Its types or layout differ from those of the others.");
    return hpt_problem_create(out, f->context, v->op, data, f->x, f->y, f->c, error);
}

hpt_status hpt_field_key(hpt_tuned_key *out, const hpt_field *f, const hpt_op *op, const char *sums, hpt_error *error) {
    char types[64];
    const char layout[] = {f->data.trans_x ? 'T' : 'N', f->data.trans_y ? 'T' : 'N', '\0'};
    hpt_op_info info;
    hpt_op_describe(op, &info);
    hpt_tuned_types(types, sizeof types, &info, layout, sums);
    return hpt_tuned_key_make(out, f->context, info.op, types, f->data.shape.m, f->data.shape.n, f->data.shape.k,
                              error);
}

hpt_status hpt_timed_gpu_open(hpt_context **context, hpt_meter **meter, hpt_source_options *options, int64_t device,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_context_info info;
    HPT_TRY(hpt_context_open(context, "gpu", (int)device, NULL, error));
    hpt_context_describe(*context, &info);
    options->emit.target = info.target;
    HPT_TRY(hpt_meter_open(meter, *context, (int)device, error));
done:
    return status;
}

hpt_status hpt_timed_op_check(const char *op, hpt_error *error) {
    if (!op || strcmp(op, "gemm") == 0) return HPT_OK;
    return hpt_error_set(error, HPT_USAGE, "--op", "Operations that are timed are gemm and mlp, not \"%s\".", op);
}

hpt_status hpt_sizes_parse(hpt_shape *out, size_t *count, size_t most, const char *text, hpt_error *error) {
    static const long long largest = 1LL << 40;
    *count = 0;
    for (const char *at = text; *at || *count == 0;) {
        char word[96], rest;
        size_t length = strcspn(at, ",");
        long long m, n, k;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        int got = sscanf(word, "%lldx%lldx%lld%c", &m, &n, &k, &rest);
        if (got == 1) n = k = m;
        bool single = got == 1 && strspn(word, "0123456789") == strlen(word);
        if ((!single && got != 3) || m < 1 || n < 1 || k < 1 || m > largest || n > largest || k > largest)
            return hpt_error_set(error, HPT_USAGE, "--sizes", "\"%s\" is not a size (8192 or MxNxK).", word);
        if (*count == most) return hpt_error_set(error, HPT_USAGE, "--sizes", "There are more than %zu sizes.", most);
        out[(*count)++] = (hpt_shape){.m = m, .n = n, .k = k, .batch = 1};
        at += length + (at[length] == ',');
    }
    return HPT_OK;
}

hpt_status hpt_tokens_parse(int64_t *out, size_t *count, size_t most, const char *text, hpt_error *error) {
    *count = 0;
    for (const char *at = text; *at || *count == 0;) {
        char *end;
        const long long m = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || m < 1 || m > 1 << 30 || *count == most)
            return hpt_error_set(error, HPT_USAGE, "--sizes", "\"%s\" is not a list of token counts.", at);
        out[(*count)++] = m;
        at = end + (*end == ',');
    }
    return HPT_OK;
}
