#include "bench_kinds.h"
#include "launch/launch.h"
#include <stdlib.h>
#include <string.h>

hpt_status hpt_bench_check(hpt_check *out, bool *identical, const hpt_field *f, hpt_problem *p, hpt_meter *meter,
                           hpt_error *error) {
    hpt_status status = HPT_OK;
    void *again = malloc(p->bytes_c);
    HPT_FAIL_NO_MEMORY(again);
    HPT_TRY(hpt_problem_run_once(p, f->host, hpt_meter_stream(meter), error));
    HPT_TRY(hpt_problem_run_once(p, again, hpt_meter_stream(meter), error));
    hpt_data_compare(out, &f->data, f->host);
    *identical = memcmp(again, f->host, p->bytes_c) == 0;
done:
    free(again);
    return status;
}

/* ---- what is timed ---- */
static hpt_status run_fresh(void *call, void *stream, hpt_error *error) {
    hpt_status status = hpt_call_prepare(call, stream, error);
    return status == HPT_OK ? hpt_call_run(call, stream, error) : status;
}

static bool is_forms(const hpt_record *record) {
    return record->phase == HPT_PHASE_RUN && strncmp(record->package, "forms", 5) == 0;
}

static bool has_forms(const hpt_call *call) {
    for (size_t i = 0; i < call->record_count; i++)
        if (is_forms(&call->record[i])) return true;
    return false;
}

/* The launches of a run that make forms of X, or the others. */
static hpt_status run_part(const hpt_call *call, bool forms, void *stream, hpt_error *error) {
    for (size_t i = 0; i < call->record_count; i++) {
        const hpt_record *r = &call->record[i];
        if (r->phase != HPT_PHASE_RUN || is_forms(r) != forms) continue;
        hpt_status status = call->op->context->backend->launch(r->module, &r->launch, stream, error);
        if (status != HPT_OK) return status;
    }
    return HPT_OK;
}

/* The product alone, on forms that an earlier run left: what a producer that makes them itself would leave to do. */
static hpt_status run_without_forms(void *call, void *stream, hpt_error *error) {
    return run_part(call, false, stream, error);
}

static hpt_status run_forms(void *call, void *stream, hpt_error *error) { return run_part(call, true, stream, error); }

/* Bytes that making the forms of X has to move: X once, and what is written. */
static double bytes_of_forms(const hpt_problem *p, hpt_error *error) {
    const hpt_data *d = p->data;
    double bytes = (double)(d->elements_x * hpt_number_type_bytes(d->type_x));
    for (size_t i = 0; i < p->buffer_count; i++) {
        size_t own;
        const char *name = hpt_op_buffer(p->op, i, NULL, NULL);
        if (strcmp(name, "x_forms") == 0 && hpt_call_bytes(p->call, name, &own, NULL, error) == HPT_OK)
            return bytes + (double)own;
    }
    return 0;
}

/* Forms that the product makes beside itself cannot be left out: therefore `apart`. */
hpt_status hpt_bench_kinds_make(hpt_bench_kind out[HPT_BENCH_KINDS], size_t *count, const hpt_field *f,
                                hpt_problem *whole, hpt_problem *apart, bool fresh, hpt_meter *meter,
                                hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_check check;
    bool identical;
    const bool forms = has_forms(apart->call);
    *count = 0;
    out[(*count)++] = (hpt_bench_kind){.forms = forms ? "included" : "none", .runnable = {hpt_run_call, whole->call}};
    if (forms) {
        HPT_TRY(hpt_bench_check(&check, &identical, f, apart, meter, error)); /* and leaves the forms behind */
        hpt_bench_kind excluded = {.forms = "excluded", .runnable = {run_without_forms, apart->call}};
        HPT_TRY(hpt_measure_quick(&excluded.forms_seconds, meter, (hpt_runnable){run_forms, apart->call}, 11, error));
        excluded.forms_bytes = bytes_of_forms(apart, error);
        out[(*count)++] = excluded;
    } else {
        hpt_problem_clear(apart);
    }
    if (fresh) out[(*count)++] = (hpt_bench_kind){.forms = "fresh", .runnable = {run_fresh, whole->call}};
done:
    return status;
}
