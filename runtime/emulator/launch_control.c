/* launch_control.c - cluster launch control (PTX ISA 9.7.13.17 and .18): a running cluster takes over one that has not
 * been launched yet. The answer lands in shared memory like a bulk copy of 16 bytes. What the 16 bytes are is nobody's
 * business but the query's; here: a mark, then the index of the first CTA. */
#include "bulk.h"
#include <stdlib.h>
#include <string.h>

enum { TAKEN = 0x4c430001, REFUSED = 0x4c430000 };

struct hpt_emu_response {
    struct hpt_emu_response *next;
    uint32_t word[4];
};

void hpt_emu_launch_control_free(hpt_emu_cluster *k) {
    while (k->responses) {
        struct hpt_emu_response *response = k->responses;
        k->responses = response->next;
        free(response);
    }
}

static void answer(hpt_emu_run *run, uint32_t word[4]) {
    const hpt_launch *n = run->launch;
    word[0] = REFUSED;
    if (!run->next_cluster || *run->next_cluster >= run->cluster_count) return;
    uint64_t linear = (*run->next_cluster)++, x = n->grid[0] / n->cluster[0], y = n->grid[1] / n->cluster[1];
    word[0] = TAKEN;
    word[1] = (uint32_t)(linear % x) * n->cluster[0];
    word[2] = (uint32_t)(linear / x % y) * n->cluster[1];
    word[3] = (uint32_t)(linear / x / y) * n->cluster[2];
}

/* group: multicast */
static hpt_emu_step run_try_cancel(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    hpt_emu_cluster *k = w->cta->cluster;
    HPT_FOR_LANES(lane, mask) {
        struct hpt_emu_response *response = calloc(1, sizeof *response);
        if (!response) {
            k->out_of_memory = true;
            return HPT_EMU_NEXT;
        }
        response->next = k->responses;
        k->responses = response;
        if (k->control_refused)
            hpt_emu_report(w, i, lane, HPT_EMU_OPERAND,
                           "A request after one that was seen to be refused is undefined.");
        answer(k->run, response->word);
        hpt_emu_load load = {.align = 16, .extent = 16, .multicast = i->modifier[1] == 0};
        load.box.bytes = 16;
        load.mask = (uint16_t)((1u << k->size) - 1);
        load.destination = hpt_emu_address(w, &i->op[0], lane);
        load.mbarrier = hpt_emu_address(w, &i->op[1], lane);
        load.source = (const uint8_t *)response->word;
        hpt_emu_start_load(w, i, lane, &load);
    }
    return HPT_EMU_NEXT;
}

static bool read_answer(hpt_emu_warp *w, const hpt_emu_instruction *i, const hpt_emu_operand *op, uint32_t lane,
                        uint32_t word[4]) {
    memcpy(word, (const uint8_t *)hpt_emu_at(w, op) + 16 * lane, 16);
    if (word[0] == TAKEN || word[0] == REFUSED) return true;
    hpt_emu_report(w, i, lane, HPT_EMU_OPERAND, "The 128 bits are no answer of clusterlaunchcontrol.try_cancel.");
    return false;
}

static hpt_emu_step run_is_canceled(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t yes = 0, word[4];
    HPT_FOR_LANES(lane, mask) {
        if (!read_answer(w, i, &i->op[1], lane, word)) continue;
        if (word[0] == TAKEN) yes |= 1u << lane;
        if (word[0] == REFUSED) w->cta->cluster->control_refused = true;
    }
    hpt_emu_set_predicate(w, &i->op[0], yes, mask);
    return HPT_EMU_NEXT;
}

/* one coordinate, or a vector of three and something undefined */
static hpt_emu_step run_first_ctaid(hpt_emu_warp *w, const hpt_emu_instruction *i, uint32_t mask) {
    uint32_t word[4];
    HPT_FOR_LANES(lane, mask) {
        if (!read_answer(w, i, &i->op[1], lane, word)) continue;
        if (word[0] == REFUSED)
            hpt_emu_report(w, i, lane, HPT_EMU_OPERAND, "The request was refused: there is no CTA to ask for.");
        if (i->modifier[0] >= 0) {
            hpt_emu_set(w, &i->op[0], lane, word[1 + i->modifier[0]]);
            continue;
        }
        for (uint16_t d = 0; d < i->op[0].count && d < 3; d++)
            if (!i->op[0].items[d].sink) hpt_emu_set(w, &i->op[0].items[d], lane, word[1 + d]);
    }
    return HPT_EMU_NEXT;
}

#define QUERY "clusterlaunchcontrol.query_cancel"
const hpt_emu_row hpt_emu_rows_launch_control[] = {
    {"clusterlaunchcontrol.try_cancel.async[.shared::cta].mbarrier::complete_tx::bytes[.multicast::cluster::all].b128",
     "m,m", run_try_cancel, 0, NULL},
    {QUERY ".is_canceled.pred.b128", "dp,s16", run_is_canceled, 0, NULL},
    {QUERY ".get_first_ctaid{::x|::y|::z}.b32.b128", "d4,s16", run_first_ctaid, 0, NULL},
    {QUERY ".get_first_ctaid.v4.b32.b128", "dv4,s16", run_first_ctaid, 0, NULL},
    HPT_EMU_LAST_ROW,
};
