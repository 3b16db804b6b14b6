/* Every format: a sample of it reads as Strassen's scheme, what is written reads back, and bad input is refused with a
 * place and the right status. Samples are in tests/data/schemes. */
#include "formats/formats.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char folder[] = SOURCE_DIR "/tests/data/schemes/";

static const struct {
    const char *name, *format, *ring;
} samples[] = {
    {"strassen.exp", "exp", "Z"},
    {"strassen-awkward.exp", "exp", "Q"},
    {"strassen-complex.exp", "exp", "Q(i)"},
    {"strassen.uvw", "uvw-txt", "Z"},
    {"strassen.uvw.gz", "uvw-txt", "Z"},
    {"strassen-x.uvw", "uvw-txt", "Q[x,1/x]"},
    {"strassen.cse", "uvw-txt-cse", "Z"},
    {"strassen.m", "mathematica", "Z"},
    {"strassen-perminov.json", "perminov-json", "Z"},
    {"strassen-sparse.json", "perminov-json", "Z"},
    {"strassen-reduced.json", "perminov-reduced-json", "Z"},
    {"strassen-perminov.txt", "perminov-txt", "Z"},
    {"pool.txt", "perminov-txt", "Z"},
    {"fraction.txt", "perminov-txt", "Q"},
    {"strassen.mpl", "maple", "Z"},
    {"strassen.bini", "bini", "Z"},
    {"strassen.yacas", "formulas", "Z"},
    {"strassen-transposed.py", "formulas", "Z"},
    {"strassen-blocks.py", "formulas", "Z"},
    {"strassen_LRP.mpl", "maple-lrp", "Z"},
    {"strassen.brent", "brent", "Z"},
    {"strassen_L.sms", "sms", "Z"},
    {"root_L.sms", "sms", "Q(sqrt(2))"},
    {"basis-ALT_L.sms", "sms", "Z"},
    {"strassen_L.slp", "slp", "Z"},
    {"strassen_numpy.py", "numpy-text", "Z"},
    {"strassen_complex_numpy.py", "numpy-text", "Q(i)"},
    {"strassen.npy", "npz", "Z"},
    {"members.npz#2,2,2", "npz", "Z"},
    {"rho.json", "exact-json", "Q[x]/(x^4 - 4/3)"},
    {"rho.json#second", "exact-json", "Z"},
    {"rounded.json", "exact-json", "Q"},
};

static hpt_status read_sample(hpt_scheme **s, const char *name, const char *ring, hpt_error *error) {
    char path[512];
    const hpt_read_options options = {.ring = ring};
    snprintf(path, sizeof path, "%s%s", folder, name);
    return hpt_scheme_read(s, path, &options, error);
}

static void test_samples(void **state) {
    (void)state;
    hpt_scheme *strassen;
    assert_int_equal(hpt_scheme_read(&strassen, "strassen", NULL, NULL), HPT_OK);
    for (size_t i = 0; i < HPT_COUNT(samples); i++) {
        hpt_scheme *s;
        hpt_error error = {0};
        hpt_verification v;
        if (read_sample(&s, samples[i].name, NULL, &error) != HPT_OK)
            fail_msg("%s: %s: %s", samples[i].name, error.where, error.message);
        assert_int_equal(hpt_scheme_verify(&v, s, NULL), HPT_OK);
        assert_int_equal(v.verdict, HPT_VERDICT_PROVED);
        assert_string_equal(hpt_scheme_format(s), samples[i].format);
        assert_string_equal(v.ring, samples[i].ring);
        assert_string_equal(hpt_scheme_hash(s), hpt_scheme_hash(strassen));
        hpt_scheme_destroy(s);
    }
    hpt_scheme_destroy(strassen);
}

/* Every format of the table has a sample. */
static void test_every_format_has_a_sample(void **state) {
    (void)state;
    for (size_t f = 0; hpt_format_at(f); f++) {
        const char *name = hpt_format_at(f)->name;
        bool found = strcmp(name, "heptane") == 0 || strcmp(name, "sat") == 0; /* the catalogue; test_sat */
        for (size_t i = 0; i < HPT_COUNT(samples); i++) found = found || strcmp(samples[i].format, name) == 0;
        if (!found) fail_msg("the format %s has no sample", name);
    }
}

/* SAT answers are about 3x3x3 schemes modulo 2: this one is Laderman's. */
static void test_sat(void **state) {
    (void)state;
    hpt_scheme *s, *laderman;
    const hpt_read_options modulo = {.ring = "GF(2)"};
    assert_int_equal(read_sample(&s, "laderman.sat", NULL, NULL), HPT_OK);
    assert_int_equal(hpt_scheme_read(&laderman, "laderman", &modulo, NULL), HPT_OK);
    assert_string_equal(hpt_scheme_ring(s), "GF(2)");
    assert_string_equal(hpt_scheme_hash(s), hpt_scheme_hash(laderman));
    hpt_scheme_destroy(laderman);
    hpt_scheme_destroy(s);
}

static hpt_status read_text(hpt_scheme **s, const char *text, size_t length, const hpt_read_options *options,
                            hpt_error *error) {
    const hpt_input input = {.path = "test", .bytes = text, .length = length, .options = options};
    return hpt_input_read(s, &input, error);
}

static void test_round_trips(void **state) {
    (void)state;
    static const char *const names[] = {"strassen",        "2x3x4:20",         "3x3x6:40",     "4x4x4:48-complex",
                                        "3x2x2:10-border", "2x2x2:7-accurate", "2x3x2:11-gf2", "trivial"};
    for (size_t i = 0; i < HPT_COUNT(names); i++) {
        hpt_scheme *s, *again;
        int written = 0;
        assert_int_equal(hpt_scheme_read(&s, names[i], NULL, NULL), HPT_OK);
        for (size_t f = 0; hpt_format_at(f); f++) {
            char *text;
            size_t length;
            hpt_error error = {0};
            const char *ring = strncmp(hpt_scheme_ring(s), "GF", 2) == 0 ? hpt_scheme_ring(s) : NULL;
            const hpt_read_options options = {.ring = ring};
            hpt_status status = hpt_scheme_write(&text, &length, s, hpt_format_at(f)->name, &error);
            if (status != HPT_OK) { /* not in this format, and it says why */
                assert_true(status == HPT_UNSUPPORTED || status == HPT_USAGE);
                assert_true(error.message[0]);
                continue;
            }
            if (read_text(&again, text, length, &options, &error) != HPT_OK)
                fail_msg("%s as %s: %s: %s", names[i], hpt_format_at(f)->name, error.where, error.message);
            assert_string_equal(hpt_scheme_format(again), hpt_format_at(f)->name);
            assert_string_equal(hpt_scheme_hash(again), hpt_scheme_hash(s));
            hpt_scheme_destroy(again);
            free(text);
            written++;
        }
        assert_true(written >= 1);
        hpt_scheme_destroy(s);
    }
}

static const struct {
    const char *text;
    hpt_status status;
    const char *where; /* how the place begins */
} bad[] = {
    /* nothing, noise */
    {"", HPT_MALFORMED, "test"},
    {"hello world\n", HPT_MALFORMED, "test"},
    {"\x7f"
     "ELF\x02\x01\x01",
     HPT_MALFORMED, "test"},
    /* exp */
    {"(a11+a12)*(b11)*(c11\n", HPT_MALFORMED, "test:1:21"},
    {"(a11)*(b11)*(c11))\n", HPT_MALFORMED, "test:1:18"},
    {"a11*b11*c11\na11*b11*c1\n", HPT_MALFORMED, "test:2:10"},
    {"a11*b11*c11\na111*b11*c11\n", HPT_MALFORMED, "test:2:2"},
    {"a11*b11*c11/0\n", HPT_MALFORMED, "test:1:14"},
    {"a11*b11*c11\na11*a12*b11*c11\n", HPT_MALFORMED, "test:2"},
    {"a11*b11*c11\na11*b11\n", HPT_MALFORMED, "test:2:8"},
    {"(a11-a11)*b11*c11\n", HPT_MALFORMED, "test"}, /* a zero factor */
    {"(a11+((2**64)**64)**64*a12)*b11*c11\n", HPT_TOO_LARGE, "test:1"},
    /* uvw */
    {"1\n#\n1\n#\n1 1\n", HPT_LIES, "test"},
    {"1 0\n0\n#\n1 1\n1 1\n#\n1 1\n1 1\n", HPT_MALFORMED, "test:2:1"},
    {"1\n#\n1\n#\n1x99999\n", HPT_TOO_LARGE, "test:5"},
    {"1\n#\n1\n#\n(1+x\n", HPT_MALFORMED, "test:5:5"},
    {"0\n#\n1\n#\n1\n", HPT_MALFORMED, "test"}, /* a zero factor */
    {"1\n#\n1\n#\n1e999999999\n", HPT_TOO_LARGE, "test:5:1"},
    {"1\n1\n1\n#\n1\n#\n1\n", HPT_UNSUPPORTED, "test"}, /* no shape has 3, 1, 1 entries */
    /* Mathematica */
    {"{{{{1}}, {{1}}, {{1}}}", HPT_MALFORMED, "test:1:23"},
    {"{{{{1}}, {{1}}, {{1, 2}}}}", HPT_UNSUPPORTED, "test"},
    {"{{{{1}}, {{1}}, {{1}}}, {{{1}}, {{1, 1}}, {{1}}}}", HPT_LIES, "test:1:40"},
    {"{{{{nan}}, {{1}}, {{1}}}}", HPT_MALFORMED, "test:1:5"},
    /* JSON */
    {"{\"n\": [2, 2, 2], \"m\": 7, \"u\": [", HPT_MALFORMED, "test:1"},
    {"{\"n\": [1, 1, 1], \"m\": 2, \"u\": [[1]], \"v\": [[1]], \"w\": [[1]]}", HPT_LIES, "test: u"},
    {"{\"n\": [1, 1, 1], \"m\": 1, \"u\": [[1, 2]], \"v\": [[1]], \"w\": [[1]]}", HPT_LIES, "test: u[1]"},
    {"{\"n\": [1, 1, 1], \"m\": 1, \"u\": [[\"q\"]], \"v\": [[1]], \"w\": [[1]]}", HPT_MALFORMED, "test: u[1][1]"},
    {"{\"n\": [1000000000, 1000000000, 1000000000], \"m\": 1, \"u\": [[1]], \"v\": [[1]], \"w\": [[1]]}", HPT_TOO_LARGE,
     "test"},
    {"{\"n\": [1, 1, 1], \"m\": 1, \"u\": [[10000000000000000000000000000000000000000]], \"v\": [[1]], \"w\": [[1]]}",
     HPT_MALFORMED, "test:1"},
    {"{\"format\": \"heptane-scheme\", \"version\": 1, \"n\": 1, \"m\": 1, \"p\": 1, \"rank\": 2, \"ring\": \"Z\", "
     "\"products\": [{\"u\": [[1,1,1]], \"v\": [[1,1,1]], \"w\": [[1,1,1]]}]}",
     HPT_LIES, "test"},
    {"{\"format\": \"heptane-scheme\", \"version\": 1, \"n\": 1, \"m\": 1, \"p\": 1, \"rank\": 1, \"ring\": \"Z\", "
     "\"products\": [{\"u\": [[1,1,1],[1,1,1]], \"v\": [[1,1,1]], \"w\": [[1,1,1]]}]}",
     HPT_MALFORMED, "test"},
    {"{\"format\": \"heptane-scheme\", \"version\": 1, \"n\": 1, \"m\": 1, \"p\": 1, \"rank\": 1, \"ring\": \"Z\", "
     "\"products\": [{\"u\": [], \"v\": [[1,1,1]], \"w\": [[1,1,1]]}]}",
     HPT_MALFORMED, "test"},
    {"{\"format\": \"heptane-scheme\", \"version\": 1, \"n\": 1, \"m\": 1, \"p\": 1, \"rank\": 1, \"ring\": \"Z\", "
     "\"products\": [{\"u\": [[2,1,1]], \"v\": [[1,1,1]], \"w\": [[1,1,1]]}]}",
     HPT_LIES, "test: products[1].u[1]"},
    /* Perminov's text */
    {"2 2 2 7\n1 0 0 1\n", HPT_LIES, "test:2:1"},
    {"1 1 1 1\n1 1 1 1\n", HPT_LIES, "test:2:1"},
    {"1 1 1 1\n1 q 1\n", HPT_MALFORMED, "test"},
    {"1000000000 1 1 1\n1 1 1\n", HPT_TOO_LARGE, "test:1"},
    /* Maple */
    {"T:=TriadSet([Triad([Matrix(1,1,[[1]]),Matrix(1,1,[[1]]),Matrix(1,1,[[1)]])]):", HPT_MALFORMED, "test:1"},
    {"T:=TriadSet([Triad([Matrix(1,1,[[(((1]]),", HPT_MALFORMED, "test:1"},
    /* Bini */
    {"Bini 1 1 1 2\nproduct Gamma Alpha Beta\n1 ; 1 ; 1 ; 1\n", HPT_LIES, "test:4"},
    {"Bini 1 1 1 1\nproduct Gamma Alpha Alpha\n1 ; 1 ; 1 ; 1\n", HPT_MALFORMED, "test:2"},
    /* formulas */
    {"P1 := a11 * b11;\nc11 := P2;\n", HPT_MALFORMED, "test:2:8"},
    {"P1 := a11 * b11\nc11 := P1;\n", HPT_MALFORMED, "test:2:1"},
    {"P1 := a11 * b11;\nc11 := a11;\n", HPT_MALFORMED, "test:2"},
    {"c0 = a4@b0\n", HPT_MALFORMED, "test:1:7"},
    /* dumps of equations, SAT answers, Maple lists */
    {"111111: 1* 1* 1 + 1* 0* 1 = 1\n111111: 1* 1* 1 = 1\n", HPT_LIES, "test:2"},
    {"111111: 1* 1* 1 = 1\n111111: 2* 1* 1 = 1\n", HPT_LIES, "test:2"},
    {"111111: 1* 1 = 1\n", HPT_MALFORMED, "test:1"},
    {"v 1 2 x 0\n", HPT_MALFORMED, "test:1:7"},
    {"v 1 2 3 0\n", HPT_MALFORMED, "test"}, /* most factors are zero */
    {"L:=[[1]]: R:=[[1]]: P:=[[1,2]]:", HPT_LIES, "test"},
    {"L:=[[1]]: R:=[[1]]: P:=[[1,]]:", HPT_MALFORMED, "test:1"},
    /* pickles and arrays */
    {"\x93NUMPY\x01", HPT_MALFORMED, "test"},
    {"\x1f\x8b\x08garbage", HPT_MALFORMED, "test"},
    {"PK\3\4garbage", HPT_MALFORMED, "test"},
    /* several files: there is nothing beside a text in memory */
    {"7 4 R\n1 1 1\n0 0 0\n", HPT_UNSUPPORTED, "test"},
};

static void test_bad_input(void **state) {
    (void)state;
    static const hpt_read_options none = {0};
    for (size_t i = 0; i < HPT_COUNT(bad); i++) {
        hpt_scheme *s = NULL;
        hpt_error error = {0};
        hpt_status status;
        char *copy = strdup(bad[i].text); /* so that sanitizers see reads behind the end */
        const hpt_input input = {.path = "test", .bytes = copy, .length = strlen(copy), .options = &none};
        char path[64] = "/tmp/heptane-test-XXXXXX";
        if (strncmp(copy, "\x1f\x8b", 2) == 0 || strncmp(copy, "PK", 2) == 0) { /* archives are files */
            int descriptor = mkstemp(path);
            assert_true(descriptor >= 0 && write(descriptor, copy, strlen(copy)) >= 0);
            close(descriptor);
            status = hpt_scheme_read(&s, path, NULL, &error);
            unlink(path);
        } else {
            status = hpt_input_read(&s, &input, &error);
            if (strncmp(error.where, bad[i].where, strlen(bad[i].where)) != 0)
                fail_msg("%s: the place is %s", bad[i].text, error.where);
        }
        if (status != bad[i].status)
            fail_msg("%s: %s, %s: %s", bad[i].text, hpt_status_name(status), error.where, error.message);
        assert_int_equal(hpt_status_exit_code(status), 3);
        assert_true(error.message[0]);
        assert_null(s);
        free(copy);
    }
}

static void test_members(void **state) {
    (void)state;
    static const struct {
        const char *name;
        hpt_status status;
    } cases[] = {{"members.npz", HPT_USAGE},
                 {"members.npz#no", HPT_NOT_FOUND},
                 {"members.npz#evil", HPT_MALFORMED},
                 {"members.npz#1,2,1", HPT_OK},
                 {"pool.txt#2", HPT_OK},
                 {"pool.txt#3", HPT_NOT_FOUND},
                 {"rho.json#third", HPT_NOT_FOUND},
                 {"commutative.json", HPT_UNSUPPORTED}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_scheme *s = NULL;
        hpt_error error = {0};
        assert_int_equal(read_sample(&s, cases[i].name, NULL, &error), cases[i].status);
        if (cases[i].status != HPT_OK) assert_true(error.message[0]);
        hpt_scheme_destroy(s);
    }
}

static void test_rings(void **state) {
    (void)state;
    static const struct {
        const char *name, *ring;
        hpt_status status;
        hpt_verdict verdict;
    } cases[] = {{"strassen.exp", "GF(2)", HPT_OK, HPT_VERDICT_PROVED},
                 {"strassen.exp", "GF(7)", HPT_OK, HPT_VERDICT_PROVED},
                 {"strassen.exp", "Qi", HPT_OK, HPT_VERDICT_PROVED},
                 {"strassen-awkward.exp", "Z", HPT_UNSUPPORTED, HPT_VERDICT_PROVED},
                 {"strassen-awkward.exp", "GF(3)", HPT_OK, HPT_VERDICT_PROVED},
                 {"strassen-awkward.exp", "GF(2)", HPT_UNSUPPORTED, HPT_VERDICT_PROVED},
                 {"root_L.sms", "Q", HPT_OK, HPT_VERDICT_REFUTED},
                 {"rounded.json#pi", NULL, HPT_OK, HPT_VERDICT_UNDECIDED},
                 {"strassen.exp", "R", HPT_MALFORMED, HPT_VERDICT_PROVED}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        hpt_scheme *s = NULL;
        hpt_verification v;
        assert_int_equal(read_sample(&s, cases[i].name, cases[i].ring, NULL), cases[i].status);
        if (!s) continue;
        assert_int_equal(hpt_scheme_verify(&v, s, NULL), HPT_OK);
        assert_int_equal(v.verdict, cases[i].verdict);
        hpt_scheme_destroy(s);
    }
}

/* Every prefix, and random damage, of every sample: refused or read, never a crash. */
static void test_damage(void **state) {
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    static const hpt_read_options none = {0};
    for (size_t i = 0; i < HPT_COUNT(samples); i++) {
        char path[512], *text;
        size_t length;
        if (strchr(samples[i].name, '#') || strstr(samples[i].name, ".gz")) continue;
        snprintf(path, sizeof path, "%s%s", folder, samples[i].name);
        assert_int_equal(hpt_file_read(&text, &length, path, 1 << 20, NULL), HPT_OK);
        for (int round = 0; round < 40; round++) {
            size_t cut = round < 20 ? length * (size_t)round / 20 : length;
            char *copy = malloc(cut + 1);
            assert_non_null(copy);
            memcpy(copy, text, cut);
            for (int k = 0; round >= 20 && k < 3; k++)
                copy[(size_t)rand_r(&seed) % length] = (char)(rand_r(&seed) % 128);
            copy[cut] = '\0';
            hpt_scheme *s = NULL;
            hpt_error error = {0};
            const hpt_input input = {.path = path, .bytes = copy, .length = cut, .options = &none};
            if (hpt_input_read(&s, &input, &error) != HPT_OK) assert_true(error.message[0]);
            hpt_scheme_destroy(s);
            free(copy);
        }
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),     cmocka_unit_test(test_every_format_has_a_sample),
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_sat),         cmocka_unit_test(test_members),
        cmocka_unit_test(test_rings),       cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
