#include "tcgen05.h"
#include <math.h>
#include <string.h>

enum { MAX_M = 256, MAX_N = 256, MAX_K = 32 };

/* ---- numbers
 * ------------------------------------------------------------------------------------------------------------ */
static float float_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A small float: sign, `exponent` bits, `mantissa` bits; `infinite`: the largest exponent means infinity and NaN. Its
 * bits moved to their place in an f32 give the value but for the bias, subnormals included. */
static float small_float(uint32_t bits, uint32_t exponent, uint32_t mantissa, bool infinite) {
    uint32_t size = bits & ((1u << (exponent + mantissa)) - 1), top = (1u << exponent) - 1;
    uint32_t sign = bits >> (exponent + mantissa) & 1, rebias = 127u + 127u - (top >> 1);
    if (infinite && size >> mantissa == top) return float_bits(sign << 31 | 0x7F800000u | size << (23 - mantissa));
    float value = float_bits(size << (23 - mantissa)) * float_bits(rebias << 23);
    return sign ? -value : value;
}

float hpt_mma_value(hpt_mma_type type, uint32_t bits) {
    switch (type) {
    case HPT_MMA_T_F16:
        return small_float(bits, 5, 10, true);
    case HPT_MMA_T_BF16:
        return float_bits(bits << 16);
    case HPT_MMA_T_TF32:
        return float_bits(bits & 0xFFFFE000u); /* the low 13 bits are not looked at */
    case HPT_MMA_T_E5M2:
        return small_float(bits, 5, 2, true);
    case HPT_MMA_T_E4M3:
        return (bits & 0x7F) == 0x7F ? NAN : small_float(bits, 4, 3, false);
    }
    return NAN;
}

/* To f16, round to nearest even; through the scaled integer, so that subnormals need no case of their own. */
static uint32_t to_f16(float value) {
    uint32_t sign = signbit(value) ? 0x8000u : 0;
    float size = fabsf(value);
    int exponent;
    if (isnan(value)) return 0x7FFF;
    if (size >= 65520.0f) return sign | 0x7C00;
    if (size < ldexpf(1, -24 - 1)) return sign;
    frexpf(size, &exponent);
    int ulp = exponent - 11 < -24 ? -24 : exponent - 11;
    uint32_t units = (uint32_t)lrintf(ldexpf(size, -ulp)); /* at most 2048 */
    return sign | (((uint32_t)(ulp + 24) << 10) + units);
}

/* ---- operands
 * ------------------------------------------------------------------------------------------------------------ */
typedef struct operand {
    hpt_matrix_descriptor matrix;
    hpt_mma_type type;
    uint32_t element, k;
    bool mn_major, negate;
} operand;

static float element_of(const operand *op, const uint8_t *bytes) {
    uint32_t bits = 0;
    memcpy(&bits, bytes, op->element);
    float value = hpt_mma_value(op->type, bits);
    return op->negate ? -value : value;
}

/* Rows [0, rows) of one CTA's part into out[row * row_step + k * k_step]. */
static hpt_status operand_fetch(const operand *op, uint32_t cta, uint32_t rows, float *out, size_t row_step,
                                size_t k_step, hpt_mma_fetch fetch, void *user, hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t per_unit = 16 / op->element; /* elements */
    uint8_t unit[16];
    uint32_t outer = op->mn_major ? op->k : rows, inner = op->mn_major ? rows : op->k;
    for (uint32_t o = 0; o < outer; o++)
        for (uint32_t i = 0; i < inner; i += per_unit) {
            uint32_t address = op->mn_major ? hpt_matrix_address_mn_major(&op->matrix, i * op->element, o)
                                            : hpt_matrix_address_k_major(&op->matrix, o, i * op->element);
            HPT_TRY(fetch(user, cta, address, unit, error));
            for (uint32_t e = 0; e < per_unit && i + e < inner; e++) {
                uint32_t row = op->mn_major ? i + e : o, k = op->mn_major ? o : i + e;
                out[row * row_step + k * k_step] = element_of(op, unit + e * op->element);
            }
        }
done:
    return status;
}

/* A from tensor memory: row i in lane i, consecutive k packed into 32-bit columns. */
static hpt_status a_from_tmem(const hpt_mma *mma, const operand *op, hpt_tmem *const tmem[2], float *a,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    uint32_t rows = mma->shape.m / mma->shape.cta_group, column = mma->a_tmem & 0xFFFF, per_cell = 4 / op->element;
    HPT_FAIL_IF(rows != 128, HPT_UNSUPPORTED, "tcgen05.mma", "A in tensor memory with M = %u is not modelled.",
                mma->shape.m);
    HPT_FAIL_IF(op->mn_major, HPT_EMULATOR, "tcgen05.mma", "A in tensor memory cannot be transposed.");
    for (uint32_t cta = 0; cta < mma->shape.cta_group; cta++) {
        HPT_TRY(hpt_tmem_range_check(tmem[cta], column, op->k / per_cell, error));
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t k = 0; k < op->k; k++) {
                uint32_t c = column + k / per_cell, shift = 8 * op->element * (k % per_cell);
                HPT_FAIL_IF(!tmem[cta]->written[row][c], HPT_EMULATOR, "unwritten",
                            "A in lane %u, column %u of tensor memory was never written.", row, c);
                uint32_t bits = tmem[cta]->cell[row][c] >> shift;
                a[(cta * rows + row) * MAX_K + k] = element_of(op, (const uint8_t *)&bits);
            }
    }
done:
    return status;
}

/* ---- the product
 * ----------------------------------------------------------------------------------------------------------- */
static bool lane_skipped(const hpt_mma *mma, uint32_t cta, uint32_t lane) {
    return mma->skip[4 * cta + lane / 32] >> (lane % 32) & 1;
}

static void store_cell(const hpt_mma *mma, uint32_t *cell, bool *written, float value, bool *unwritten) {
    if (mma->accumulate) {
        float before = mma->shape.d_f16 ? hpt_mma_value(HPT_MMA_T_F16, *cell & 0xFFFF) : float_bits(*cell);
        *unwritten |= !*written;
        value += mma->scale ? ldexpf(before, -(int)mma->scale) : before;
    }
    if (mma->shape.d_f16)
        *cell = to_f16(value);
    else
        memcpy(cell, &value, sizeof value);
    *written = true;
}

static void store_row(const hpt_mma *mma, hpt_tmem *const tmem[2], uint32_t row, const float *sum, bool *unwritten) {
    uint32_t width = hpt_mma_width(&mma->shape);
    for (uint32_t j = 0; j < mma->shape.n; j += width) { /* columns that lie in one lane */
        uint32_t cta, lane, offset;
        hpt_mma_place(&mma->shape, row, j, &cta, &lane, &offset);
        if (lane_skipped(mma, cta, lane)) continue;
        offset += mma->d & 0xFFFF;
        for (uint32_t i = 0; i < width; i++)
            store_cell(mma, &tmem[cta]->cell[lane][offset + i], &tmem[cta]->written[lane][offset + i], sum[j + i],
                       unwritten);
    }
}

hpt_status hpt_mma_execute(const hpt_mma *mma, hpt_tmem *const tmem[2], hpt_mma_fetch fetch, void *user,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_mma_shape *shape = &mma->shape;
    uint32_t rows_a = shape->m / shape->cta_group, rows_b = shape->n / shape->cta_group;
    static _Thread_local float a[MAX_M * MAX_K], b[MAX_K * MAX_N]; /* a by rows, b by columns of k */
    operand op_a = {.type = shape->a,
                    .element = shape->element,
                    .k = shape->k,
                    .mn_major = shape->mn_major_a,
                    .negate = shape->negate_a};
    operand op_b = {.type = shape->b,
                    .element = shape->element,
                    .k = shape->k,
                    .mn_major = shape->mn_major_b,
                    .negate = shape->negate_b};
    HPT_FAIL_IF(mma->d >> 16, HPT_EMULATOR, "tcgen05.mma", "The address of D must name lane 0, not %u.", mma->d >> 16);
    for (uint32_t cta = 0; cta < shape->cta_group; cta++)
        HPT_TRY(hpt_tmem_range_check(tmem[cta], mma->d & 0xFFFF, hpt_mma_width(shape), error));
    HPT_TRY(hpt_matrix_descriptor_decode(&op_b.matrix, mma->b, error));
    if (mma->a_in_tmem)
        HPT_TRY(a_from_tmem(mma, &op_a, tmem, a, error));
    else
        HPT_TRY(hpt_matrix_descriptor_decode(&op_a.matrix, mma->a, error));
    for (uint32_t cta = 0; cta < shape->cta_group; cta++) {
        if (!mma->a_in_tmem)
            HPT_TRY(operand_fetch(&op_a, mma->first_cta + cta, rows_a, a + (size_t)cta * rows_a * MAX_K, MAX_K, 1,
                                  fetch, user, error));
        HPT_TRY(operand_fetch(&op_b, mma->first_cta + cta, rows_b, b + cta * rows_b, 1, MAX_N, fetch, user, error));
    }
    bool unwritten = false;
    for (uint32_t row = 0; row < shape->m; row++) {
        float sum[MAX_N] = {0};
        for (uint32_t k = 0; k < shape->k; k += 4) { /* k is 8, 16 or 32 */
            const float *f = a + row * MAX_K + k, *line = b + (size_t)k * MAX_N;
            for (uint32_t j = 0; j < shape->n; j++)
                sum[j] +=
                    f[0] * line[j] + f[1] * line[MAX_N + j] + f[2] * line[2 * MAX_N + j] + f[3] * line[3 * MAX_N + j];
        }
        store_row(mma, tmem, row, sum, &unwritten);
    }
    HPT_FAIL_IF(unwritten, HPT_EMULATOR, "unwritten", "D is added to (enable-input-d) but was never written.");
done:
    return status;
}
