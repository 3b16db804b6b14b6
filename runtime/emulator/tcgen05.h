/* tcgen05.h - the fifth-generation tensor core of Blackwell (sm_100a, sm_100f, sm_103a), as pure functions. Promises:
 *   - tensor memory is 128 lanes x 512 columns of 32 bits per CTA, with a shadow: allocated, written, by whom, read by
 * whom.
 *   - descriptors are decoded bit by bit; a field that hardware would not accept is an error that names it.
 *   - nothing here knows threads, time or PTX text: tcgen05_unit.c gives every operation its place in time.
 * What is not modelled is refused with HPT_UNSUPPORTED, never guessed: block scaling, sparsity, 4- and 6-bit types,
 * .ws.
 *
 * Source: PTX ISA 9.x, section 9.7.16 (tcgen05): shapes .2, matrix descriptors .3 and .4.1, instruction descriptor
 * .4.2, tensor memory .1, data paths of D .10.5.
 */
#ifndef HPT_TCGEN05_H
#define HPT_TCGEN05_H

#include "core.h"

enum { HPT_TMEM_LANES = 128, HPT_TMEM_COLUMNS = 512, HPT_TMEM_QUARTERS = 4, HPT_TMEM_GRAIN = 32 };

/* ---- tensor_memory.c ----------------------------------------------------------------------------------------------
 */
/* Who touched a column of one 32-lane quarter last: a stream of operations of some warp (a
 * component of the cluster's vector clocks, see tcgen05_unit.h) and its operation number.
 */
typedef struct hpt_tmem_touch {
    uint32_t agent, operation; /* operation 0: nobody */
} hpt_tmem_touch;

typedef struct hpt_tmem {
    uint32_t cell[HPT_TMEM_LANES][HPT_TMEM_COLUMNS];
    bool written[HPT_TMEM_LANES][HPT_TMEM_COLUMNS];
    hpt_tmem_touch writer[HPT_TMEM_QUARTERS][HPT_TMEM_COLUMNS], reader[HPT_TMEM_QUARTERS][HPT_TMEM_COLUMNS];
    uint16_t
        owner[HPT_TMEM_COLUMNS / HPT_TMEM_GRAIN]; /* columns of the allocation that starts here; 0xFFFF inside one */
    bool permit_gone;                             /* relinquish_alloc_permit was executed */
} hpt_tmem;

/* First fit. False if there is no room now: the caller waits. `columns` must have passed hpt_tmem_columns_check. */
bool hpt_tmem_alloc(hpt_tmem *tmem, uint32_t columns, uint32_t *base);
hpt_status hpt_tmem_columns_check(uint32_t columns, hpt_error *error);
/* Frees exactly one earlier allocation and forgets its contents. */
hpt_status hpt_tmem_dealloc(hpt_tmem *tmem, uint32_t base, uint32_t columns, hpt_error *error);
uint32_t hpt_tmem_allocated(const hpt_tmem *tmem); /* columns */
/* Every column of [column, column + count) lies inside an allocation. */
hpt_status hpt_tmem_range_check(const hpt_tmem *tmem, uint32_t column, uint32_t count, hpt_error *error);

typedef enum hpt_tmem_shape { HPT_TMEM_32X32B, HPT_TMEM_16X64B, HPT_TMEM_16X128B, HPT_TMEM_16X256B } hpt_tmem_shape;
typedef struct hpt_tmem_access { /* one tcgen05.ld or .st of a warp */
    hpt_tmem_shape shape;
    uint32_t repeat; /* .xN */
    bool half; /* .pack::16b or .unpack::16b (32x32b only): a register holds two neighbouring columns' low halves */
    uint32_t address; /* lane << 16 | column */
} hpt_tmem_access;
uint32_t hpt_tmem_registers(const hpt_tmem_access *access); /* per thread */
uint32_t hpt_tmem_width(const hpt_tmem_access *access);     /* columns */
/* `quarter` = the warp's rank in its warpgroup: it reaches lanes 32 quarter .. 32 quarter + 31 only. */
hpt_status hpt_tmem_access_check(const hpt_tmem *tmem, const hpt_tmem_access *access, uint32_t quarter,
                                 hpt_error *error);
/* Registers are [thread][register], hpt_tmem_registers of each. Reading what was never written is an error. */
hpt_status hpt_tmem_load(const hpt_tmem *tmem, const hpt_tmem_access *access, uint32_t *registers, hpt_error *error);
void hpt_tmem_store(hpt_tmem *tmem, const hpt_tmem_access *access, const uint32_t *registers);

/* ---- tcgen05_descriptor.c ------------------------------------------------------------------------------------------
 */
typedef struct hpt_matrix_descriptor { /* a matrix in shared memory */
    uint32_t start, lbo, sbo;          /* bytes */
    uint32_t base_offset;
    uint32_t swizzle; /* bytes: 0, 32, 64, 128 */
    bool wide_atom;   /* 128-byte swizzle of 32-byte pieces */
} hpt_matrix_descriptor;
hpt_status hpt_matrix_descriptor_decode(hpt_matrix_descriptor *out, uint64_t bits, hpt_error *error);
/* Address of the 16-byte unit that holds element (row, k) (byte offsets `row_byte`, `k_byte` along the contiguous
 * dimension; the other one counts elements). */
uint32_t hpt_matrix_address_k_major(const hpt_matrix_descriptor *matrix, uint32_t row, uint32_t k_byte);
uint32_t hpt_matrix_address_mn_major(const hpt_matrix_descriptor *matrix, uint32_t mn_byte, uint32_t k);

typedef enum hpt_mma_kind { HPT_MMA_F16, HPT_MMA_TF32, HPT_MMA_F8F6F4 } hpt_mma_kind;
typedef enum hpt_mma_type {
    HPT_MMA_T_F16,
    HPT_MMA_T_BF16,
    HPT_MMA_T_TF32,
    HPT_MMA_T_E4M3,
    HPT_MMA_T_E5M2
} hpt_mma_type;
typedef struct hpt_mma_shape { /* the instruction descriptor, decoded */
    hpt_mma_kind kind;
    uint32_t cta_group; /* 1 or 2 */
    uint32_t m, n, k;
    hpt_mma_type a, b;
    uint32_t element; /* bytes of one element of A and B */
    bool d_f16;
    bool negate_a, negate_b;
    bool mn_major_a, mn_major_b;
} hpt_mma_shape;
hpt_status hpt_mma_shape_decode(hpt_mma_shape *out, hpt_mma_kind kind, uint32_t cta_group, uint32_t bits,
                                hpt_error *error);
/* Where D's (row, column) lies: CTA of the pair, lane, column offset. */
void hpt_mma_place(const hpt_mma_shape *shape, uint32_t row, uint32_t column, uint32_t *cta, uint32_t *lane,
                   uint32_t *offset);
uint32_t hpt_mma_width(const hpt_mma_shape *shape); /* columns of tensor memory that D takes */

/* ---- tcgen05_mma.c --------------------------------------------------------------------------------------------------
 */
/* Gives 16 bytes of a CTA's shared memory, or an error (out of range, never written, still in flight). */
typedef hpt_status (*hpt_mma_fetch)(void *user, uint32_t cta, uint32_t address, uint8_t out[16], hpt_error *error);
typedef struct hpt_mma {
    hpt_mma_shape shape;
    uint32_t d; /* tensor-memory address */
    bool a_in_tmem;
    uint32_t a_tmem;
    uint64_t a, b;      /* matrix descriptors, the same in both CTAs of a pair */
    bool accumulate;    /* enable-input-d */
    uint32_t scale;     /* scale-input-d: D * 2^-scale before the product is added */
    uint32_t first_cta; /* which CTA of the pair cta_group::1 runs in; 0 for cta_group::2 */
    uint32_t skip[8];   /* disable-output-lane, one bit a lane; words 4 .. 7 are the second CTA's */
} hpt_mma;
/* D = A B (+ D 2^-scale). Products are exact, summed in f32 over k, then added to D. */
hpt_status hpt_mma_execute(const hpt_mma *mma, hpt_tmem *const tmem[2], hpt_mma_fetch fetch, void *user,
                           hpt_error *error);
float hpt_mma_value(hpt_mma_type type, uint32_t bits);

#endif
