/* Rounding error of schemes in 16 bits, simulated on the CPU: forms rounded to f16, products in f32, every write
 * rounded as the kernels do (the addend to f16, then the sum in memory).
 *
 * usage: rounding N SEED SCHEME...   prints, per scheme, writes and relative Frobenius errors against double:
 * inputs of f16 and of bf16 values, outputs in f32 and in f16.
 */
#include <heptane/chain.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float to_f16(float x) { return (float)(_Float16)x; }

static float to_bf16(float x) { /* to nearest even */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits += 0x7FFF + (bits >> 16 & 1);
    bits &= 0xFFFF0000U;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double normal(uint64_t *state) {
    double u[2];
    for (int i = 0; i < 2; i++) {
        *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
        u[i] = ((double)(*state * 0x2545F4914F6CDD1DULL >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

static float *random_matrix(int64_t n, uint64_t *state, bool bf16) {
    float *x = malloc((size_t)(n * n) * sizeof *x);
    for (int64_t i = 0; i < n * n; i++) {
        float value = (float)normal(state);
        x[i] = bf16 ? to_f16(to_bf16(value)) : to_f16(value);
    }
    return x;
}

/* rows x columns blocks of size b x c */
static void make_form(float *out, const float *x, int64_t n, const hpt_scheme *s, hpt_factor factor, int32_t product,
                      int32_t columns, int64_t b, int64_t c) {
    hpt_terms row = hpt_scheme_terms(s, factor, product);
    for (int64_t i = 0; i < b; i++)
        for (int64_t j = 0; j < c; j++) {
            float sum = 0;
            for (size_t k = 0; k < row.count; k++)
                sum += (float)hpt_scheme_value_double(s, row.value[k]) *
                       x[(row.index[k] / columns * b + i) * n + row.index[k] % columns * c + j];
            out[i * c + j] = to_f16(sum);
        }
}

static void multiply_add(float *z, const float *x, const float *y, int64_t a, int64_t b, int64_t c, float scale) {
    for (int64_t i = 0; i < a; i++)
        for (int64_t k = 0; k < b; k++) {
            float factor = scale * x[i * b + k];
            for (int64_t j = 0; j < c; j++) z[i * c + j] += factor * y[k * c + j];
        }
}

static void write_out(float *z, int64_t n, const float *sum, const hpt_write *w, int32_t p, int64_t a, int64_t c,
                      bool f16) {
    float weight = (float)w->weight.value;
    for (int64_t i = 0; i < a; i++)
        for (int64_t j = 0; j < c; j++) {
            float *cell = &z[(w->c / p * a + i) * n + w->c % p * c + j], add = weight * sum[i * c + j];
            if (f16) add = to_f16(add);
            *cell = w->first ? add : *cell + add;
            if (f16) *cell = to_f16(*cell);
        }
}

static double error_of(const hpt_scheme *s, const hpt_schedule *plan, const float *x, const float *y,
                       const double *want, int64_t n, bool f16) {
    int64_t a = n / plan->n, b = n / plan->m, c = n / plan->p;
    float *z = calloc((size_t)(n * n), sizeof *z), *sum = calloc((size_t)(a * c * 8), sizeof *sum);
    float *form_x = malloc((size_t)(a * b) * sizeof *form_x), *form_y = malloc((size_t)(b * c) * sizeof *form_y);
    double error = 0, norm = 0;
    for (int32_t t = 0; t < plan->step_count; t++) {
        const hpt_step *step = &plan->steps[t];
        float *held = sum + step->accumulator * a * c;
        if (step->fresh) memset(held, 0, (size_t)(a * c) * sizeof *held);
        make_form(form_x, x, n, s, HPT_U, step->product, plan->m, a, b);
        make_form(form_y, y, n, s, HPT_V, step->product, plan->p, b, c);
        multiply_add(held, form_x, form_y, a, b, c, (float)step->scale.value);
        for (int32_t w = 0; w < step->write_count; w++) write_out(z, n, held, &step->writes[w], plan->p, a, c, f16);
    }
    for (int64_t i = 0; i < a * plan->n; i++)
        for (int64_t j = 0; j < c * plan->p; j++) {
            double off = z[i * n + j] - want[i * n + j];
            error += off * off, norm += want[i * n + j] * want[i * n + j];
        }
    free(z), free(sum), free(form_x), free(form_y);
    return sqrt(error / norm);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: rounding N SEED SCHEME...\n");
        return 2;
    }
    int64_t n = atoll(argv[1]);
    printf("%-36s %6s %6s  %-10s %-10s %-10s %-10s\n", "scheme", "writes", "plainA", "f16->f32", "f16->f16",
           "bf16->f32", "bf16->f16");
    for (int i = 3; i < argc; i++) {
        hpt_error error = {0};
        hpt_scheme *scheme = NULL;
        hpt_schedule *plan = NULL;
        hpt_chain_options options = {.accumulators = 1, .time_limit = 20};
        uint64_t state = strtoull(argv[2], NULL, 10) * 2 + 1;
        if (hpt_scheme_read(&scheme, argv[i], NULL, &error) != HPT_OK ||
            hpt_chain(&plan, scheme, &options, &error) != HPT_OK) {
            fprintf(stderr, "%s: %s\n", argv[i], error.message);
            return 3;
        }
        int plain = 0;
        for (int32_t r = 0; r < plan->rank; r++) plain += hpt_scheme_terms(scheme, HPT_U, r).count == 1;
        printf("%-36.36s %6d %6d ", argv[i], plan->writes, plain);
        for (int bf16 = 0; bf16 < 2; bf16++) {
            float *x = random_matrix(n, &state, bf16), *y = random_matrix(n, &state, bf16);
            double *want = calloc((size_t)(n * n), sizeof *want);
            for (int64_t r = 0; r < n; r++)
                for (int64_t k = 0; k < n; k++)
                    for (int64_t c = 0; c < n; c++) want[r * n + c] += (double)x[r * n + k] * (double)y[k * n + c];
            for (int f16 = 0; f16 < 2; f16++) printf(" %.3e ", error_of(scheme, plan, x, y, want, n, f16));
            free(x), free(y), free(want);
        }
        printf("\n");
        hpt_schedule_destroy(plan);
        hpt_scheme_destroy(scheme);
    }
    return 0;
}
