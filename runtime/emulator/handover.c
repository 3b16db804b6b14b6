/* handover.c - what clusters learn of each other through global memory: vector clocks beyond the cluster. Promises:
 *   - a view is what a warp knows of clusters: for each of them a copy of a clock. Views never change; they have
 * numbers, 0 for nothing, and a clock carries one in place of component 0, so that barriers inside of a cluster hand it
 * on.
 *   - a release publishes a view at an address, an acquire that reads there takes it in. A fence makes releases of
 * relaxed writes behind it and acquires of relaxed reads before it (PTX ISA, memory consistency model: release and
 * acquire patterns). Scopes that end inside of the cluster publish nothing.
 *   - a warp is one thread, as in shadow.c. What is not modelled errs towards knowing: weak stores to a flag leave its
 *     view, and after LIMIT views everything counts as known.
 */
#include "handover.h"
#include "device.h"
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 16 };

typedef struct entry {
    uint32_t cluster;
    const hpt_emu_time *clock;
} entry;

typedef struct view {
    uint32_t count;
    entry entry[]; /* by cluster, rising */
} view;

typedef struct place {
    uint64_t address; /* 0: free */
    uint32_t view;
} place;

typedef struct owned { /* every allocation, to be freed at the end */
    struct owned *next;
} owned;

typedef struct views {
    view **view; /* [0] is not used */
    uint32_t count, capacity;
    place *place; /* hash table */
    uint32_t places, place_capacity;
    uint32_t joined[3]; /* the last two numbers that were joined, and the result: spinning warps ask again and again */
    owned *owned;
    bool exhausted; /* LIMIT, or memory */
} views;

static void *own(views *h, size_t bytes) {
    owned *o = calloc(1, sizeof *o + bytes);
    if (!o) {
        h->exhausted = true;
        return NULL;
    }
    o->next = h->owned;
    h->owned = o;
    return o + 1;
}

hpt_emu_handovers *hpt_emu_handovers_create(void) {
    hpt_emu_handovers *h = calloc(1, sizeof *h);
    if (h) h->views = calloc(1, sizeof *h->views);
    if (h && h->views) {
        h->views->count = 1;
        return h;
    }
    free(h);
    return NULL;
}

void hpt_emu_handovers_destroy(hpt_emu_handovers *h) {
    if (!h) return;
    for (owned *o = h->views->owned, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    free(h->views->view);
    free(h->views->place);
    free(h->views);
    free(h->fences);
    free(h);
}

/* A new number for a view, 0 if there is none left. */
static uint32_t add(views *h, view *v) {
    if (h->count == LIMIT) h->exhausted = true;
    if (h->exhausted || !v) return 0;
    if (h->count >= h->capacity) {
        const uint32_t more = h->capacity ? 2 * h->capacity : 64;
        view **bigger = realloc(h->view, more * sizeof(*bigger));
        if (!bigger) {
            h->exhausted = true;
            return 0;
        }
        h->view = bigger;
        h->capacity = more;
    }
    h->view[h->count] = v;
    return h->count++;
}

/* The later of two clocks, or a new one that is as late as both. */
static const hpt_emu_time *later(views *h, const hpt_emu_time *a, const hpt_emu_time *b, uint32_t size) {
    bool a_covers = true, b_covers = true;
    for (uint32_t k = 1; k < size; k++) {
        a_covers &= a[k] >= b[k];
        b_covers &= b[k] >= a[k];
    }
    if (a_covers) return a;
    if (b_covers) return b;
    hpt_emu_time *both = own(h, size * sizeof *both);
    if (!both) return a;
    for (uint32_t k = 1; k < size; k++) both[k] = a[k] > b[k] ? a[k] : b[k];
    return both;
}

uint32_t hpt_emu_view_join(hpt_emu_cluster *cluster, uint32_t a, uint32_t b) {
    if (a == b || b == 0) return a;
    if (a == 0) return b;
    views *h = cluster->run->handovers->views;
    if (h->joined[0] == a && h->joined[1] == b) return h->joined[2];
    const view *x = h->view[a], *y = h->view[b];
    view *v = own(h, sizeof *v + (x->count + y->count) * sizeof *v->entry);
    if (!v) return a;
    bool same_x = true, same_y = true;
    for (uint32_t i = 0, j = 0; i < x->count || j < y->count;) {
        const entry *p = i < x->count ? &x->entry[i] : NULL, *q = j < y->count ? &y->entry[j] : NULL;
        const bool takes_p = p && (!q || p->cluster <= q->cluster), takes_q = q && (!p || q->cluster <= p->cluster);
        entry *e = &v->entry[v->count++];
        *e = takes_p ? *p : *q;
        if (takes_p && takes_q) e->clock = later(h, p->clock, q->clock, cluster->clock_size);
        same_x &= takes_p && e->clock == p->clock;
        same_y &= takes_q && e->clock == q->clock;
        i += takes_p;
        j += takes_q;
    }
    const uint32_t number = same_x ? a : same_y ? b : add(h, v);
    h->joined[0] = a, h->joined[1] = b, h->joined[2] = number;
    return number;
}

bool hpt_emu_view_knows(const hpt_emu_run *run, uint32_t number, uint32_t cluster, uint16_t component,
                        hpt_emu_time time) {
    const views *h = run->handovers->views;
    if (h->exhausted) return true;
    if (!number) return false;
    const view *v = h->view[number];
    for (uint32_t i = 0; i < v->count; i++)
        if (v->entry[i].cluster == cluster) return v->entry[i].clock[component] >= time;
    return false;
}

/* What the warp knows now, its own cluster included; what it does from now on is not part of it. */
static uint32_t snapshot(hpt_emu_warp *w) {
    hpt_emu_cluster *k = w->cta->cluster;
    views *h = k->run->handovers->views;
    if (h->exhausted) return 0;
    hpt_emu_time *clock = own(h, k->clock_size * sizeof *clock);
    view *v = own(h, sizeof *v + sizeof *v->entry);
    if (!clock || !v) return 0;
    memcpy(clock, w->clock, k->clock_size * sizeof *clock);
    w->clock[hpt_emu_component_warp(w)]++;
    v->count = 1;
    v->entry[0] = (entry){(uint32_t)k->linear, clock};
    const uint32_t number = add(h, v);
    return number ? hpt_emu_view_join(k, w->clock[0], number) : 0;
}

static void acquire(hpt_emu_warp *w, uint32_t number) {
    hpt_emu_cluster *k = w->cta->cluster;
    if (!number || number == w->clock[0]) return;
    const view *v = k->run->handovers->views->view[number];
    w->clock[0] = hpt_emu_view_join(k, w->clock[0], number);
    for (uint32_t i = 0; i < v->count; i++) {
        const uint16_t grid = hpt_emu_component_grid(k);
        if (v->entry[i].clock[grid]) w->clock[grid] = 1;
        for (uint32_t c = 1; v->entry[i].cluster == k->linear && c < k->clock_size; c++)
            if (w->clock[c] < v->entry[i].clock[c]) w->clock[c] = v->entry[i].clock[c];
    }
}

/* ---- addresses ---- */
static uint32_t slot_of(const views *h, uint64_t address) {
    uint32_t at = (uint32_t)((address >> 2) * 0x9e3779b97f4a7c15ull >> 32) & (h->place_capacity - 1);
    while (h->place[at].address && h->place[at].address != address) at = (at + 1) & (h->place_capacity - 1);
    return at;
}

static bool grow(views *h) {
    views bigger = *h;
    bigger.place_capacity = h->place_capacity ? 2 * h->place_capacity : 256;
    bigger.place = calloc(bigger.place_capacity, sizeof *bigger.place);
    if (!bigger.place) return false;
    for (uint32_t k = 0; k < h->place_capacity; k++)
        if (h->place[k].address) bigger.place[slot_of(&bigger, h->place[k].address)] = h->place[k];
    free(h->place);
    *h = bigger;
    return true;
}

/* NULL: no memory, or nothing was ever published there and `makes` is false */
static place *place_at(views *h, uint64_t address, bool makes) {
    if (makes && 2 * h->places >= h->place_capacity && !grow(h)) h->exhausted = true;
    if (!h->place_capacity || h->exhausted) return NULL;
    place *p = &h->place[slot_of(h, address)];
    if (p->address) return p;
    if (!makes) return NULL;
    h->places++;
    p->address = address;
    return p;
}

static views *views_of(const hpt_emu_warp *w, uint64_t address) {
    const hpt_emu_run *run = w->cta->cluster->run;
    const bool global = address >= HPT_EMU_FIRST_ADDRESS && address < HPT_EMU_PARAM_WINDOW;
    return run->handovers && global ? run->handovers->views : NULL;
}

void hpt_emu_handover_write(hpt_emu_warp *w, uint64_t address, bool releases, bool keeps) {
    views *h = views_of(w, address);
    if (!h) return;
    const uint32_t number = releases ? snapshot(w) : w->released;
    place *p = place_at(h, address, number != 0);
    if (p) p->view = keeps ? hpt_emu_view_join(w->cta->cluster, p->view, number) : number;
}

void hpt_emu_handover_read(hpt_emu_warp *w, uint64_t address, bool acquires) {
    views *h = views_of(w, address);
    const place *p = h ? place_at(h, address, false) : NULL;
    if (!p) return;
    if (acquires)
        acquire(w, p->view);
    else
        w->observed = hpt_emu_view_join(w->cta->cluster, w->observed, p->view);
}

void hpt_emu_handover_fence(hpt_emu_warp *w) {
    if (!w->cta->cluster->run->handovers) return;
    acquire(w, w->observed);
    w->released = snapshot(w);
}
