/* decode.c - a parsed entry into instructions that can run: finds the row of each opcode, lays out the register file,
 * turns operands into offsets. Signature of a row: operands separated by commas,
 *   d / s      destination / source, then the width in bytes (1 2 4 8 16), x (any) or p (a predicate);
 *              an f, h or b behind it reads immediates as f32/f64, f16 or bf16
 *   v before the width: a vector { } or a single one    q: predicate pair p|q or a single one
 *   m          memory [base + offset]                   t: tensor map with coordinates [map, {x, y}]
 *   a          any of memory, vector of 32-bit registers, source of any width or predicate
 *   l          label                                    b: list of branch targets
 *   ? before an operand: it may be left out (only at the end)
 */
#include "decode.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hpt_emu_row *const tables[] = {
#define ROWS(name) hpt_emu_rows_##name,
#include "rows.def"
#undef ROWS
};

static const struct {
    const char *name;
    int bytes;
} specials[] = {
#define SPECIAL(name, id, bytes, value) {name, bytes},
#include "special.def"
#undef SPECIAL
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

/* ---- the register file ---- */
static int32_t take_slot(hpt_emu_decoder *d, uint32_t bytes) {
    uint32_t size = bytes ? bytes * HPT_LANES : 4, align = bytes ? 64 : 4;
    uint32_t at = (d->program->register_bytes + align - 1) / align * align;
    if (at > HPT_EMU_MAX_REGISTER_FILE) {
        hpt_emu_refuse(d, "The kernel needs more than %d MB of registers per warp.", HPT_EMU_MAX_REGISTER_FILE >> 20);
        return 0;
    }
    d->program->register_bytes = at + size;
    return (int32_t)at;
}

static bool add_constant(hpt_emu_decoder *d, hpt_emu_operand *out, hpt_emu_constant constant) {
    hpt_emu_program *p = d->program;
    for (size_t i = p->constant_count; i-- > 0 && p->constant_count - i < 64;) { /* the recent ones repeat */
        const hpt_emu_constant *c = &p->constants[i];
        if (c->bits != constant.bits || c->bytes != constant.bytes || c->shared != constant.shared ||
            c->extern_array != constant.extern_array)
            continue;
        out->at = c->at;
        return true;
    }
    if (p->constant_count == d->constant_capacity) {
        size_t more = d->constant_capacity ? 2 * d->constant_capacity : 64;
        hpt_emu_constant *bigger = hpt_arena_alloc(d->arena, more, sizeof *bigger);
        if (!bigger) return hpt_emu_refuse(d, "Out of memory.");
        if (p->constant_count) memcpy(bigger, p->constants, p->constant_count * sizeof *bigger);
        p->constants = bigger;
        d->constant_capacity = more;
    }
    constant.at = take_slot(d, constant.bytes);
    out->at = constant.at;
    p->constants[p->constant_count++] = constant;
    return d->status == HPT_OK;
}

static void place_shared(hpt_emu_decoder *d, hpt_ptx_variable *v) {
    hpt_emu_program *p = d->program;
    if (v->address || v->space != HPT_PTX_SHARED) return;
    if (v->bytes == 0) {
        if (v->align > p->shared_dynamic_align) p->shared_dynamic_align = v->align;
        return;
    }
    p->shared_static_end = (p->shared_static_end + v->align - 1) / v->align * v->align;
    v->address = p->shared_static_end;
    p->shared_static_end += (uint32_t)v->bytes;
}

static uint64_t to_bits(const hpt_ptx_operand *s, uint8_t bytes, char format) {
    double value = 0;
    if (s->kind == HPT_PTX_INTEGER) return s->bits;
    if (s->kind == HPT_PTX_FLOAT_BITS) {
        float narrow;
        uint32_t bits = (uint32_t)s->bits;
        if (bytes == 4) return bits;
        memcpy(&narrow, &bits, 4);
        value = (double)narrow;
    } else {
        memcpy(&value, &s->bits, 8);
    }
    if (bytes == 8) {
        uint64_t bits;
        memcpy(&bits, &value, 8);
        return bits;
    }
    if (format == 'h') return hpt_f16_from(value);
    if (format == 'b') return hpt_bf16_from((float)value);
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, 4);
    return bits;
}

static bool decode_register(hpt_emu_decoder *d, hpt_emu_operand *out, uint32_t index, int width) {
    uint8_t bytes = d->program->function->registers[index].bytes;
    out->at = d->program->register_at[index];
    out->bytes = bytes;
    if (width >= 0 && bytes != (uint8_t)width)
        return hpt_emu_refuse(d, "%s: an operand must be %s%d%s, but %s is %d bits wide.", d->source->opcode,
                              width ? "" : "a predicate, not ", width ? 8 * width : 8 * bytes, " bits wide",
                              d->program->function->registers[index].name, 8 * bytes);
    return true;
}

static bool decode_special(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s, int width) {
    for (size_t i = 0; i < HPT_COUNT(specials); i++) {
        if (strcmp(specials[i].name, s->name) != 0) continue;
        uint8_t bytes = (uint8_t)specials[i].bytes;
        if (d->program->special_at[i] < 0) d->program->special_at[i] = take_slot(d, 8);
        out->at = d->program->special_at[i];
        out->bytes = bytes;
        if (width > 0 && width != specials[i].bytes)
            return hpt_emu_refuse(d, "%s cannot be read with this width.", s->name);
        return d->status == HPT_OK;
    }
    return hpt_emu_refuse(d, "The special register %s is unknown to the emulator.", s->name);
}

/* the address of a variable, in its own state space */
static bool decode_variable(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s, int width) {
    hpt_ptx_variable *v = s->variable;
    uint8_t bytes = width > 0 ? (uint8_t)width : 8;
    place_shared(d, v);
    out->bytes = bytes;
    out->constant = true;
    out->space = (uint8_t)v->space;
    bool is_extern = v->space == HPT_PTX_SHARED && v->bytes == 0;
    return add_constant(d, out,
                        (hpt_emu_constant){.bytes = bytes,
                                           .shared = v->space == HPT_PTX_SHARED,
                                           .extern_array = is_extern ? v : NULL,
                                           .bits = v->address + (uint64_t)s->offset});
}

static bool decode_value(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s, int width, char format,
                         bool destination) {
    memset(out, 0, sizeof *out);
    out->negated = s->negated;
    if (s->negated && width != 0) return hpt_emu_refuse(d, "%s: only predicates can be negated.", d->source->opcode);
    if (s->kind == HPT_PTX_REGISTER) return decode_register(d, out, s->index, width);
    if (s->kind == HPT_PTX_SINK && (destination || width != 0)) {
        out->bytes = (uint8_t)(width < 0 ? 8 : width);
        out->sink = true;
        out->at = d->scratch_at;
        return true;
    }
    if (destination) return hpt_emu_refuse(d, "%s: the destination is no register.", d->source->opcode);
    if (s->kind == HPT_PTX_SPECIAL) return decode_special(d, out, s, width);
    if (s->kind == HPT_PTX_VARIABLE) return decode_variable(d, out, s, width);
    if (s->kind != HPT_PTX_INTEGER && s->kind != HPT_PTX_FLOAT && s->kind != HPT_PTX_FLOAT_BITS)
        return hpt_emu_refuse(d, "%s: an operand has the wrong shape.", d->source->opcode);
    out->constant = true;
    if (width == 0) { /* an immediate predicate */
        out->bytes = 0;
        return add_constant(d, out, (hpt_emu_constant){.bytes = 0, .bits = s->bits ? 0xffffffffu : 0});
    }
    uint8_t bytes = width < 0 ? 8 : (uint8_t)width;
    out->bytes = bytes;
    uint64_t bits = to_bits(s, width < 0 ? 4 : bytes, format);
    if (bytes < 8) bits &= (1ull << 8 * bytes) - 1;
    return add_constant(d, out, (hpt_emu_constant){.bytes = bytes, .bits = bits});
}

static bool decode_items(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s, int width, char format,
                         bool destination) {
    size_t count = s->kind == HPT_PTX_VECTOR || s->kind == HPT_PTX_PAIR ? s->count : 1;
    hpt_emu_operand *items = hpt_arena_alloc(d->arena, count ? count : 1, sizeof *items);
    if (!items) return hpt_emu_refuse(d, "Out of memory.");
    memset(out, 0, sizeof *out);
    for (size_t k = 0; k < count; k++) {
        const hpt_ptx_operand *item = count == 1 && s->kind != HPT_PTX_VECTOR ? s : &s->items[k];
        if (!decode_value(d, &items[k], item, width, format, destination)) return false;
    }
    if (count > 256) return hpt_emu_refuse(d, "%s: the vector is too long.", d->source->opcode);
    if (count) *out = items[0];
    if (s->kind == HPT_PTX_VECTOR || s->kind == HPT_PTX_PAIR) out->constant = out->sink = false;
    out->items = items;
    out->count = (uint16_t)count;
    return true;
}

bool hpt_emu_set_width(hpt_emu_decoder *d, hpt_emu_instruction *i, int operand, int bytes, char format) {
    const hpt_ptx_operand *source = &d->source->operands[operand];
    hpt_emu_operand *op = &i->op[operand];
    if (source->kind == HPT_PTX_VECTOR) {
        hpt_emu_operand *items = (hpt_emu_operand *)(uintptr_t)op->items; /* this decoder's own */
        for (uint16_t k = 0; k < op->count; k++)
            if (items[k].constant && !decode_value(d, &items[k], &source->items[k], bytes, format, false)) return false;
        return true;
    }
    return !op->constant || decode_value(d, op, source, bytes, format, false);
}

static bool decode_memory(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s, bool tensor) {
    if (s->kind != HPT_PTX_MEMORY || (tensor && s->count != 2) || (!tensor && s->count != 1))
        return hpt_emu_refuse(d, "%s: expected %s.", d->source->opcode, tensor ? "[map, {coordinates}]" : "[address]");
    hpt_emu_operand coordinates = {0};
    if (tensor && !decode_items(d, &coordinates, &s->items[1], 4, 0, false)) return false;
    if (!decode_value(d, out, &s->items[0], s->items[0].kind == HPT_PTX_REGISTER ? -1 : 8, 0, false)) return false;
    if (out->bytes != 4 && out->bytes != 8)
        return hpt_emu_refuse(d, "%s: the address has the wrong width.", d->source->opcode);
    out->offset = s->offset;
    out->items = coordinates.items;
    out->count = coordinates.count;
    return true;
}

static bool decode_targets(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s) {
    if (s->kind != HPT_PTX_TARGETS)
        return hpt_emu_refuse(d, "%s: expected a list of branch targets.", d->source->opcode);
    hpt_emu_operand *items = hpt_arena_alloc(d->arena, s->count ? s->count : 1, sizeof *items);
    if (!items) return hpt_emu_refuse(d, "Out of memory.");
    for (size_t k = 0; k < s->count; k++) {
        if (s->items[k].kind != HPT_PTX_LABEL) return hpt_emu_refuse(d, "A branch target is no label.");
        items[k].offset = s->items[k].index;
    }
    if (s->count > UINT16_MAX) return hpt_emu_refuse(d, "Too many branch targets.");
    out->items = items;
    out->count = (uint16_t)s->count;
    return true;
}

static bool decode_any(hpt_emu_decoder *d, hpt_emu_operand *out, const hpt_ptx_operand *s) {
    if (s->kind == HPT_PTX_MEMORY) return decode_memory(d, out, s, false);
    if (s->kind == HPT_PTX_VECTOR) return decode_items(d, out, s, 4, 0, false);
    return decode_value(d, out, s, -1, 0, false);
}

static bool decode_operand(hpt_emu_decoder *d, hpt_emu_instruction *i, hpt_emu_operand *out, const hpt_ptx_operand *s,
                           const char *code) {
    if (*code == 'm' || *code == 't') return decode_memory(d, out, s, *code == 't');
    if (*code == 'b') return decode_targets(d, out, s);
    if (*code == 'a') return decode_any(d, out, s);
    if (*code == 'l') {
        if (s->kind != HPT_PTX_LABEL) return hpt_emu_refuse(d, "%s: expected a label.", d->source->opcode);
        i->target = s->index;
        return true;
    }
    bool destination = *code++ == 'd', vector = *code == 'v', pair = *code == 'q';
    code += vector || pair;
    int width = -1;
    if (pair || *code == 'p')
        width = 0;
    else if (*code == 'x')
        width = -1;
    else
        width = (int)strtol(code, (char **)&code, 10);
    char format = *code == 'x' || *code == 'p' ? code[1] : *code;
    if (format == ',') format = '\0';
    if (vector || pair) return decode_items(d, out, s, width, format, destination);
    return decode_value(d, out, s, width, format, destination);
}

static bool decode_operands(hpt_emu_decoder *d, hpt_emu_instruction *i, const hpt_emu_row *row) {
    const char *code = row->operands;
    size_t at = 0;
    while (*code) {
        bool optional = *code == '?';
        code += optional;
        if (at == d->source->count) {
            if (optional) break;
            return hpt_emu_refuse(d, "%s: too few operands.", d->source->opcode);
        }
        if (at == HPT_EMU_OPERANDS) return hpt_emu_refuse(d, "%s: too many operands.", d->source->opcode);
        if (!decode_operand(d, i, &i->op[at], &d->source->operands[at], code)) return false;
        at++;
        code += strcspn(code, ",");
        code += *code == ',';
    }
    i->count = (uint8_t)at;
    if (at < d->source->count) return hpt_emu_refuse(d, "%s: too many operands.", d->source->opcode);
    return true;
}

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
    if (!decode_operands(d, i, row)) return false;
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
    d->scratch_at = take_slot(d, 16);
    for (size_t i = 0; i < f->register_count; i++) p->register_at[i] = take_slot(d, f->registers[i].bytes);
    for (size_t i = 0; i < f->instruction_count && d->status == HPT_OK; i++) {
        d->source = &f->instructions[i];
        if (!decode_one(d, &p->code[p->count])) return false;
        p->count++;
    }
    for (hpt_ptx_variable *v = f->variables; v; v = v->next) place_shared(d, v);
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
