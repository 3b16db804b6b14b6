#include "roofline.h"
#include <math.h>

/* One kernel, or one pass over memory. */
static double phase(const hpt_roof_gpu *g, double operations, double read, double written) {
    double seconds = fmax(operations / g->operations, read / g->bytes);
    if (!(g->watts > 0)) return seconds;
    double joules = 1e-12 * (operations * g->pj_operation + read * g->pj_byte + written * g->pj_written);
    return fmax(seconds, joules / g->watts);
}

double hpt_roof_ratio(const hpt_roof_gpu *g, const hpt_roof_scheme *s, hpt_roof_case forms, double size) {
    double operand = 2 * size * size, operations = 2 * size * size * size;
    double x = s->rank / (s->n * s->m), y = s->rank / (s->m * s->p);
    double textbook = phase(g, operations, 2 * operand, operand), making = 0;
    if (forms == HPT_ROOF_ALONE) making = (2 + x + y) * operand;
    if (forms == HPT_ROOF_PREPARED) making = (1 + x) * operand;
    double scheme = phase(g, 0, making, 0) + phase(g, operations * s->rank / (s->n * s->m * s->p), (x + y) * operand,
                                                   operand * s->writes / (s->n * s->p));
    return textbook / scheme;
}

double hpt_roof_cutoff(const hpt_roof_gpu *g, const hpt_roof_scheme *s, hpt_roof_case forms) {
    static const double largest = 1e12, step = 1.05, faster = 1 + 1e-12; /* equal but for rounding is not faster */
    enum { HALVINGS = 60 };
    double high = largest, low = largest;
    while (low > 1 && hpt_roof_ratio(g, s, forms, low) > faster) high = low, low /= step;
    if (low == largest) return INFINITY;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = sqrt(low * high);
        if (hpt_roof_ratio(g, s, forms, middle) > faster)
            high = middle;
        else
            low = middle;
    }
    return high;
}

hpt_roof_gpu hpt_roof_unlimited(const hpt_roof_gpu *g) {
    hpt_roof_gpu copy = *g;
    copy.watts = 0;
    return copy;
}
