#include "core.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h> // needs the ones above

static void test_sha256(void **state) {
    (void)state;
    char hex[HPT_HASH_LENGTH];
    hpt_sha256_hex(hex, "abc", 3); /* FIPS 180-2, appendix B.1 */
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_arena(void **state) {
    (void)state;
    hpt_arena *arena = hpt_arena_create();
    assert_non_null(arena);
    assert_null(hpt_arena_alloc(arena, SIZE_MAX, 2));
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        unsigned char *block = hpt_arena_alloc(arena, size, 1);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(block[i], 0);
        memset(block, 0xff, size);
    }
    hpt_arena_destroy(arena);
}

static void test_checked(void **state) {
    (void)state;
    size_t size;
    int64_t number;
    assert_true(hpt_mul_size(&size, 1u << 20, 1u << 20));
    assert_false(hpt_mul_size(&size, SIZE_MAX / 2, 3));
    assert_false(hpt_mul_i64(&number, INT64_MAX, 2));
    assert_false(hpt_add_i64(&number, INT64_MAX, 1));
}

static void test_files(void **state) {
    (void)state;
    hpt_error error = {0};
    char folder[] = "/tmp/heptane-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a/b", folder);
    assert_int_equal(hpt_folder_create(path, &error), HPT_OK);
    snprintf(path, sizeof path, "%s/a/b/c.txt", folder);
    assert_int_equal(hpt_file_write(path, "seven", 5, &error), HPT_OK);
    char *text;
    size_t length;
    assert_int_equal(hpt_file_read(&text, &length, path, 5, &error), HPT_OK);
    assert_string_equal(text, "seven");
    free(text);
    assert_int_equal(hpt_file_read(&text, &length, path, 4, &error), HPT_TOO_LARGE);
    assert_int_equal(hpt_file_read(&text, &length, "/nonexistent/x", 4, &error), HPT_IO);
    assert_string_equal(error.where, "/nonexistent/x");
    assert_int_equal(hpt_folder_create(path, &error), HPT_IO);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sha256), cmocka_unit_test(test_arena),
                                       cmocka_unit_test(test_checked), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
