/* Every scheme of the catalogue: proved, in its own folder, named, with a source, and unlike all others. */
#include "formats/catalogue.h"
#include "scheme/scheme.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_one(const char *path, char hash[HPT_HASH_LENGTH]) {
    hpt_scheme *s, *again;
    hpt_verification v;
    hpt_error error = {0};
    char folder[64];
    if (hpt_scheme_read(&s, path, NULL, &error) != HPT_OK) fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(hpt_scheme_verify(&v, s, &error), HPT_OK);
    if (v.verdict != HPT_VERDICT_PROVED) fail_msg("%s is not correct", path);
    assert_true(hpt_scheme_source(s)[0] != '\0');
    snprintf(folder, sizeof folder, "/%dx%dx%d/", hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s));
    assert_non_null(strstr(path, folder));
    char *name = hpt_catalogue_name(path);
    assert_int_equal(hpt_scheme_read(&again, name, NULL, &error), HPT_OK); /* by name it is the same */
    assert_string_equal(hpt_scheme_hash(again), hpt_scheme_hash(s));
    strcpy(hash, hpt_scheme_hash(s));
    free(name);
    hpt_scheme_destroy(again);
    hpt_scheme_destroy(s);
}

static void test_all(void **state) {
    (void)state;
    static char hashes[1024][HPT_HASH_LENGTH];
    char **paths;
    size_t count = 0;
    assert_int_equal(hpt_catalogue_list(&paths, NULL), HPT_OK);
    for (; paths[count]; count++) {
        assert_true(count < HPT_COUNT(hashes));
        check_one(paths[count], hashes[count]);
        for (size_t i = 0; i < count; i++)
            if (strcmp(hashes[i], hashes[count]) == 0)
                fail_msg("%s and %s are the same scheme", paths[i], paths[count]);
    }
    assert_true(count >= 50);
    hpt_catalogue_free(paths);
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"strassen", "winograd", "seven-write", "textbook", "trivial",
                                        "laderman", "3x3x3:23", "4x4x4:49",    "2x2x3:11", "3x4x5:47"};
    for (size_t i = 0; i < HPT_COUNT(names); i++) {
        char *path;
        assert_int_equal(hpt_catalogue_find(&path, names[i], NULL), HPT_OK);
        free(path);
    }
    char *path;
    hpt_error error = {0};
    assert_int_equal(hpt_catalogue_find(&path, "no such scheme", &error), HPT_NOT_FOUND);
    assert_null(path);
}

/* The sizes in every other order. */
static void test_permuted(void **state) {
    (void)state;
    static const int orders[6][3] = {{3, 4, 5}, {4, 5, 3}, {5, 3, 4}, {5, 4, 3}, {4, 3, 5}, {3, 5, 4}};
    for (size_t i = 0; i < 6; i++) {
        char name[32];
        hpt_scheme *s;
        hpt_verification v;
        snprintf(name, sizeof name, "%dx%dx%d:47", orders[i][0], orders[i][1], orders[i][2]);
        assert_int_equal(hpt_scheme_read(&s, name, NULL, NULL), HPT_OK);
        assert_int_equal(hpt_scheme_n(s), orders[i][0]);
        assert_int_equal(hpt_scheme_m(s), orders[i][1]);
        assert_int_equal(hpt_scheme_p(s), orders[i][2]);
        assert_int_equal(hpt_scheme_verify(&v, s, NULL), HPT_OK);
        assert_int_equal(v.verdict, HPT_VERDICT_PROVED);
        hpt_scheme_destroy(s);
    }
    hpt_scheme *none = NULL;
    hpt_error error = {0};
    assert_int_equal(hpt_scheme_read(&none, "3x4x5:1", NULL, &error), HPT_NOT_FOUND);
    assert_null(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_permuted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
