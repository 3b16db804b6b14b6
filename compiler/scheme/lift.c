#include "scheme/lift.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60 };
static const size_t MAX_WORDS = (size_t)1 << 27; /* of the system: one gigabyte */

/* All coefficients, dense: factor f, product r, entry e at offset[f] + r * entries[f] + e. */
typedef struct lifting {
    const hpt_scheme *scheme;
    int64_t entries[3], offset[3], unknowns, equations;
    uint64_t *value;  /* modulo 2^64 */
    uint64_t *system; /* equations x words: J; after factorise also the row operations, see there */
    size_t words;
    int64_t *pivot_row, *pivot_column; /* in order of elimination */
    int64_t *order;                    /* of each row: its pivot's number, or the rank if it has none */
    int64_t rank;
    uint8_t *right, *bits; /* right-hand side, solution */
} lifting;

static uint64_t *row_of(const lifting *l, int64_t equation) { return l->system + (size_t)equation * l->words; }
static bool bit(const uint64_t *row, int64_t i) { return row[i / 64] >> (i % 64) & 1; }

static uint64_t at(const lifting *l, int f, int32_t r, int64_t e) {
    return l->value[l->offset[f] + r * l->entries[f] + e];
}

/* The equation of entries e: the bit of unknown u_ra is v_rb w_rc, and so on. */
static void fill_row(lifting *l, uint64_t *row, const int64_t e[3]) {
    for (int32_t r = 0; r < l->scheme->rank; r++) {
        const uint64_t x[3] = {at(l, 0, r, e[0]) & 1, at(l, 1, r, e[1]) & 1, at(l, 2, r, e[2]) & 1};
        for (int f = 0; f < 3; f++) {
            if (!(x[(f + 1) % 3] & x[(f + 2) % 3])) continue;
            int64_t unknown = l->offset[f] + r * l->entries[f] + e[f];
            row[unknown / 64] ^= (uint64_t)1 << (unknown % 64);
        }
    }
}

static void fill_system(lifting *l) {
    int64_t equation = 0;
    for (int64_t a = 0; a < l->entries[0]; a++)
        for (int64_t b = 0; b < l->entries[1]; b++)
            for (int64_t c = 0; c < l->entries[2]; c++, equation++)
                fill_row(l, row_of(l, equation), (const int64_t[3]){a, b, c});
}

/* Forward elimination. A pivot's row is added, behind the pivot's column only, to the rows that are no pivots yet and
 * have a bit in that column; the bit stays as the record of this operation, to be repeated on every right-hand side. */
static void factorise(lifting *l) {
    for (int64_t i = 0; i < l->equations; i++) l->order[i] = INT64_MAX;
    for (int64_t column = 0; column < l->unknowns; column++) {
        int64_t pivot = 0;
        while (pivot < l->equations && (l->order[pivot] != INT64_MAX || !bit(row_of(l, pivot), column))) pivot++;
        if (pivot == l->equations) continue;
        l->order[pivot] = l->rank;
        l->pivot_row[l->rank] = pivot;
        l->pivot_column[l->rank++] = column;
        const uint64_t *from = row_of(l, pivot);
        size_t first = (size_t)column / 64;
        uint64_t behind = column % 64 == 63 ? 0 : ~(uint64_t)0 << (column % 64 + 1);
        for (int64_t i = 0; i < l->equations; i++) {
            uint64_t *to = row_of(l, i);
            if (l->order[i] != INT64_MAX || !bit(to, column)) continue;
            to[first] ^= from[first] & behind;
            for (size_t w = first + 1; w < l->words; w++) to[w] ^= from[w];
        }
    }
}

/* J bits = right modulo 2, free bits 0; false if there is no solution. `right` is used up. */
static bool solve(lifting *l) {
    for (int64_t k = 0; k < l->rank; k++) {
        if (!l->right[l->pivot_row[k]]) continue;
        for (int64_t i = 0; i < l->equations; i++)
            if (l->order[i] > k && bit(row_of(l, i), l->pivot_column[k])) l->right[i] ^= 1;
    }
    for (int64_t i = 0; i < l->equations; i++)
        if (l->order[i] == INT64_MAX && l->right[i]) return false;
    memset(l->bits, 0, (size_t)l->unknowns);
    for (int64_t k = l->rank - 1; k >= 0; k--) {
        const uint64_t *row = row_of(l, l->pivot_row[k]);
        uint8_t sum = l->right[l->pivot_row[k]];
        for (int64_t j = k + 1; j < l->rank; j++)
            sum ^= (uint8_t)(l->bits[l->pivot_column[j]] & bit(row, l->pivot_column[j]));
        l->bits[l->pivot_column[k]] = sum;
    }
    return true;
}

/* right := ((T - [U,V,W]) / 2^k) modulo 2, the difference being divisible. */
static void residual(lifting *l, int k) {
    const hpt_scheme *s = l->scheme;
    int64_t equation = 0;
    for (int64_t a = 0; a < l->entries[0]; a++)
        for (int64_t b = 0; b < l->entries[1]; b++)
            for (int64_t c = 0; c < l->entries[2]; c++, equation++) {
                bool one = a % s->m == b / s->p && a / s->m == c / s->p && b % s->p == c % s->p;
                uint64_t sum = one;
                for (int32_t r = 0; r < s->rank; r++) sum -= at(l, 0, r, a) * at(l, 1, r, b) * at(l, 2, r, c);
                l->right[equation] = (uint8_t)(sum >> k & 1);
            }
}

/* The rational numbers that the values modulo 2^k look like, if they make a correct scheme. */
static hpt_status recognise(hpt_scheme **out, const lifting *l, int k, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_scheme *s = l->scheme;
    hpt_builder *builder = NULL;
    hpt_verification verdict;
    hpt_value value;
    fmpz_t residue, modulus;
    fmpq_t number;
    bool all = true;
    fmpz_init(residue);
    fmpz_init(modulus);
    fmpq_init(number);
    hpt_value_init(&value);
    fmpz_one_2exp(modulus, (ulong)k);
    HPT_TRY(hpt_builder_create(&builder, s->n, s->m, s->p, s->rank, s->name, error));
    hpt_builder_set_text(builder, s->name, "memory", s->source, NULL);
    for (int f = 0; f < 3 && all; f++)
        for (int32_t r = 0; r < s->rank && all; r++)
            for (int64_t e = 0; e < l->entries[f] && all; e++) {
                fmpz_set_ui(residue, at(l, f, r, e));
                fmpz_mod(residue, residue, modulus);
                all = fmpq_reconstruct_fmpz(number, residue, modulus);
                hpt_value_set_fmpq(&value, number);
                if (all)
                    HPT_TRY(
                        hpt_builder_term(builder, (hpt_factor)f, r, e, hpt_builder_value(builder, &value), "", error));
            }
    if (!all) goto done;
    HPT_TRY(hpt_builder_finish(out, builder, s->name, error));
    HPT_TRY(hpt_scheme_verify(&verdict, *out, error));
    if (verdict.verdict != HPT_VERDICT_PROVED) {
        hpt_scheme_destroy(*out);
        *out = NULL;
    }
done:
    hpt_builder_destroy(builder);
    hpt_value_clear(&value);
    fmpq_clear(number);
    fmpz_clear(modulus);
    fmpz_clear(residue);
    return status;
}

static hpt_status prepare(lifting *l, const hpt_scheme *s, hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t cells;
    l->scheme = s;
    l->equations = 1;
    for (int f = 0; f < 3; f++) {
        l->entries[f] = hpt_scheme_entries(s, (hpt_factor)f);
        l->offset[f] = l->unknowns;
        l->unknowns += l->entries[f] * s->rank;
        HPT_FAIL_IF(!hpt_mul_i64(&l->equations, l->equations, l->entries[f]), HPT_TOO_LARGE, s->name,
                    "The scheme is too large to be lifted.");
    }
    l->words = (size_t)(l->unknowns + 63) / 64;
    HPT_FAIL_IF(!hpt_mul_size(&cells, (size_t)l->equations, l->words) || cells > MAX_WORDS, HPT_TOO_LARGE, s->name,
                "The linear system of the lifting, %lld equations in %lld unknowns, is over the limit.",
                (long long)l->equations, (long long)l->unknowns);
    l->value = calloc((size_t)l->unknowns, sizeof *l->value);
    l->system = calloc(cells, sizeof *l->system);
    l->pivot_row = calloc((size_t)l->unknowns, sizeof *l->pivot_row);
    l->pivot_column = calloc((size_t)l->unknowns, sizeof *l->pivot_column);
    l->order = calloc((size_t)l->equations, sizeof *l->order);
    l->right = calloc((size_t)l->equations, 1);
    l->bits = calloc((size_t)l->unknowns, 1);
    HPT_FAIL_IF(!l->value || !l->system || !l->pivot_row || !l->pivot_column || !l->order || !l->right || !l->bits,
                HPT_NO_MEMORY, "", "Out of memory.");
    for (int f = 0; f < 3; f++)
        for (int32_t r = 0; r < s->rank; r++) {
            hpt_terms row = hpt_scheme_terms(s, (hpt_factor)f, r);
            for (size_t k = 0; k < row.count; k++) l->value[l->offset[f] + r * l->entries[f] + row.index[k]] = 1;
        }
done:
    return status;
}

static void clear(lifting *l) {
    free(l->value);
    free(l->system);
    free(l->pivot_row);
    free(l->pivot_column);
    free(l->order);
    free(l->right);
    free(l->bits);
}

static bool try_now(int k) {
    return k == 3 || k == 6 || k == 10 || k == 16 || k == 24 || k == 36 || k == 48 || k == STEPS + 1;
}

hpt_status hpt_scheme_lift(hpt_scheme **out, const hpt_scheme *scheme, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_scheme *s = NULL;
    hpt_verification verdict;
    lifting l = {0};
    *out = NULL;
    HPT_TRY(hpt_scheme_over(&s, scheme, "GF(2)", error));
    HPT_TRY(hpt_scheme_verify(&verdict, s, error));
    HPT_FAIL_IF(verdict.verdict != HPT_VERDICT_PROVED, HPT_REFUTED, scheme->name, "The scheme does not hold modulo 2.");
    HPT_TRY(prepare(&l, s, error));
    fill_system(&l);
    factorise(&l);
    for (int k = 1; k <= STEPS && !*out; k++) {
        residual(&l, k);
        HPT_FAIL_IF(!solve(&l), HPT_NOT_FOUND, scheme->name,
                    "The scheme cannot be lifted from modulo 2^%d to modulo 2^%d.", k, k + 1);
        for (int64_t i = 0; i < l.unknowns; i++) l.value[i] += (uint64_t)l.bits[i] << k;
        if (try_now(k + 1)) HPT_TRY(recognise(out, &l, k + 1, error));
    }
    HPT_FAIL_IF(!*out, HPT_NOT_FOUND, scheme->name,
                "Lifted to modulo 2^%d, the coefficients do not look like rational numbers.", STEPS + 1);
done:
    clear(&l);
    hpt_scheme_destroy(s);
    return status;
}
