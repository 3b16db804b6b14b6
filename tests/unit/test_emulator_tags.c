/* What the emulator remembers of who wrote a byte: long enough to see what the launch before wrote, and never so long
 * that a launch is taken for another one with the same tag. */
#include "emulator/device.h"
#include "emulator_fixture.h"

static uint8_t tag_of(const hpt_emu_allocation *a, size_t byte) { return a->state[byte] & 0xfc; }

static void test_tags_are_forgotten(void **unused) {
    (void)unused;
    enum { ROUNDS = 3, LAUNCHES = ROUNDS * HPT_EMU_STATE_TAGS };
    emulated e = emulated_open("sm_90a", 1);
    hpt_device_ptr address = emulated_alloc(&e, LAUNCHES + 2);
    hpt_emu_allocation *a = e.device->allocations[0];
    assert_int_equal(a->address, address);
    memset(a->state, HPT_EMU_STATE_WRITTEN, a->bytes);
    for (size_t launch = 1; launch <= LAUNCHES; launch++) { /* each writes a byte of its own */
        hpt_emu_next_launch(e.device);
        uint8_t tag = hpt_emu_launch_tag(e.device->launches);
        for (size_t byte = 0; byte < launch; byte++) assert_int_not_equal(tag_of(a, byte), tag);
        if (launch > 1) assert_int_equal(tag_of(a, launch - 1), hpt_emu_launch_tag(e.device->launches - 1));
        for (size_t byte = 0; byte < a->bytes; byte++) assert_true(a->state[byte] & HPT_EMU_STATE_WRITTEN);
        a->state[launch] = HPT_EMU_STATE_WRITTEN | tag;
    }
    emulated_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tags_are_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
