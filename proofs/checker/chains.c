#include "check.h"

/* The writes of all chains: after each product, the outputs where rho / scale differs from the next one's. */
long chains_count_writes(const certificate *c, const scheme *s) {
    long writes = 0;
    mpq_t here, there;
    mpq_inits(here, there, NULL);
    for (int chain = 0; chain < c->chains; chain++)
        for (int t = c->first[chain]; t < c->first[chain + 1]; t++)
            for (int e = 0; e < s->entries[2]; e++) {
                mpq_div(here, scheme_row(s, 2, c->product[t])[e], c->scale[t]);
                mpq_set_ui(there, 0, 1);
                if (t + 1 < c->first[chain + 1])
                    mpq_div(there, scheme_row(s, 2, c->product[t + 1])[e], c->scale[t + 1]);
                writes += !mpq_equal(here, there);
            }
    mpq_clears(here, there, NULL);
    return writes;
}
