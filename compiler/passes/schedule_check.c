/* hpt_schedule_check: executes a schedule on symbols. Each accumulator holds a vector with one coefficient per product;
 * writing it adds weight times that vector to the output's. In the end output c must hold rho_c(r) for every product r.
 * It needs no idea of chains, ratios or covers. */
#include "scheme/scheme.h"
#include <heptane/chain.h>
#include <string.h>

typedef struct machine {
    const hpt_schedule *schedule;
    const hpt_ring *ring;
    int32_t rank, outputs;
    hpt_value *output; /* outputs x rank: coefficient of each product */
    hpt_value *held;   /* accumulators x rank */
    bool *live;        /* accumulators x rank: the coefficient is not zero */
    int32_t *chain;    /* per accumulator, -1 empty */
    bool *touched, *used;
    hpt_value a, b;
    hpt_error *error;
} machine;

static hpt_status wrong(machine *m, int32_t step, const char *what) {
    return hpt_error_set(m->error, HPT_INTERNAL, "schedule", "Step %d of the schedule %s.", step + 1, what);
}

static hpt_status parse(machine *m, hpt_value *out, const char *text) {
    hpt_error ignored;
    if (hpt_value_parse(out, m->ring, text, strlen(text), NULL, "schedule", &ignored) != HPT_OK ||
        hpt_value_is_zero(out))
        return hpt_error_set(m->error, HPT_INTERNAL, "schedule", "\"%s\" is no scale or weight.", text);
    return HPT_OK;
}

static hpt_status run_step(machine *m, int32_t t) {
    hpt_status status = HPT_OK;
    const hpt_step *step = &m->schedule->steps[t];
    if (step->product < 0 || step->product >= m->rank || m->used[step->product])
        return wrong(m, t, "computes no product, or one that was computed before");
    if (step->accumulator < 0 || step->accumulator >= m->schedule->accumulators)
        return wrong(m, t, "has no accumulator");
    m->used[step->product] = true;
    size_t row = (size_t)step->accumulator * (size_t)m->rank;
    if (step->fresh) {
        memset(m->live + row, 0, (size_t)m->rank);
        m->chain[step->accumulator] = step->chain;
    } else if (m->chain[step->accumulator] != step->chain) {
        return wrong(m, t, "continues a chain that its accumulator does not hold");
    }
    HPT_TRY(parse(m, &m->held[row + (size_t)step->product], step->scale.text));
    m->live[row + (size_t)step->product] = true;
    for (int32_t w = 0; w < step->write_count; w++) {
        const hpt_write *write = &step->writes[w];
        if (write->c < 0 || write->c >= m->outputs) return wrong(m, t, "writes to no output");
        if (write->first == m->touched[write->c]) return wrong(m, t, "has a wrong first-touch flag");
        m->touched[write->c] = true;
        HPT_TRY(parse(m, &m->a, write->weight.text));
        for (int32_t r = 0; r < m->rank; r++) {
            if (!m->live[row + (size_t)r]) continue;
            hpt_value *sum = &m->output[(size_t)write->c * (size_t)m->rank + (size_t)r];
            hpt_value_mul(&m->b, &m->a, &m->held[row + (size_t)r], m->ring);
            hpt_value_add(sum, sum, &m->b, m->ring);
        }
    }
done:
    return status;
}

static hpt_status compare(machine *m, const hpt_scheme *scheme) {
    for (int32_t r = 0; r < m->rank; r++) {
        hpt_terms row = hpt_scheme_terms(scheme, HPT_W, r);
        for (int32_t c = 0, i = 0; c < m->outputs; c++) {
            const hpt_value *got = &m->output[(size_t)c * (size_t)m->rank + (size_t)r];
            bool here = i < (int32_t)row.count && row.index[i] == c;
            if (here ? !hpt_value_equal(got, hpt_scheme_value(scheme, row.value[i])) : !hpt_value_is_zero(got))
                return hpt_error_set(m->error, HPT_INTERNAL, "schedule",
                                     "The schedule gives product %d a wrong weight in output block %d.", r + 1, c + 1);
            i += here;
        }
    }
    return HPT_OK;
}

static hpt_status check_counts(const hpt_schedule *s, const hpt_scheme *scheme, hpt_error *error) {
    hpt_status status = HPT_OK;
    int32_t writes = 0, chains = 0;
    bool alternates = true;
    HPT_FAIL_IF(s->rank != hpt_scheme_rank(scheme) || s->step_count != s->rank || s->n != hpt_scheme_n(scheme) ||
                    s->m != hpt_scheme_m(scheme) || s->p != hpt_scheme_p(scheme) ||
                    strcmp(s->scheme_hash, hpt_scheme_hash(scheme)) != 0,
                HPT_INTERNAL, "schedule", "The schedule belongs to another scheme.");
    for (int32_t t = 0; t < s->step_count; t++) {
        writes += s->steps[t].write_count;
        chains += s->steps[t].fresh;
        alternates &= t == 0 || s->steps[t].accumulator != s->steps[t - 1].accumulator;
    }
    HPT_FAIL_IF(writes != s->writes || chains != s->chains || alternates != s->alternates ||
                    s->lower_bound > s->writes || s->optimal != (s->writes == s->lower_bound),
                HPT_INTERNAL, "schedule", "The schedule's totals do not follow from its steps.");
done:
    return status;
}

hpt_status hpt_schedule_check(const hpt_schedule *schedule, const hpt_scheme *scheme, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_arena *arena = hpt_arena_create();
    machine m = {.schedule = schedule,
                 .ring = hpt_scheme_ring_record(scheme),
                 .rank = hpt_scheme_rank(scheme),
                 .outputs = hpt_scheme_entries(scheme, HPT_W),
                 .error = error};
    size_t sums = (size_t)m.outputs * (size_t)m.rank, cells = 0, made = 0;
    hpt_value_init(&m.a);
    hpt_value_init(&m.b);
    HPT_FAIL_NO_MEMORY(arena);
    HPT_TRY(check_counts(schedule, scheme, error));
    cells = (size_t)schedule->accumulators * (size_t)m.rank;
    m.output = hpt_arena_alloc(arena, sums + cells, sizeof *m.output);
    m.live = hpt_arena_alloc(arena, cells, sizeof *m.live);
    m.chain = hpt_arena_alloc(arena, (size_t)schedule->accumulators, sizeof *m.chain);
    m.touched = hpt_arena_alloc(arena, (size_t)m.outputs, sizeof *m.touched);
    m.used = hpt_arena_alloc(arena, (size_t)m.rank, sizeof *m.used);
    HPT_FAIL_IF(!m.output || !m.live || !m.chain || !m.touched || !m.used, HPT_NO_MEMORY, "", "Out of memory.");
    m.held = m.output + sums;
    for (; made < sums + cells; made++) hpt_value_init(&m.output[made]);
    for (int32_t a = 0; a < schedule->accumulators; a++) m.chain[a] = -1;
    for (int32_t t = 0; t < schedule->step_count; t++) HPT_TRY(run_step(&m, t));
    HPT_TRY(compare(&m, scheme));
done:
    for (size_t i = 0; i < made; i++) hpt_value_clear(&m.output[i]);
    hpt_value_clear(&m.a);
    hpt_value_clear(&m.b);
    hpt_arena_destroy(arena);
    return status;
}
