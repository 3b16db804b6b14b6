#include "chains.h"

/* Scales of one chain from its ratios: scale[0] = 1, scale[t + 1] = scale[t] / mu. */
static hpt_status raw_scales(int32_t *scale, hpt_numbers *numbers, const hpt_chain_matrix *m, const int32_t *order,
                             int32_t length, hpt_error *error) {
    scale[0] = HPT_NUMBER_ONE;
    for (int32_t t = 0; t + 1 < length; t++) {
        int32_t mu = m->mu[(size_t)order[t] * (size_t)m->count + (size_t)order[t + 1]];
        hpt_status status = hpt_numbers_divide(&scale[t + 1], numbers, scale[t], mu, error);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

/* Divides a chain's scales by that one of them which leaves most of them +-1, then most of them 1. */
static hpt_status normalise(int32_t *scale, hpt_numbers *numbers, int32_t length, hpt_error *error) {
    int32_t best = -1, divisor = HPT_NUMBER_ONE;
    for (int32_t by = -1; by < 2 * length; by++) { /* every scale and its negative; -1: as it is */
        int32_t candidate = HPT_NUMBER_ONE, worth = 0, got;
        hpt_status status = HPT_OK;
        if (by >= 0) candidate = scale[by / 2];
        if (by >= 0 && by % 2)
            status = hpt_numbers_multiply(&candidate, numbers, candidate, HPT_NUMBER_MINUS_ONE, error);
        for (int32_t t = 0; t < length && status == HPT_OK; t++) {
            status = hpt_numbers_divide(&got, numbers, scale[t], candidate, error);
            if (status == HPT_OK && got <= HPT_NUMBER_MINUS_ONE) worth += 2 * length + (got == HPT_NUMBER_ONE);
        }
        if (status != HPT_OK) return status;
        if (worth > best) best = worth, divisor = candidate;
    }
    for (int32_t t = 0; t < length; t++) {
        hpt_status status = hpt_numbers_divide(&scale[t], numbers, scale[t], divisor, error);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

/* What the prefix sum after `step` owes each output: rho / scale minus the same of the next product. */
static hpt_status add_writes(hpt_chain_step *step, hpt_numbers *numbers, const hpt_chain_matrix *m,
                             const hpt_chain_step *following, hpt_arena *arena, hpt_error *error) {
    hpt_status status = HPT_OK;
    step->output = hpt_arena_alloc(arena, (size_t)m->outputs, sizeof *step->output);
    step->weight = hpt_arena_alloc(arena, (size_t)m->outputs, sizeof *step->weight);
    HPT_FAIL_IF(!step->output || !step->weight, HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t c = 0; c < m->outputs; c++) {
        int32_t here, there = HPT_NUMBER_ZERO, weight;
        HPT_TRY(hpt_numbers_divide(&here, numbers, m->rho[(size_t)step->product * (size_t)m->outputs + (size_t)c],
                                   step->scale, error));
        if (following)
            HPT_TRY(hpt_numbers_divide(&there, numbers,
                                       m->rho[(size_t)following->product * (size_t)m->outputs + (size_t)c],
                                       following->scale, error));
        HPT_TRY(hpt_numbers_subtract(&weight, numbers, here, there, error));
        if (weight == HPT_NUMBER_ZERO) continue;
        step->output[step->write_count] = c;
        step->weight[step->write_count++] = weight;
    }
done:
    return status;
}

hpt_status hpt_chain_list_build(hpt_chain_list *out, hpt_numbers *numbers, const hpt_chain_matrix *matrix,
                                const int32_t *order, const uint8_t *last, hpt_arena *arena, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t n = (size_t)matrix->count;
    int32_t *scale = hpt_arena_alloc(arena, n, sizeof *scale);
    *out = (hpt_chain_list){.count = matrix->count,
                            .first = hpt_arena_alloc(arena, n + 1, sizeof(int32_t)),
                            .steps = hpt_arena_alloc(arena, n, sizeof(hpt_chain_step))};
    HPT_FAIL_IF(!scale || !out->first || !out->steps, HPT_NO_MEMORY, "", "Out of memory.");
    for (int32_t start = 0, t = 0; t < matrix->count; t++) {
        if (!last[t]) continue;
        int32_t length = t + 1 - start;
        HPT_TRY(raw_scales(scale, numbers, matrix, order + start, length, error));
        HPT_TRY(normalise(scale, numbers, length, error));
        for (int32_t i = 0; i < length; i++)
            out->steps[start + i] = (hpt_chain_step){.product = order[start + i], .scale = scale[i]};
        for (int32_t i = 0; i < length; i++) {
            hpt_chain_step *step = &out->steps[start + i];
            HPT_TRY(add_writes(step, numbers, matrix, i + 1 < length ? step + 1 : NULL, arena, error));
            out->writes += step->write_count;
        }
        out->first[out->chains++] = start;
        start = t + 1;
    }
    out->first[out->chains] = matrix->count;
done:
    return status;
}
