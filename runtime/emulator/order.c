/* order.c - an order of the instructions such that running the lanes that are earliest makes them meet again where
 * control flow joins: Bourdoncle's weak topological order of the basic blocks, in which the blocks of a loop stand
 * together and before everything behind the loop. (F. Bourdoncle, Efficient chaotic iteration strategies with
 * widenings, 1993; the idea of running the earliest lanes: G. Diamos et al., SIMD re-convergence at thread frontiers,
 * 2011.) */
#include "machine.h"
#include <stdlib.h>
#include <string.h>

typedef struct block {
    uint32_t first, last; /* instructions [first, last] */
    const uint32_t *next; /* successors */
    uint32_t next_count;
    uint32_t number; /* of the depth-first search; UINT32_MAX: finished */
} block;

typedef struct graph {
    const hpt_emu_program *program;
    block *blocks;
    uint32_t count;
    uint32_t *stack, depth, numbered;
    uint32_t *order, placed; /* filled from the end */
} graph;

/* One activation of the search, kept by hand: kernels may have very long chains of blocks. `component` activations
 * walk the successors of a loop head again, for the order inside the loop. */
typedef struct frame {
    uint32_t block, at, head;
    bool loop, component;
} frame;

static bool is_branch(const hpt_emu_instruction *i) {
    return i->source->opcode[0] == 'b' && i->source->opcode[1] == 'r';
}
static bool is_exit(const hpt_emu_instruction *i) {
    return strcmp(i->source->opcode, "ret") == 0 || strcmp(i->source->opcode, "exit") == 0 ||
           strcmp(i->source->opcode, "ret.uni") == 0 || strcmp(i->source->opcode, "trap") == 0;
}

static void mark_targets(const hpt_emu_instruction *i, bool *starts, uint32_t count) {
    const hpt_ptx_operand *last = &i->source->operands[i->source->count - 1];
    if (last->kind == HPT_PTX_LABEL && last->index < count) starts[last->index] = true;
    for (size_t k = 0; last->kind == HPT_PTX_TARGETS && k < last->count; k++)
        if (last->items[k].index < count) starts[last->items[k].index] = true;
}

static uint32_t target_count(const hpt_emu_instruction *i) {
    if (!is_branch(i) || i->source->count == 0) return 0;
    const hpt_ptx_operand *last = &i->source->operands[i->source->count - 1];
    return last->kind == HPT_PTX_LABEL ? 1 : last->kind == HPT_PTX_TARGETS ? (uint32_t)last->count : 0;
}

static bool build_blocks(graph *g, hpt_arena *arena) {
    const hpt_emu_program *p = g->program;
    bool *starts = hpt_arena_alloc(arena, p->count + 1, sizeof *starts);
    uint32_t *block_of = hpt_arena_alloc(arena, p->count + 1, sizeof *block_of);
    if (!starts || !block_of) return false;
    for (uint32_t i = 0; i < p->count; i++) {
        bool branches = target_count(&p->code[i]) > 0;
        if (branches) mark_targets(&p->code[i], starts, p->count);
        if (branches || is_exit(&p->code[i])) starts[i + 1] = true;
    }
    starts[0] = true;
    for (uint32_t i = 0; i < p->count; i++) g->count += starts[i];
    g->blocks = hpt_arena_alloc(arena, g->count + 1, sizeof *g->blocks);
    if (!g->blocks) return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (starts[i]) g->blocks[at++].first = i;
        g->blocks[at - 1].last = i;
        block_of[i] = at - 1;
    }
    for (uint32_t b = 0; b < g->count; b++) {
        const hpt_emu_instruction *last = &p->code[g->blocks[b].last];
        uint32_t targets = target_count(last), used = 0;
        uint32_t *next = hpt_arena_alloc(arena, targets + 1, sizeof *next);
        if (!next) return false;
        bool goes_on = !(targets || is_exit(last)) || last->guard >= 0;
        if (goes_on && g->blocks[b].last + 1 < p->count) next[used++] = b + 1;
        const hpt_ptx_operand *operand = targets ? &last->source->operands[last->source->count - 1] : NULL;
        for (uint32_t k = 0; k < targets; k++) {
            uint32_t index = operand->kind == HPT_PTX_LABEL ? operand->index : operand->items[k].index;
            if (index < p->count) next[used++] = block_of[index];
        }
        g->blocks[b].next = next;
        g->blocks[b].next_count = used;
    }
    return true;
}

static void enter(graph *g, frame *frames, uint32_t *top, uint32_t b) {
    g->stack[g->depth++] = b;
    g->blocks[b].number = ++g->numbered;
    frames[(*top)++] = (frame){.block = b, .head = g->blocks[b].number};
}

/* The block's successors are done: a loop head opens its loop for a second walk; anything else is placed. */
static void leave(graph *g, frame *f, bool *finished) {
    block *blocks = g->blocks;
    *finished = true;
    if (f->component || f->head != blocks[f->block].number) {
        if (f->component) g->order[--g->placed] = f->block;
        return;
    }
    uint32_t element = g->stack[--g->depth];
    blocks[f->block].number = UINT32_MAX;
    if (!f->loop) {
        g->order[--g->placed] = f->block;
        return;
    }
    while (element != f->block) {
        blocks[element].number = 0;
        element = g->stack[--g->depth];
    }
    f->component = true;
    f->at = 0;
    *finished = false;
}

static void search(graph *g, frame *frames) {
    uint32_t top = 0;
    enter(g, frames, &top, 0);
    while (top) {
        frame *f = &frames[top - 1];
        const block *b = &g->blocks[f->block];
        if (f->at < b->next_count) {
            uint32_t next = b->next[f->at];
            uint32_t number = g->blocks[next].number;
            if (number == 0) {
                if (f->component) f->at++; /* its result does not concern the head */
                enter(g, frames, &top, next);
                continue;
            }
            f->at++;
            if (!f->component && number <= f->head) {
                f->head = number;
                f->loop = true;
            }
            continue;
        }
        bool finished;
        uint32_t head = f->head;
        leave(g, f, &finished);
        if (!finished) continue;
        top--;
        if (top && !f->component && g->blocks[f->block].number != UINT32_MAX) {
            frame *parent = &frames[top - 1]; /* part of a loop whose head is further up */
            if (!parent->component) {
                parent->at++;
                if (head <= parent->head) {
                    parent->head = head;
                    parent->loop = true;
                }
            }
        } else if (top && !frames[top - 1].component) {
            frames[top - 1].at++;
        }
    }
}

hpt_status hpt_emu_order(hpt_emu_program *program, hpt_arena *arena, hpt_error *error) {
    hpt_status status = HPT_OK;
    graph g = {.program = program};
    if (program->count == 0) return HPT_OK;
    HPT_FAIL_IF(!build_blocks(&g, arena), HPT_NO_MEMORY, "", "Out of memory.");
    frame *frames = hpt_arena_alloc(arena, 2 * (size_t)g.count + 2, sizeof *frames);
    g.stack = hpt_arena_alloc(arena, 2 * (size_t)g.count + 2, sizeof *g.stack);
    g.order = hpt_arena_alloc(arena, g.count, sizeof *g.order);
    HPT_FAIL_NO_MEMORY(frames);
    HPT_FAIL_NO_MEMORY(g.stack);
    HPT_FAIL_NO_MEMORY(g.order);
    g.placed = g.count;
    search(&g, frames);
    uint32_t rank = 0;
    for (uint32_t k = g.placed; k < g.count; k++)
        for (uint32_t i = g.blocks[g.order[k]].first; i <= g.blocks[g.order[k]].last; i++)
            program->code[i].rank = ++rank;
done:
    return status;
}
