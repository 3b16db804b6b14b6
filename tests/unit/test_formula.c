/* Formulas: values, precedence, errors, and random ones against an evaluator in another style (arithmetic in __int128
 * on formulas whose value is built together with their text). */
#include "load/formula.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static hpt_arena *arena;
static hpt_names names;
static hpt_values values;
static int64_t numbers[16];
static bool known[16];

static int set_up(void **state) {
    (void)state;
    arena = hpt_arena_create();
    names = (hpt_names){.arena = arena};
    static const struct {
        const char *name;
        int64_t value;
        bool known;
    } given[] = {{"m", 4095, true}, {"n", 17, true}, {"k", 0, true}, {"big", INT64_MAX, true}, {"later", 0, false}};
    for (size_t i = 0; i < HPT_COUNT(given); i++) {
        int slot = hpt_names_add(&names, given[i].name);
        numbers[slot] = given[i].value;
        known[slot] = given[i].known;
    }
    values = (hpt_values){numbers, known};
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    hpt_arena_destroy(arena);
    return 0;
}

static hpt_status compute(int64_t *out, const char *text, hpt_error *error) {
    const hpt_formula *formula;
    hpt_status status = hpt_formula_parse(&formula, arena, &names, text, "op.json: test", error);
    return status == HPT_OK ? hpt_formula_eval(out, formula, &names, &values, error) : status;
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"1 + 2 * 3", 7},
                 {"(1 + 2) * 3", 9},
                 {"10 - 4 - 3", 3},
                 {"100 / 7 % 5", 4},
                 {"-7 / 2", -3},
                 {"-7 % 2", -1},
                 {"- -5", 5},
                 {"!0 + !7", 1},
                 {"1 < 2 == 1", 1},
                 {"1 || 0 && 0", 1},
                 {"m > 4000 ? n : k", 17},
                 {"0 ? 1 : 0 ? 2 : 3", 3},
                 {"1 ? 0 ? 5 : 6 : 7", 6},
                 {"min(m, n) + max(m, n)", 4112},
                 {"ceil_div(m, 128)", 32},
                 {"ceil_div(-7, 2)", -3},
                 {"ceil_div(7, -2)", -3},
                 {"ceil_div(-7, -2)", 4},
                 {"round_up(m, 128)", 4096},
                 {"round_up(0, 128)", 0},
                 {"9223372036854775807", INT64_MAX},
                 {"-9223372036854775807 - 1", INT64_MIN},
                 {"m != 4095", 0},
                 {"n%8", 1},
                 {"k && 1 / k", 0},
                 {"k == 0 || 1 / k", 1},
                 {"k ? 1 / k : 5", 5},
                 {"1 ? 2 : later", 2}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        int64_t value = 0;
        hpt_error error = {0};
        if (compute(&value, cases[i].text, &error) != HPT_OK) fail_msg("%s: %s", cases[i].text, error.message);
        if (value != cases[i].value) fail_msg("%s gave %lld", cases[i].text, (long long)value);
    }
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        hpt_status code;
        const char *says;
    } cases[] = {{"", HPT_MALFORMED, "ends too early"},
                 {"1 +", HPT_MALFORMED, "ends too early"},
                 {"(1", HPT_MALFORMED, "parenthesis"},
                 {"1)", HPT_MALFORMED, "cannot follow"},
                 {"1 2", HPT_MALFORMED, "cannot follow"},
                 {"q + 1", HPT_MALFORMED, "unknown name \"q\""},
                 {"pow(2, 3)", HPT_MALFORMED, "no function"},
                 {"min(2)", HPT_MALFORMED, "comma"},
                 {"min(2, 3, 4)", HPT_MALFORMED, "parenthesis"},
                 {"1 ? 2", HPT_MALFORMED, "colon"},
                 {"1.5", HPT_MALFORMED, "decimal integer"},
                 {"0x10", HPT_MALFORMED, "decimal integer"},
                 {"1 = 1", HPT_MALFORMED, "cannot follow"},
                 {"m & n", HPT_MALFORMED, "cannot follow"},
                 {"99999999999999999999", HPT_TOO_LARGE, "64 bits"},
                 {"big + 1", HPT_TOO_LARGE, "64 bits"},
                 {"big * 2", HPT_TOO_LARGE, "64 bits"},
                 {"-big - 2", HPT_TOO_LARGE, "64 bits"},
                 {"(-big - 1) / -1", HPT_TOO_LARGE, "64 bits"},
                 {"-(-big - 1)", HPT_TOO_LARGE, "64 bits"},
                 {"round_up(big, 1000)", HPT_TOO_LARGE, "64 bits"},
                 {"1 / k", HPT_MALFORMED, "division by zero"},
                 {"1 % k", HPT_MALFORMED, "division by zero"},
                 {"ceil_div(m, k)", HPT_MALFORMED, "division by zero"},
                 {"later + 1", HPT_NOT_FOUND, "\"later\""}};
    for (size_t i = 0; i < HPT_COUNT(cases); i++) {
        int64_t value = 0;
        hpt_error error = {0};
        hpt_status status = compute(&value, cases[i].text, &error);
        if (status != cases[i].code) fail_msg("%s: status %d, %s", cases[i].text, status, error.message);
        if (!strstr(error.message, cases[i].says)) fail_msg("%s: %s", cases[i].text, error.message);
        if (cases[i].text[0]) assert_non_null(strstr(error.message, cases[i].text)); /* it names the formula */
        assert_string_equal(error.where, "op.json: test");
    }
}

static void test_limits(void **state) {
    (void)state;
    int64_t value;
    hpt_error error = {0};
    char text[3 * HPT_FORMULA_LENGTH];
    memset(text, '(', sizeof text);
    text[HPT_FORMULA_LENGTH - 1] = '\0';
    assert_int_equal(compute(&value, text, &error), HPT_TOO_LARGE);
    memset(text, '-', HPT_FORMULA_LENGTH - 1);
    assert_int_equal(compute(&value, text, &error), HPT_TOO_LARGE);
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(compute(&value, text, &error), HPT_TOO_LARGE);
    for (int i = 0; i < HPT_FORMULA_LENGTH - 2; i += 2) memcpy(text + i, "1+", 2);
    strcpy(text + HPT_FORMULA_LENGTH - 2, "1");
    assert_int_equal(compute(&value, text, &error), HPT_OK);
    assert_int_equal(value, HPT_FORMULA_LENGTH / 2);
}

/* A random formula with its value; false if the value leaves 64 bits or divides by zero. */
static bool grow(hpt_text *text, __int128 *value, int depth) {
    static const char *const binary[] = {"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};
    __int128 a, b;
    int pick = depth ? rand() % 16 : 15;
    bool ok;
    if (pick == 15) {
        *value = rand() % 3 ? rand() % 1000 : (int64_t)rand() * rand();
        hpt_text_printf(text, "%lld", (long long)*value);
        return true;
    }
    hpt_text_puts(text, "(");
    ok = grow(text, &a, depth - 1);
    if (pick == 13) {
        __int128 c;
        hpt_text_puts(text, ") ? (");
        bool ok_b = grow(text, &b, depth - 1);
        hpt_text_puts(text, ") : (");
        bool ok_c = grow(text, &c, depth - 1);
        hpt_text_puts(text, ")");
        *value = ok && a ? b : c;
        return ok && (a ? ok_b : ok_c);
    }
    if (pick == 14) pick = 0;
    hpt_text_printf(text, ")%s(", binary[pick]);
    bool ok_b = grow(text, &b, depth - 1);
    hpt_text_puts(text, ")");
    if (pick == 11 && ok && !a) return *value = 0, true;
    if (pick == 12 && ok && a) return *value = 1, true;
    if (!ok || !ok_b || ((pick == 3 || pick == 4) && b == 0)) return false;
    switch (pick) {
    case 0:
        *value = a + b;
        break;
    case 1:
        *value = a - b;
        break;
    case 2:
        *value = a * b;
        break;
    case 3:
        *value = a / b;
        break;
    case 4:
        *value = a % b;
        break;
    case 5:
        *value = a < b;
        break;
    case 6:
        *value = a <= b;
        break;
    case 7:
        *value = a > b;
        break;
    case 8:
        *value = a >= b;
        break;
    case 9:
        *value = a == b;
        break;
    case 10:
        *value = a != b;
        break;
    case 11:
        *value = a && b;
        break;
    default:
        *value = a || b;
        break;
    }
    return *value >= INT64_MIN && *value <= INT64_MAX;
}

static void test_random(void **state) {
    (void)state;
    unsigned seed = (unsigned)time(NULL);
    print_message("seed %u\n", seed);
    srand(seed);
    int good = 0;
    for (int i = 0; i < 3000; i++) {
        hpt_text text = {0};
        __int128 want = 0;
        int64_t got = 0;
        hpt_error error = {0};
        bool ok = grow(&text, &want, 1 + rand() % 5);
        if (text.length <= HPT_FORMULA_LENGTH) {
            hpt_status status = compute(&got, text.data, &error);
            if ((status == HPT_OK) != ok || (ok && got != want)) fail_msg("%s: %s", text.data, error.message);
            good += ok;
        }
        hpt_text_clear(&text);
    }
    assert_true(good > 500);
}

static void test_garbage(void **state) { /* must not crash or hang, whatever it answers */
    (void)state;
    static const char alphabet[] = "mnk019+-*/%<>=!&|?:(), min(max(ceil_div(_\x80";
    for (int i = 0; i < 20000; i++) {
        char text[40];
        size_t length = (size_t)(rand() % 39);
        for (size_t j = 0; j < length; j++) text[j] = alphabet[(size_t)rand() % (sizeof alphabet - 1)];
        text[length] = '\0';
        int64_t value;
        hpt_error error = {0};
        hpt_status status = compute(&value, text, &error);
        if (status != HPT_OK) assert_true(error.message[0] != '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_limits), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_garbage)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
