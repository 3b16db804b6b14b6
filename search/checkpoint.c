#include "checkpoint.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 30, MOST_TASKS = 1 << 28 };

bool hpt_checkpoint_owns(const hpt_checkpoint *s, int64_t task) { return task % s->shards == s->shard - 1; }

void hpt_checkpoint_clear(hpt_checkpoint *state) {
    free(state->finished);
    hpt_ternary_list_clear(&state->schemes);
    memset(state, 0, sizeof *state);
}

static hpt_status prepare(hpt_checkpoint *s, const hpt_ternary_shape *shape, int64_t tasks, int32_t shard,
                          int32_t shards, hpt_error *error) {
    memset(s, 0, sizeof *s);
    s->shape = *shape, s->tasks = tasks, s->shard = shard, s->shards = shards;
    s->schemes.rank = shape->rank;
    s->finished = calloc((size_t)tasks + 1, 1);
    if (!s->finished) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.");
    for (int64_t task = 0; task < tasks; task++) s->mine += hpt_checkpoint_owns(s, task);
    return HPT_OK;
}

hpt_status hpt_checkpoint_write(const hpt_checkpoint *s, const char *file, hpt_error *error) {
    hpt_text text = {0};
    hpt_text_printf(&text, "heptane-search 1\nshape %d %d %d rank %d %s\ntasks %lld shard %d of %d\nmodulo2 %lld\n",
                    s->shape.n, s->shape.m, s->shape.p, s->shape.rank, s->shape.modulo2 ? "gf2" : "ternary",
                    (long long)s->tasks, s->shard, s->shards, (long long)s->modulo2);
    for (int64_t task = 0; task < s->tasks;) { /* runs of finished tasks, "first count", as the shard sees them */
        int64_t first = task, count = 0;
        for (; task < s->tasks && (!hpt_checkpoint_owns(s, task) || s->finished[task]); task++)
            count += hpt_checkpoint_owns(s, task);
        if (count > 0) hpt_text_printf(&text, "done %lld %lld\n", (long long)first, (long long)(task - first));
        if (task < s->tasks) task++;
    }
    for (size_t i = 0; i < s->schemes.count; i++) {
        hpt_text_puts(&text, "scheme");
        for (int32_t r = 0; r < s->shape.rank; r++)
            for (int f = 0; f < 3; f++) {
                hpt_ternary_vector v = hpt_ternary_list_at(&s->schemes, i)[r].factor[f];
                hpt_text_printf(&text, " %" PRIx64 "/%" PRIx64, v.plus, v.minus);
            }
        hpt_text_puts(&text, "\n");
    }
    hpt_text_puts(&text, "end\n");
    hpt_status status = text.failed ? hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.")
                                    : hpt_file_write(file, text.data, text.length, error);
    hpt_text_clear(&text);
    return status;
}

static bool read_header(hpt_checkpoint *s, char **line, hpt_status *status, hpt_error *error) {
    hpt_ternary_shape shape = {0};
    char ring[16];
    long long tasks = 0, modulo2 = 0;
    int shard = 0, shards = 0, used = 0;
    if (sscanf(*line, "heptane-search 1 shape %d %d %d rank %d %15s tasks %lld shard %d of %d modulo2 %lld\n%n",
               &shape.n, &shape.m, &shape.p, &shape.rank, ring, &tasks, &shard, &shards, &modulo2, &used) != 9 ||
        used == 0)
        return false;
    shape.modulo2 = strcmp(ring, "gf2") == 0;
    if (shape.n < 1 || shape.m < 1 || shape.p < 1 || shape.rank < 1 || shape.rank > HPT_TERNARY_RANK || shape.n > 64 ||
        shape.m > 64 || shape.p > 64 || tasks < 0 || tasks > MOST_TASKS || shards < 1 || shard < 1 || shard > shards ||
        modulo2 < 0)
        return false;
    *line += used;
    *status = prepare(s, &shape, tasks, shard, shards, error);
    s->modulo2 = modulo2;
    return true;
}

static bool read_done(hpt_checkpoint *s, const char *line) {
    long long first, count;
    if (sscanf(line, "done %lld %lld", &first, &count) != 2 || first < 0 || count < 1 || first > s->tasks ||
        count > s->tasks - first)
        return false;
    for (int64_t task = first; task < first + count; task++) {
        if (!hpt_checkpoint_owns(s, task) || s->finished[task]) continue;
        s->finished[task] = 1;
        s->done++;
    }
    return true;
}

static bool read_scheme(hpt_checkpoint *s, char *line, hpt_status *status, hpt_error *error) {
    hpt_ternary_product products[HPT_TERNARY_RANK];
    char *at = line + strlen("scheme");
    for (int32_t i = 0; i < 3 * s->shape.rank; i++) {
        hpt_ternary_vector *v = &products[i / 3].factor[i % 3];
        char *end;
        v->plus = strtoull(at, &end, 16);
        if (end == at || *end != '/') return false;
        at = end + 1;
        v->minus = strtoull(at, &end, 16);
        if (end == at || (v->plus & v->minus)) return false;
        at = end;
    }
    if (*at != '\0' || !hpt_ternary_check(products, &s->shape)) return false;
    *status = hpt_ternary_list_add(&s->schemes, products, error);
    return true;
}

hpt_status hpt_checkpoint_read(hpt_checkpoint *out, const char *file, hpt_error *error) {
    hpt_status status = HPT_OK;
    char *bytes = NULL, *line = NULL;
    size_t length;
    bool ended = false;
    int number = 5;
    memset(out, 0, sizeof *out);
    HPT_TRY(hpt_file_read(&bytes, &length, file, MOST_BYTES, error));
    line = bytes;
    HPT_FAIL_IF(!read_header(out, &line, &status, error), HPT_MALFORMED, file, "This is not the state of a search.");
    HPT_TRY(status);
    for (; *line && !ended; number++) {
        char *end = line + strcspn(line, "\n");
        bool more = *end != '\0', good = true;
        *end = '\0';
        if (strncmp(line, "done ", 5) == 0)
            good = read_done(out, line);
        else if (strncmp(line, "scheme ", 7) == 0)
            good = read_scheme(out, line, &status, error);
        else
            ended = good = strcmp(line, "end") == 0;
        HPT_FAIL_IF(!good, HPT_MALFORMED, file, "Line %d is damaged.", number);
        HPT_TRY(status);
        line = more ? end + 1 : end;
    }
    HPT_FAIL_IF(!ended, HPT_MALFORMED, file, "The file is cut short.");
done:
    free(bytes);
    if (status != HPT_OK) hpt_checkpoint_clear(out);
    return status;
}

hpt_status hpt_checkpoint_open(hpt_checkpoint *out, const hpt_ternary_shape *shape, int64_t tasks, int32_t shard,
                               int32_t shards, const char *file, hpt_error *error) {
    hpt_status status = HPT_OK;
    memset(out, 0, sizeof *out);
    if (!file || access(file, F_OK) != 0) return prepare(out, shape, tasks, shard, shards, error);
    HPT_TRY(hpt_checkpoint_read(out, file, error));
    HPT_FAIL_IF(!hpt_ternary_shape_equal(&out->shape, shape) || out->tasks != tasks || out->shard != shard ||
                    out->shards != shards,
                HPT_LIES, file, "This file belongs to another search or shard.");
done:
    if (status != HPT_OK) hpt_checkpoint_clear(out);
    return status;
}
