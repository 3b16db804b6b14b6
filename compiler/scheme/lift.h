/* lift.h - Hensel lifting: from a scheme that holds modulo 2 to one over Z or Q. Promises:
 *   - what it returns is verified exactly over Z or Q, and equals the given scheme modulo 2.
 *   - HPT_NOT_FOUND if the linear system of some step has no solution (this scheme modulo 2 cannot be lifted along the
 *     corrections tried) or no rational numbers were recognised within the precision.
 * Method: d = the correction's bits solves J d = (T - [U,V,W]) / 2^k modulo 2 at step k, with one factorisation of the
 * Jacobian J for all steps; free bits stay 0, so the others converge to rational numbers. Source: Kauers and Moosbauer,
 * Flip graphs for matrix multiplication (2022), section on Hensel lifting.
 */
#ifndef HPT_LIFT_H
#define HPT_LIFT_H

#include "scheme/scheme.h"

hpt_status hpt_scheme_lift(hpt_scheme **out, const hpt_scheme *scheme, hpt_error *error);

#endif
