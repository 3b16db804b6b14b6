/* decode.c - a parsed entry into instructions that can run: finds the row of each opcode, and marks what the checks
 * need. Its operands are decode_operand.c's. */
#include "decode.h"
#include <stdio.h>
#include <string.h>

static const hpt_emu_row *const tables[] = {
#define ROWS(name) hpt_emu_rows_##name,
#include "rows.def"
#undef ROWS
};

bool hpt_emu_refuse(hpt_emu_decoder *d, const char *format, ...) {
    if (d->status != HPT_OK) return false;
    char where[HPT_ERROR_WHERE], message[HPT_ERROR_MESSAGE];
    snprintf(where, sizeof where, "%s:%d", d->file, d->source ? d->source->line : 0);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    d->status = hpt_error_set(d->error, HPT_UNSUPPORTED, where, "%s", message);
    return false;
}

hpt_arena *hpt_emu_decoder_arena(hpt_emu_decoder *d) { return d->arena; }

static const hpt_emu_row *find_row(const char *opcode, int8_t *modifier, size_t operands) {
    size_t first = strcspn(opcode, ".");
    const hpt_emu_row *other = NULL;
    for (size_t t = 0; t < HPT_COUNT(tables); t++) {
        for (const hpt_emu_row *row = tables[t]; row->pattern; row++) {
            if (strncmp(row->pattern, opcode, first) != 0 || !hpt_emu_match(row->pattern, opcode, modifier)) continue;
            size_t low = 1, high = 1; /* rows of one opcode may differ in the number of operands */
            for (const char *c = row->operands; *c; c++) high += *c == ',';
            if (!*row->operands) high = 0;
            low = high;
            for (const char *c = row->operands; *c; c++) low -= *c == '?';
            if (operands >= low && operands <= high) return row;
            other = row;
        }
    }
    if (other) hpt_emu_match(other->pattern, opcode, modifier);
    return other;
}

static const char *called_name(const hpt_ptx_instruction *call) {
    for (size_t k = 0; k < call->count; k++)
        if (call->operands[k].kind == HPT_PTX_NAME) return call->operands[k].name;
    return "?";
}

/* The two functions that are always there: a failed assertion is a finding, printf prints nothing. */
static bool decode_call(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    const char *name = called_name(d->source);
    i->run = strcmp(name, "__assertfail") == 0 ? hpt_emu_run_assert
             : strcmp(name, "vprintf") == 0    ? hpt_emu_run_nothing
                                               : NULL;
    return i->run || hpt_emu_refuse(
                         d,
                         "The kernel calls the device function \"%.80s\"; only kernels whose functions are all inlined "
                         "are supported.",
                         name);
}

static bool decode_one(hpt_emu_decoder *d, hpt_emu_instruction *i) {
    i->source = d->source;
    i->guard = -1;
    if (d->source->guard >= 0) i->guard = d->program->register_at[d->source->guard];
    i->guard_negated = d->source->guard_negated;
    if (strncmp(d->source->opcode, "call", 4) == 0) return decode_call(d, i);
    const hpt_emu_row *row = find_row(d->source->opcode, i->modifier, d->source->count);
    if (!row) return hpt_emu_refuse(d, "The emulator does not know the instruction \"%s\".", d->source->opcode);
    i->run = row->run;
    i->flags = (uint8_t)row->flags;
    if (!hpt_emu_decode_operands(d, i, row)) return false;
    if (strncmp(d->source->opcode, "atom", 4) == 0 || strncmp(d->source->opcode, "clusterlaunch", 13) == 0 ||
        strncmp(d->source->opcode, "red.", 4) == 0 || strncmp(d->source->opcode, "ld.volatile", 11) == 0 ||
        strncmp(d->source->opcode, "ld.acquire", 10) == 0)
        d->program->uses_global_atomics = true;
    return !row->decode || row->decode(d, i);
}

static bool touches(const hpt_emu_operand *op, const bool *accumulators, uint32_t limit) {
    if (op->items) {
        for (uint16_t k = 0; k < op->count; k++)
            if (touches(&op->items[k], accumulators, limit)) return true;
    }
    return op->at >= 0 && (uint32_t)op->at / 64 < limit && op->bytes && accumulators[op->at / 64];
}

/* Registers that a wgmma reads or writes: only instructions that name one are checked while it runs. */
static bool mark_accumulators(hpt_emu_decoder *d) {
    hpt_emu_program *p = d->program;
    uint32_t limit = p->register_bytes / 64 + 1;
    bool *marked = hpt_arena_alloc(d->arena, limit, sizeof *marked), any = false;
    if (!marked) return hpt_emu_refuse(d, "Out of memory.");
    for (uint32_t i = 0; i < p->count; i++) {
        if (strncmp(p->code[i].source->opcode, "wgmma.mma", 9) != 0) continue;
        any = true;
        for (int o = 0; o < 2; o++)
            for (uint16_t k = 0; (o == 0 || p->code[i].op[o].count == 4) && k < p->code[i].op[o].count; k++)
                marked[p->code[i].op[o].items[k].at / 64] = true;
    }
    for (bool changed = any; changed;) { /* copies carry the mark on */
        changed = false;
        for (uint32_t i = 0; i < p->count; i++) {
            hpt_emu_instruction *c = &p->code[i];
            if (!(c->flags & HPT_EMU_COPIES) || c->op[0].sink || c->op[1].constant || c->op[0].bytes != 4) continue;
            if (marked[c->op[1].at / 64] && !marked[c->op[0].at / 64]) marked[c->op[0].at / 64] = changed = true;
        }
    }
    for (uint32_t i = 0; any && i < p->count; i++)
        for (int o = 0; o < HPT_EMU_OPERANDS; o++)
            if (touches(&p->code[i].op[o], marked, limit)) p->code[i].touches_accumulator = true;
    return true;
}

static bool decode_all(hpt_emu_decoder *d) {
    hpt_emu_program *p = d->program;
    const hpt_ptx_function *f = p->function;
    p->register_at = hpt_arena_alloc(d->arena, f->register_count + 1, sizeof *p->register_at);
    p->code = hpt_arena_alloc(d->arena, f->instruction_count + 1, sizeof *p->code);
    if (!p->register_at || !p->code) return hpt_emu_refuse(d, "Out of memory.");
    for (size_t i = 0; i < HPT_EMU_SPECIALS; i++) p->special_at[i] = -1;
    d->scratch_at = hpt_emu_take_slot(d, 16);
    for (size_t i = 0; i < f->register_count; i++) p->register_at[i] = hpt_emu_take_slot(d, f->registers[i].bytes);
    for (size_t i = 0; i < f->instruction_count && d->status == HPT_OK; i++) {
        d->source = &f->instructions[i];
        if (!decode_one(d, &p->code[p->count])) return false;
        p->count++;
    }
    for (hpt_ptx_variable *v = f->variables; v; v = v->next) hpt_emu_place_shared(d, v);
    return d->status == HPT_OK && mark_accumulators(d);
}

hpt_status hpt_emu_decode(hpt_emu_program **out, hpt_arena *arena, const hpt_ptx_module *module,
                          const hpt_ptx_function *function, const char *file, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_emu_program *program = hpt_arena_alloc(arena, 1, sizeof *program);
    HPT_FAIL_NO_MEMORY(program);
    program->module = module;
    program->function = function;
    program->shared_static_end = HPT_EMU_RESERVED_SHARED;
    program->shared_dynamic_align = 16;
    hpt_emu_decoder decoder = {.program = program, .arena = arena, .file = file, .error = error};
    if (!decode_all(&decoder)) return decoder.status;
    uint32_t align = program->shared_dynamic_align;
    uint32_t dynamic = (program->shared_static_end + align - 1) / align * align;
    program->shared_static_end = dynamic;
    for (size_t i = 0; i < program->constant_count; i++)
        if (program->constants[i].extern_array) program->constants[i].bits += dynamic;
    HPT_TRY(hpt_emu_order(program, arena, error));
    *out = program;
done:
    return status;
}
