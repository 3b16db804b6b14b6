/* The disk cache: keys, corruption, unusable folders, racing processes. */
#include "cache/cache.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/heptane-cache-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static hpt_build sample(const char *cubin) {
    return (hpt_build){.cubin = (char *)cubin,
                       .cubin_length = strlen(cubin),
                       .ptx = (char *)".version 9.0",
                       .ptx_length = 12,
                       .log = (char *)"log\n",
                       .log_length = 4,
                       .registers = 168,
                       .spill_stores = 4,
                       .spill_loads = 8,
                       .nvrtc = 13000};
}

static void make_key(char key[HPT_HASH_LENGTH], const char *source) {
    static const char *const options[] = {"--std=c++17"};
    hpt_cache_key(key, source, "sm_90a", options, 1, 13000);
}

static void test_keys(void **state) {
    (void)state;
    static const char *const one[] = {"-a", "-b"}, *const joined[] = {"-a -b"};
    char a[HPT_HASH_LENGTH], b[HPT_HASH_LENGTH];
    hpt_cache_key(a, "source", "sm_90a", one, 2, 13000);
    hpt_cache_key(b, "source", "sm_90a", one, 2, 13000);
    assert_string_equal(a, b);
    hpt_cache_key(b, "source ", "sm_90a", one, 2, 13000);
    assert_string_not_equal(a, b);
    hpt_cache_key(b, "source", "sm_100a", one, 2, 13000);
    assert_string_not_equal(a, b);
    hpt_cache_key(b, "source", "sm_90a", joined, 1, 13000);
    assert_string_not_equal(a, b);
    hpt_cache_key(b, "source", "sm_90a", one, 2, 12090);
    assert_string_not_equal(a, b);
}

static void test_round_trip(void **state) {
    (void)state;
    char key[HPT_HASH_LENGTH];
    hpt_cache *cache = hpt_cache_open(folder);
    assert_string_equal(hpt_cache_problem(cache), "");
    make_key(key, "round trip");
    hpt_build want = sample("\x7f"
                            "ELF with bytes"),
              got = {0};
    assert_false(hpt_cache_get(cache, key, &got));
    assert_true(hpt_cache_put(cache, key, "gemm sm_90a strassen", &want));
    assert_true(hpt_cache_get(cache, key, &got));
    assert_int_equal(got.cubin_length, want.cubin_length);
    assert_memory_equal(got.cubin, want.cubin, want.cubin_length);
    assert_string_equal(got.ptx, want.ptx);
    assert_string_equal(got.log, want.log);
    assert_int_equal(got.registers, 168);
    assert_int_equal(got.spill_loads, 8);
    assert_string_equal(got.origin, "cache");
    hpt_build_clear(&got);
    hpt_cache_entry *entries;
    size_t count;
    assert_int_equal(hpt_cache_list(&entries, &count, cache, NULL), HPT_OK);
    assert_int_equal(count, 1);
    assert_string_equal(entries[0].label, "gemm sm_90a strassen");
    assert_string_equal(entries[0].key, key);
    free(entries);
    hpt_cache_close(cache);
}

static void test_corruption(void **state) { /* every byte flipped and every truncation: refused, removed, rebuilt */
    (void)state;
    char key[HPT_HASH_LENGTH], path[256];
    hpt_cache *cache = hpt_cache_open(folder);
    make_key(key, "corruption");
    hpt_build want = sample("cubin"), got = {0};
    assert_true(hpt_cache_put(cache, key, "label", &want));
    snprintf(path, sizeof path, "%s/%s.hptc", folder, key);
    char *bytes;
    size_t length;
    assert_int_equal(hpt_file_read(&bytes, &length, path, 1 << 20, NULL), HPT_OK);
    for (size_t i = 0; i < 2 * length; i++) {
        char *copy = malloc(length + 1);
        memcpy(copy, bytes, length);
        if (i < length) copy[i] ^= 1;
        assert_int_equal(hpt_file_write(path, copy, i < length ? length : i - length, NULL), HPT_OK);
        free(copy);
        assert_false(hpt_cache_get(cache, key, &got));
        assert_int_not_equal(access(path, F_OK), 0);
    }
    free(bytes);
    assert_true(hpt_cache_put(cache, key, "label", &want));
    assert_true(hpt_cache_get(cache, key, &got));
    hpt_build_clear(&got);
    hpt_cache_close(cache);
}

static void test_unusable(void **state) {
    (void)state;
    char key[HPT_HASH_LENGTH], open_folder[128], file[128];
    hpt_build want = sample("cubin"), got = {0};
    make_key(key, "unusable");
    snprintf(open_folder, sizeof open_folder, "%s/open", folder);
    assert_int_equal(mkdir(open_folder, 0777), 0);
    assert_int_equal(chmod(open_folder, 0777), 0);
    snprintf(file, sizeof file, "%s/file", folder);
    assert_int_equal(hpt_file_write(file, "x", 1, NULL), HPT_OK);
    const char *const bad[] = {open_folder, file, "/proc/nothing/here", "off"};
    for (size_t i = 0; i < HPT_COUNT(bad); i++) {
        hpt_cache *cache = hpt_cache_open(bad[i]);
        assert_non_null(cache);
        assert_string_not_equal(hpt_cache_problem(cache), "");
        assert_false(hpt_cache_put(cache, key, "label", &want));
        assert_false(hpt_cache_get(cache, key, &got));
        hpt_cache_close(cache);
    }
}

static void test_new_folder_is_private(void **state) {
    (void)state;
    char path[128];
    struct stat info;
    snprintf(path, sizeof path, "%s/a/b", folder);
    mode_t mask = umask(0);
    hpt_cache *cache = hpt_cache_open(path);
    umask(mask);
    assert_string_equal(hpt_cache_problem(cache), "");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    hpt_cache_close(cache);
}

static void test_race(void **state) { /* writers and readers of one key: never half an entry */
    (void)state;
    char key[HPT_HASH_LENGTH];
    make_key(key, "race");
    enum { PROCESSES = 6, ROUNDS = 60, SIZE = 200000 };
    char *big = malloc(SIZE + 1);
    memset(big, 'c', SIZE);
    big[SIZE] = '\0';
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            hpt_cache *cache = hpt_cache_open(folder);
            hpt_build want = sample(big), got = {0};
            int failures = 0;
            for (int i = 0; i < ROUNDS; i++) {
                failures += !hpt_cache_put(cache, key, "label", &want);
                failures += !hpt_cache_get(cache, key, &got) || got.cubin_length != SIZE;
                hpt_build_clear(&got);
            }
            _exit(failures ? 1 : 0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int result;
        wait(&result);
        assert_int_equal(result, 0);
    }
    free(big);
    hpt_cache *cache = hpt_cache_open(folder);
    size_t removed;
    assert_int_equal(hpt_cache_remove_all(&removed, cache, NULL), HPT_OK);
    assert_true(removed >= 1);
    assert_int_equal(hpt_cache_remove_all(&removed, cache, NULL), HPT_OK);
    assert_int_equal(removed, 0);
    hpt_cache_close(cache);
}

static void test_log(void **state) {
    (void)state;
    hpt_build b = {.log = strdup("ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
                                 "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
                                 "ptxas info    : Used 168 registers, used 1 barriers\n"
                                 "ptxas info    : Used 40 registers\n")};
    hpt_build_read_log(&b);
    assert_int_equal(b.registers, 168);
    assert_int_equal(b.spill_stores, 12);
    assert_int_equal(b.spill_loads, 8);
    assert_false(hpt_build_serialised(&b));
    hpt_build_clear(&b);
    assert_int_equal(hpt_ptx_version("// comment\n.version 9.0\n.target sm_90a\n"), 90);
    assert_int_equal(hpt_ptx_version("garbage"), 0);
    assert_int_equal(hpt_ptx_needs_cuda(90), 13000);
    assert_int_equal(hpt_ptx_needs_cuda(88), 12090);
    assert_int_equal(hpt_ptx_needs_cuda(80), 12000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys),       cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_corruption), cmocka_unit_test(test_unusable),
                                       cmocka_unit_test(test_race),       cmocka_unit_test(test_new_folder_is_private),
                                       cmocka_unit_test(test_log)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
