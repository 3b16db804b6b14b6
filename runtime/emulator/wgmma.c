#include "machine.h"
void hpt_emu_bulk_release(hpt_emu_warp *w) { (void)w; }
void hpt_emu_wgmma_release(hpt_emu_warp *w) { (void)w; }
void hpt_emu_bulk_free(hpt_emu_warp *w) { (void)w; }
void hpt_emu_wgmma_free(hpt_emu_warp *w) { (void)w; }
void hpt_emu_wgmma_check(hpt_emu_warp *w, const hpt_emu_instruction *i) {
    (void)w;
    (void)i;
}
