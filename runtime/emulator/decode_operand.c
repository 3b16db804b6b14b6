/* decode_operand.c - operands of an instruction into places in the register file, which is laid out as they come.
 * Signature of a row: operands separated by commas,
 *   d / s      destination / source, then the width in bytes (1 2 4 8 16), x (any) or p (a predicate);
 *              an f, h or b behind it reads immediates as f32/f64, f16 or bf16
 *   v before the width: a vector { } or a single one    q: predicate pair p|q or a single one
 *   m          memory [base + offset]                   t: tensor map with coordinates [map, {x, y}]
 *   a          any of memory, vector of 32-bit registers, source of any width or predicate
 *   l          label                                    b: list of branch targets
 *   ? before an operand: it may be left out (only at the end)
 */
#include "decode.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int bytes;
} specials[] = {
#define SPECIAL(name, id, bytes, value) {name, bytes},
#include "special.def"
#undef SPECIAL
};

/* ---- the register file ---- */
int32_t hpt_emu_take_slot(hpt_emu_decoder *d, uint32_t bytes) {
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
    constant.at = hpt_emu_take_slot(d, constant.bytes);
    out->at = constant.at;
    p->constants[p->constant_count++] = constant;
    return d->status == HPT_OK;
}

void hpt_emu_place_shared(hpt_emu_decoder *d, hpt_ptx_variable *v) {
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
        if (d->program->special_at[i] < 0) d->program->special_at[i] = hpt_emu_take_slot(d, 8);
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
    hpt_emu_place_shared(d, v);
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

bool hpt_emu_decode_operands(hpt_emu_decoder *d, hpt_emu_instruction *i, const hpt_emu_row *row) {
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
