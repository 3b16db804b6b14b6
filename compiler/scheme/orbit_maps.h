/* orbit_maps.h - the search behind orbit.h, modulo 2^31 - 1. U' = G U H^-1, V' = H V K^-1, W' = G^-T W K^T. */
#ifndef HPT_ORBIT_MAPS_H
#define HPT_ORBIT_MAPS_H

#include "scheme/modular_map.h"

typedef struct hpt_maps { /* all maps of one space that fit the vectors */
    hpt_map *items;
    size_t count, capacity;
    bool complete; /* a frame was there: no other map can fit */
} hpt_maps;

typedef struct hpt_orbit_view hpt_orbit_view;
/* Residues, ranks and vectors of a scheme; HPT_UNSUPPORTED if it is too large or not over small rationals. */
hpt_status hpt_orbit_view_create(hpt_orbit_view **out, const hpt_scheme *scheme, hpt_error *error);
void hpt_orbit_view_destroy(hpt_orbit_view *view);
/* Do the ranks of (U_r, V_r, W_r) agree as multisets? */
bool hpt_orbit_ranks_agree(const hpt_orbit_view *a, const hpt_orbit_view *b);
/* Calls `found` for every (G, H, K) that maps a to b, until it returns false. *complete: whether that were all. */
hpt_status hpt_orbit_search(const hpt_orbit_view *a, const hpt_orbit_view *b, bool *complete,
                            bool (*found)(void *user, const hpt_map map[3]), void *user, hpt_error *error);

#endif
