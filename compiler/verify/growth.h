/* growth.h - how much a scheme amplifies rounding errors. Both are reports in floating point; NaN if the ring is not
 * real. */
#ifndef HPT_GROWTH_H
#define HPT_GROWTH_H

#include <heptane/scheme.h>

/* Largest over the outputs of sum_r |w_r| |u_r|_1 |v_r|_1: 12 for Strassen's scheme, 18 for Winograd's, m for the
 * textbook's. Source: G. Ballard, A. R. Benson, A. Druinsky, B. Lipshitz, O. Schwartz, Improving the numerical
 * stability of fast matrix multiplication (2016). */
double hpt_scheme_growth(const hpt_scheme *scheme);
/* sum_r |u_r|_2 |v_r|_2 |w_r|_2: 14.83 for Strassen's, 17.85 for Winograd's. Source: J.-G. Dumas, C. Pernet, A.
 * Sedoglavic, Strassen's algorithm is not optimally accurate (2024). */
double hpt_scheme_growth_frobenius(const hpt_scheme *scheme);

#endif
