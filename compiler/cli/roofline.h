/* roofline.h - the model behind `heptane roofline`.
 *
 * N x N matrices of two-byte numbers, P operations/s, B bytes/s, an n x m x p scheme of rank R (the paper, section 2.2,
 * for any shape). The textbook algorithm takes max(2 N^3 / P, 4 N^2 / B). The scheme first makes its forms, which reads
 * X and Y and writes R/(nm) and R/(mp) times as much, at B; then it takes max(2 R N^3 / (nmp P), forms' bytes / B).
 * With Y's forms prepared only X's are made; with X's fused into the operation before, none are.
 *
 * Power is a third ceiling: a phase of F operations that reads D bytes and writes O takes at least
 * (F e_operation + D e_byte + O e_written) / W at W watts, O being 2 N^2 times 1 for the textbook algorithm and
 * writes/(np) for the scheme. The form is that of J. W. Choi, D. Bedard, R. Fowler, R. Vuduc, A roofline model of
 * energy (2013); the energies are fitted to measured times and watts and hold what the chip draws when idle too
 * (gpus.def).
 */
#ifndef HPT_CLI_ROOFLINE_H
#define HPT_CLI_ROOFLINE_H

#include "core.h"

typedef struct hpt_roof_gpu {
    char name[48];
    int year;
    double operations, bytes;                 /* per second */
    double watts;                             /* 0: no power ceiling */
    double pj_operation, pj_byte, pj_written; /* picojoules: per operation, byte read, byte of output written */
} hpt_roof_gpu;

typedef struct hpt_roof_scheme {
    char name[64];
    double n, m, p, rank, writes;
} hpt_roof_scheme;

typedef enum hpt_roof_case { HPT_ROOF_ALONE, HPT_ROOF_PREPARED, HPT_ROOF_FUSED, HPT_ROOF_CASES } hpt_roof_case;

/* Time of the textbook algorithm over the scheme's at N x N x N. */
double hpt_roof_ratio(const hpt_roof_gpu *gpu, const hpt_roof_scheme *scheme, hpt_roof_case forms, double size);
/* The size from which on the scheme is faster; INFINITY if it never is. */
double hpt_roof_cutoff(const hpt_roof_gpu *gpu, const hpt_roof_scheme *scheme, hpt_roof_case forms);
/* The same GPU without its power ceiling. */
hpt_roof_gpu hpt_roof_unlimited(const hpt_roof_gpu *gpu);

/* Bars of all cut-offs, one group per GPU and one more where it has a power ceiling. */
hpt_status hpt_roof_draw(const char *path, const hpt_roof_gpu *gpus, size_t count, const hpt_roof_scheme *scheme,
                         hpt_error *error);

#endif
