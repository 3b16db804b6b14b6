/* The images of Strassen's scheme under X -> L X M^-1, Y -> M Y N^-1 that can be ternary. Its rank-one factors span the
 * lines of (1,0), (0,1), (1,-1) on L's, M's and N's sides (and their annihilators on the other), so each of L^T, M^T,
 * N^T must send this triple to three different ternary lines; there are four of those, hence 24 candidates per side. */
#include "exhaust.h"
#include <stdlib.h>

typedef struct matrix2 {
    int a, b, c, d;
} matrix2;

static matrix2 multiply(matrix2 x, matrix2 y) {
    return (matrix2){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
}
static matrix2 transpose(matrix2 x) { return (matrix2){x.a, x.c, x.b, x.d}; }
static matrix2 adjugate(matrix2 x) { return (matrix2){x.d, -x.b, -x.c, x.a}; } /* the inverse up to a factor */

/* Integer matrices, up to a factor, that send e1, e2, e1 - e2 to multiples of three different ternary lines. */
static int side_maps(matrix2 *out) {
    static const int line[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    int count = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++) {
                if (i == j || i == k || j == k) continue;
                /* s line_i - t line_j = line_k (up to a factor): Cramer */
                int s = line[k][0] * line[j][1] - line[k][1] * line[j][0];
                int t = line[k][0] * line[i][1] - line[k][1] * line[i][0];
                out[count++] = (matrix2){s * line[i][0], t * line[j][0], s * line[i][1], t * line[j][1]};
            }
    return count;
}

/* Divides by the greatest common divisor; false if the result is not ternary. */
static bool to_vector(hpt_ternary_vector *out, matrix2 x) {
    int entry[4] = {x.a, x.b, x.c, x.d}, largest = 0;
    for (int e = 0; e < 4; e++)
        if (abs(entry[e]) > largest) largest = abs(entry[e]);
    *out = (hpt_ternary_vector){0, 0};
    for (int e = 0; e < 4; e++) {
        if (entry[e] != 0 && abs(entry[e]) != largest) return false;
        if (entry[e] > 0) out->plus |= (uint64_t)1 << e;
        if (entry[e] < 0) out->minus |= (uint64_t)1 << e;
    }
    return true;
}

/* The factors are known up to signs; some choice of W's signs must give a scheme, as scaling does the rest. */
static bool settle_signs(hpt_ternary_product *products, const hpt_ternary_shape *shape) {
    for (int signs = 0; signs < 128; signs++) {
        hpt_ternary_product trial[7];
        for (int r = 0; r < 7; r++) {
            trial[r] = products[r];
            if (signs >> r & 1) trial[r].factor[2] = hpt_ternary_negate(trial[r].factor[2]);
        }
        if (!hpt_ternary_check(trial, shape)) continue;
        for (int r = 0; r < 7; r++) products[r] = trial[r];
        return true;
    }
    return false;
}

hpt_status hpt_exhaust_orbit(hpt_ternary_list *out, hpt_error *error) {
    static const matrix2 strassen[7][3] = {
        {{1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1}},  {{0, 0, 1, 1}, {1, 0, 0, 0}, {0, 0, 1, -1}},
        {{1, 0, 0, 0}, {0, 1, 0, -1}, {0, 1, 0, 1}}, {{0, 0, 0, 1}, {-1, 0, 1, 0}, {1, 0, 1, 0}},
        {{1, 1, 0, 0}, {0, 0, 0, 1}, {-1, 1, 0, 0}}, {{-1, 0, 1, 0}, {1, 1, 0, 0}, {0, 0, 0, 1}},
        {{0, 1, 0, -1}, {0, 0, 1, 1}, {1, 0, 0, 0}}};
    const hpt_ternary_shape shape = {2, 2, 2, 7, false};
    matrix2 maps[24];
    int count = side_maps(maps);
    out->rank = 7;
    for (int all = 0; all < count * count * count; all++) {
        matrix2 l = maps[all % count], m = maps[all / count % count], n = maps[all / count / count]; /* transposed */
        hpt_ternary_product products[7];
        bool ternary = true;
        for (int r = 0; r < 7 && ternary; r++)
            ternary = to_vector(&products[r].factor[0], multiply(multiply(l, strassen[r][0]), adjugate(m))) &&
                      to_vector(&products[r].factor[1], multiply(multiply(m, strassen[r][1]), adjugate(n))) &&
                      to_vector(&products[r].factor[2],
                                multiply(multiply(adjugate(transpose(l)), strassen[r][2]), transpose(n)));
        if (!ternary || !settle_signs(products, &shape)) continue;
        hpt_status status = hpt_ternary_list_add(out, products, error);
        if (status != HPT_OK) return status;
    }
    hpt_ternary_list_set(out);
    return HPT_OK;
}
