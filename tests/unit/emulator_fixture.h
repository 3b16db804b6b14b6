/* emulator_fixture.h - runs PTX text on an emulated device, for the tests of the emulator. With
 * HEPTANE_TEST_BACKEND=gpu the same kernels run on a GPU (through the driver's own PTX compiler), which tests the
 * tests: what they expect is what the hardware does. */
#ifndef EMULATOR_FIXTURE_H
#define EMULATOR_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* clang-format off */
#include <cmocka.h>
/* clang-format on */
#include "emulator/emulator.h"
#include "emulator/half.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct emulated {
    hpt_backend_device *device;
    hpt_backend_module *module;
    hpt_error error;
} emulated;

static inline bool emulated_on_gpu(void) {
    const char *name = getenv("HEPTANE_TEST_BACKEND");
    return name && strcmp(name, "gpu") == 0;
}
#define emulator (emulated_on_gpu() ? &hpt_backend_gpu : &hpt_backend_emulator)

static inline emulated emulated_open(const char *target, uint64_t seed) {
    emulated e = {0};
    assert_int_equal(emulator->open(&e.device, 0, target, &e.error), HPT_OK);
    if (emulated_on_gpu()) return e;
    hpt_emu_options options;
    hpt_emu_get_options(e.device, &options);
    options.seed = seed;
    options.patience = 200000;
    hpt_emu_set_options(e.device, &options);
    return e;
}

static inline void emulated_load(emulated *e, const char *ptx) {
    emulator->unload(e->module);
    e->module = NULL;
    hpt_status status = emulator->load(e->device, &e->module, ptx, strlen(ptx) + 1, "k", &e->error);
    if (status != HPT_OK) print_error("%s: %s\n%s\n", e->error.where, e->error.message, ptx);
    assert_int_equal(status, HPT_OK);
}

static inline void emulated_close(emulated *e) {
    emulator->unload(e->module);
    emulator->close(e->device);
}

static inline hpt_device_ptr emulated_alloc(emulated *e, size_t bytes) {
    hpt_device_ptr out;
    assert_int_equal(emulator->alloc(e->device, &out, bytes, &e->error), HPT_OK);
    return out;
}

static inline hpt_device_ptr emulated_upload(emulated *e, const void *from, size_t bytes) {
    hpt_device_ptr out = emulated_alloc(e, bytes);
    assert_int_equal(emulator->upload(e->device, out, from, bytes, &e->error), HPT_OK);
    return out;
}

/* Launches and returns the status; findings are printed if `loud`. */
static inline hpt_status emulated_launch(emulated *e, const hpt_launch *launch, bool loud) {
    size_t before = emulated_on_gpu() ? 0 : hpt_emu_finding_count(e->device);
    hpt_status status = emulator->launch(e->module, launch, NULL, &e->error);
    if (status == HPT_OK) status = emulator->synchronize(e->device, NULL, &e->error);
    if (status != HPT_OK && status != HPT_EMULATOR) print_error("launch: %s: %s\n", e->error.where, e->error.message);
    for (size_t k = before; loud && !emulated_on_gpu() && k < hpt_emu_finding_count(e->device); k++) {
        hpt_text text = {0};
        hpt_emu_finding_print(&text, hpt_emu_finding_get(e->device, k));
        print_error("%s\n", text.data);
        hpt_text_clear(&text);
    }
    return status;
}

static inline bool emulated_found(const emulated *e, hpt_emu_fault fault) {
    for (size_t k = 0; k < hpt_emu_finding_count(e->device); k++)
        if (hpt_emu_finding_get(e->device, k)->fault == fault) return true;
    return false;
}

#endif
