/* findings.c - faults of kernels, one record per kind and line. */
#include "device.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
} faults[] = {
#define FAULT(id, name, meaning) {name},
#include "faults.def"
#undef FAULT
};

const char *hpt_emu_fault_name(hpt_emu_fault fault) { return fault < HPT_EMU_FAULTS ? faults[fault].name : "?"; }

static void fill_source(const hpt_emu_run *run, const hpt_ptx_instruction *source, hpt_emu_finding *out) {
    if (!source) return;
    out->line = source->line;
    snprintf(out->opcode, sizeof out->opcode, "%s", source->opcode);
    if (!source->source_line) return;
    const char *name = "";
    for (const hpt_ptx_file *f = run->program->module->files; f; f = f->next)
        if (f->number == source->source_file) name = f->name;
    const char *base = strrchr(name, '/');
    snprintf(out->source, sizeof out->source, "%.140s:%d", base ? base + 1 : name, source->source_line);
}

static hpt_emu_finding *find_same(hpt_emu_device *device, const hpt_emu_finding *new) {
    for (size_t k = 0; k < device->finding_count; k++) {
        hpt_emu_finding *old = &device->findings[k];
        if (old->fault == new->fault && old->line == new->line &&strcmp(old->kernel, new->kernel) == 0) return old;
    }
    return NULL;
}

static void keep(hpt_emu_run *run, const hpt_emu_finding *new) {
    hpt_emu_device *device = run->device;
    pthread_mutex_lock(&device->lock);
    device->counters.findings++;
    hpt_emu_finding *old = find_same(device, new);
    if (old)
        old->count++;
    else if (device->finding_count < device->options.max_findings)
        device->findings[device->finding_count++] = *new;
    if (device->finding_count >= device->options.max_findings) run->stop = true;
    pthread_mutex_unlock(&device->lock);
}

void hpt_emu_report(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t lane, hpt_emu_fault fault,
                    const char *format, ...) {
    hpt_emu_run *run = w->cta->cluster->run;
    hpt_emu_finding new = {.fault = fault, .warp = w->index, .lane = lane, .seed = run->seed, .count = 1};
    memcpy(new.cta, w->cta->id, sizeof new.cta);
    snprintf(new.kernel, sizeof new.kernel, "%s", run->program->function->name);
    fill_source(run, i ? i->source : NULL, &new);
    va_list args;
    va_start(args, format);
    vsnprintf(new.message, sizeof new.message, format, args);
    va_end(args);
    keep(run, &new);
}

const char *hpt_emu_waiting_for(const hpt_emu_warp *w, char *buffer, size_t size) {
    const hpt_emu_fragment *f = &w->fragment[0];
    switch (f->wait) {
    case HPT_EMU_WAIT_NONE:
        snprintf(buffer, size, "nothing");
        break;
    case HPT_EMU_WAIT_BARRIER: {
        const hpt_emu_named_barrier *b = &w->cta->barriers[f->what & 15];
        snprintf(buffer, size, "barrier %u (%u threads have arrived)", f->what, b->arrived);
        break;
    }
    case HPT_EMU_WAIT_MBARRIER: {
        const hpt_emu_mbarrier *b = hpt_emu_mbarrier_find(w->cta, f->what);
        snprintf(buffer, size, "mbarrier 0x%x, parity %llu (its phase %u lacks %u arrivals and %lld bytes)", f->what,
                 (unsigned long long)f->value, b ? b->phase : 0, b ? b->pending : 0, b ? (long long)b->tx : 0);
        break;
    }
    case HPT_EMU_WAIT_CLUSTER:
        snprintf(buffer, size, "the cluster barrier (%u of %u threads have arrived)", w->cta->cluster->cluster_arrived,
                 w->cta->cluster->live_threads);
        break;
    case HPT_EMU_WAIT_BULK:
        snprintf(buffer, size, "its bulk groups");
        break;
    case HPT_EMU_WAIT_LANES:
        snprintf(buffer, size, "lanes 0x%08x of its own warp at %s", f->what, f->text);
        break;
    case HPT_EMU_WAIT_OTHER:
        snprintf(buffer, size, "%s", f->text);
        break;
    }
    return buffer;
}

void hpt_emu_finding_print(hpt_text *out, const hpt_emu_finding *f) {
    hpt_text_printf(out, "%s", hpt_emu_fault_name(f->fault));
    if (f->line) hpt_text_printf(out, " at line %d of the PTX (%s)", f->line, f->opcode);
    if (f->source[0]) hpt_text_printf(out, ", %s", f->source);
    hpt_text_printf(out, ", in %s, CTA (%u,%u,%u), warp %u, lane %u, seed %llu", f->kernel, f->cta[0], f->cta[1],
                    f->cta[2], f->warp, f->lane, (unsigned long long)f->seed);
    if (f->count > 1) hpt_text_printf(out, ", %llu times", (unsigned long long)f->count);
    hpt_text_printf(out, ": %s", f->message);
}

json_t *hpt_emu_finding_json(const hpt_emu_finding *f) {
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:[I,I,I], s:I, s:I, s:I, s:I, s:s}", "fault",
                     hpt_emu_fault_name(f->fault), "line", f->line, "opcode", f->opcode, "source", f->source, "kernel",
                     f->kernel, "cta", (json_int_t)f->cta[0], (json_int_t)f->cta[1], (json_int_t)f->cta[2], "warp",
                     (json_int_t)f->warp, "lane", (json_int_t)f->lane, "seed", (json_int_t)f->seed, "count",
                     (json_int_t)f->count, "message", f->message);
}

json_t *hpt_emu_counters_json(const hpt_emu_counters *counters) {
    json_t *out = json_object();
#define COUNTER(name, meaning) json_object_set_new(out, #name, json_integer((json_int_t)counters->name));
#include "counters.def"
#undef COUNTER
    return out;
}
