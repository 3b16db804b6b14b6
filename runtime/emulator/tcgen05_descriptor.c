#include "tcgen05.h"

#define REFUSE_IF(condition, ...)                                                                                      \
    do {                                                                                                               \
        if (condition) return hpt_error_set(error, HPT_EMULATOR, where, __VA_ARGS__);                                  \
    } while (0)

static uint32_t field(uint64_t bits, uint32_t low, uint32_t width) {
    return (uint32_t)(bits >> low & ((1ull << width) - 1));
}

/* ---- shared-memory descriptor
 * ---------------------------------------------------------------------------------------- */
hpt_status hpt_matrix_descriptor_decode(hpt_matrix_descriptor *out, uint64_t bits, hpt_error *error) {
    static const char where[] = "matrix descriptor";
    static const int swizzles[8] = {0, 128, 128, -1, 64, -1, 32, -1};
    uint32_t mode = field(bits, 61, 3);
    REFUSE_IF(field(bits, 46, 3) != 1, "Bits 46-48 are %u and must be 1 (a Hopper descriptor has 0).",
              field(bits, 46, 3));
    REFUSE_IF(field(bits, 52, 1), "Bit 52 (absolute leading dimension) is set; only sm_103a has it.");
    REFUSE_IF(field(bits, 53, 8), "Bits 53-60 are 0x%x and must be zero.", field(bits, 53, 8));
    REFUSE_IF(field(bits, 14, 2) || field(bits, 30, 2), "Bits 14-15 and 30-31 must be zero.");
    REFUSE_IF(swizzles[mode] < 0, "Swizzle mode %u (bits 61-63) does not exist.", mode);
    *out = (hpt_matrix_descriptor){
        .start = field(bits, 0, 14) << 4,
        .lbo = field(bits, 16, 14) << 4,
        .sbo = field(bits, 32, 14) << 4,
        .base_offset = field(bits, 49, 3),
        .swizzle = (uint32_t)swizzles[mode],
        .wide_atom = mode == 1,
    };
    return HPT_OK;
}

/* The swizzle permutes 16-byte units inside rows of the swizzle span: unit number ^= row number, both read from the
 * address itself, the row counted from where the pattern starts (base offset). */
static uint32_t swizzled(const hpt_matrix_descriptor *matrix, uint32_t address) {
    uint32_t row = ((address >> 7) - matrix->base_offset) & 7;
    switch (matrix->swizzle) {
    case 128:
        return address ^ (matrix->wide_atom ? (row & 3) << 5 : row << 4);
    case 64:
        return address ^ (row & 3) << 4;
    case 32:
        return address ^ (row & 1) << 4;
    default:
        return address;
    }
}

uint32_t hpt_matrix_address_k_major(const hpt_matrix_descriptor *matrix, uint32_t row, uint32_t k_byte) {
    uint32_t base = matrix->start + row / 8 * matrix->sbo;
    if (!matrix->swizzle) return base + row % 8 * 16 + k_byte / 16 * matrix->lbo;
    return swizzled(matrix, base + row % 8 * matrix->swizzle + (k_byte & ~15u));
}

uint32_t hpt_matrix_address_mn_major(const hpt_matrix_descriptor *matrix, uint32_t mn_byte, uint32_t k) {
    if (!matrix->swizzle) return matrix->start + mn_byte / 16 * matrix->sbo + k % 8 * 16 + k / 8 * matrix->lbo;
    uint32_t span = matrix->swizzle;
    return swizzled(matrix, matrix->start + mn_byte / span * matrix->lbo + (mn_byte % span & ~15u) + k % 8 * span +
                                k / 8 * matrix->sbo);
}

/* ---- instruction descriptor
 * ------------------------------------------------------------------------------------------- */
static hpt_status type_decode(hpt_mma_type *out, hpt_mma_kind kind, uint32_t code, const char *operand,
                              hpt_error *error) {
    static const char where[] = "instruction descriptor";
    switch (kind) {
    case HPT_MMA_F16:
        REFUSE_IF(code > 1, "Type code %u of %s is not f16 (0) or bf16 (1).", code, operand);
        *out = code ? HPT_MMA_T_BF16 : HPT_MMA_T_F16;
        return HPT_OK;
    case HPT_MMA_TF32:
        REFUSE_IF(code != 2, "Type code %u of %s is not tf32 (2).", code, operand);
        *out = HPT_MMA_T_TF32;
        return HPT_OK;
    case HPT_MMA_F8F6F4:
        if (code >= 2 && code <= 5)
            return hpt_error_set(error, HPT_UNSUPPORTED, where, "Type code %u of %s (under 8 bits) is not modelled.",
                                 code, operand);
        REFUSE_IF(code > 1, "Type code %u of %s does not exist.", code, operand);
        *out = code ? HPT_MMA_T_E5M2 : HPT_MMA_T_E4M3;
        return HPT_OK;
    }
    return HPT_INTERNAL;
}

static hpt_status extent_check(const hpt_mma_shape *shape, hpt_error *error) {
    static const char where[] = "instruction descriptor";
    uint32_t half = 64 * shape->cta_group, step = shape->cta_group == 1 && shape->m == 64 ? 8 : 16;
    REFUSE_IF(shape->m != half && shape->m != 2 * half, "M = %u; cta_group::%u has M = %u or %u.", shape->m,
              shape->cta_group, half, 2 * half);
    REFUSE_IF(!shape->n || shape->n > 256 || shape->n % step, "N = %u; must be a multiple of %u from %u to 256.",
              shape->n, step, step);
    return HPT_OK;
}

hpt_status hpt_mma_shape_decode(hpt_mma_shape *out, hpt_mma_kind kind, uint32_t cta_group, uint32_t bits,
                                hpt_error *error) {
    static const char where[] = "instruction descriptor";
    static const uint32_t element[] = {[HPT_MMA_F16] = 2, [HPT_MMA_TF32] = 4, [HPT_MMA_F8F6F4] = 1};
    hpt_status status = HPT_OK;
    uint32_t d = field(bits, 4, 2);
    *out = (hpt_mma_shape){.kind = kind, .cta_group = cta_group, .element = element[kind]};
    HPT_FAIL_IF(field(bits, 0, 3), HPT_UNSUPPORTED, where, "Sparse A (bits 0-2) is not modelled.");
    REFUSE_IF(field(bits, 3, 1), "Bit 3 (saturate) is for integers only.");
    REFUSE_IF(field(bits, 6, 1) || field(bits, 23, 1) || field(bits, 29, 1), "Bits 6, 23 and 29 must be zero.");
    REFUSE_IF(field(bits, 30, 2), "Bits 30-31 (maximal shift) are for .ws only.");
    REFUSE_IF(d > 1, "Type code %u of D is not f16 (0) or f32 (1).", d);
    HPT_TRY(type_decode(&out->a, kind, field(bits, 7, 3), "A", error));
    HPT_TRY(type_decode(&out->b, kind, field(bits, 10, 3), "B", error));
    REFUSE_IF(kind == HPT_MMA_F16 && out->a != out->b, "A and B of kind::f16 must have one type.");
    REFUSE_IF(!d && (kind == HPT_MMA_TF32 || out->a == HPT_MMA_T_BF16), "D must be f32 for these operand types.");
    out->d_f16 = !d;
    out->k = 32 / out->element;
    out->n = field(bits, 17, 6) << 3;
    out->m = field(bits, 24, 5) << 4;
    out->negate_a = field(bits, 13, 1), out->negate_b = field(bits, 14, 1);
    out->mn_major_a = field(bits, 15, 1), out->mn_major_b = field(bits, 16, 1);
    HPT_TRY(extent_check(out, error));
done:
    return status;
}

/* ---- data paths of D
 * --------------------------------------------------------------------------------------------------- */
void hpt_mma_place(const hpt_mma_shape *shape, uint32_t row, uint32_t column, uint32_t *cta, uint32_t *lane,
                   uint32_t *offset) {
    uint32_t rows = shape->m / shape->cta_group; /* of one CTA */
    *cta = row / rows, *lane = row % rows, *offset = column;
    if (rows == 128) return;
    if (shape->cta_group == 1) { /* 16 rows in each warp's quarter */
        *lane = *lane / 16 * 32 + *lane % 16;
    } else if (column >= shape->n / 2) { /* the right half of the columns in lanes 64 .. 127 */
        *lane += 64, *offset -= shape->n / 2;
    }
}

uint32_t hpt_mma_width(const hpt_mma_shape *shape) {
    return shape->cta_group == 2 && shape->m == 128 ? shape->n / 2 : shape->n;
}
