#include "value.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hpt_value_print(hpt_text *out, const hpt_value *a, const char *generator) {
    if (hpt_value_is_zero(a)) {
        hpt_text_puts(out, "0");
        return;
    }
    bool imaginary = strcmp(generator, "i") == 0, any = false;
    fmpq_t coefficient;
    fmpq_init(coefficient);
    for (slong k = 0; k < fmpq_poly_length(a->poly); k++) {
        fmpq_poly_get_coeff_fmpq(coefficient, a->poly, k);
        if (fmpq_is_zero(coefficient)) continue;
        slong power = k + a->shift;
        if (fmpq_sgn(coefficient) < 0)
            hpt_text_puts(out, "-");
        else if (any)
            hpt_text_puts(out, "+");
        any = true;
        fmpq_abs(coefficient, coefficient);
        if (power == 0 || !fmpq_is_one(coefficient)) {
            char *text = fmpq_get_str(NULL, 10, coefficient);
            hpt_text_printf(out, "%s%s", text, power != 0 && !imaginary ? "*" : "");
            flint_free(text);
        }
        if (power != 0) hpt_text_puts(out, generator);
        if (power != 0 && power != 1) hpt_text_printf(out, "^%ld", (long)power);
    }
    fmpq_clear(coefficient);
}

static size_t count_digits(const char *text, size_t length) {
    size_t i = 0;
    while (i < length && isdigit((unsigned char)text[i])) i++;
    return i;
}

/* Multiplies by the decimal integer in text[0..count), appended to the digits already there. */
static void set_digits(fmpz_t out, const char *text, size_t count) {
    char buffer[HPT_VALUE_DIGITS + 1];
    memcpy(buffer, text, count);
    buffer[count] = '\0';
    fmpz_set_str(out, buffer, 10);
}

static hpt_status scan_exponent(slong *exponent, const char *text, size_t length, size_t *at, const char *where,
                                hpt_error *error) {
    size_t i = *at + 1;
    bool minus = i < length && text[i] == '-';
    if (i < length && (text[i] == '+' || text[i] == '-')) i++;
    size_t digits = count_digits(text + i, length - i);
    if (digits == 0) return HPT_OK; /* not an exponent: what follows belongs to the caller */
    slong number = 0;
    for (size_t k = 0; k < digits; k++) {
        number = number * 10 + (text[i + k] - '0');
        if (number > HPT_VALUE_DIGITS)
            return hpt_error_set(error, HPT_TOO_LARGE, where, "The exponent of a coefficient is over %d.",
                                 HPT_VALUE_DIGITS);
    }
    *exponent = minus ? -number : number;
    *at = i + digits;
    return HPT_OK;
}

hpt_status hpt_number_scan(fmpq_t out, const char *text, size_t length, bool fraction, size_t *used, bool *decimal,
                           const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    fmpz_t part, power;
    fmpz_init(part);
    fmpz_init(power);
    *used = 0;
    size_t at = count_digits(text, length), after = 0;
    bool point = at < length && text[at] == '.';
    if (point) after = count_digits(text + at + 1, length - at - 1);
    if (at + after == 0) goto done;
    HPT_FAIL_IF(at > HPT_VALUE_DIGITS || after > HPT_VALUE_DIGITS, HPT_TOO_LARGE, where,
                "A coefficient has more than %d digits.", HPT_VALUE_DIGITS);
    fmpq_zero(out);
    if (at > 0) set_digits(fmpq_numref(out), text, at);
    if (point) {
        if (after > 0) {
            set_digits(part, text + at + 1, after);
            fmpz_set_ui(power, 10);
            fmpz_pow_ui(power, power, (ulong)after);
            fmpz_mul(fmpq_numref(out), fmpq_numref(out), power);
            fmpz_add(fmpq_numref(out), fmpq_numref(out), part);
            fmpz_set(fmpq_denref(out), power);
        }
        at += 1 + after;
        if (decimal) *decimal = true;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        slong exponent = 0;
        size_t before = at;
        HPT_TRY(scan_exponent(&exponent, text, length, &at, where, error));
        if (at != before) {
            if (decimal) *decimal = true;
            fmpz_set_ui(power, 10);
            fmpz_pow_ui(power, power, (ulong)labs(exponent));
            if (exponent >= 0)
                fmpz_mul(fmpq_numref(out), fmpq_numref(out), power);
            else
                fmpz_mul(fmpq_denref(out), fmpq_denref(out), power);
        }
    } else if (fraction && !point && at + 1 < length && text[at] == '/') {
        size_t digits = count_digits(text + at + 1, length - at - 1);
        HPT_FAIL_IF(digits > HPT_VALUE_DIGITS, HPT_TOO_LARGE, where, "A coefficient has more than %d digits.",
                    HPT_VALUE_DIGITS);
        if (digits > 0) {
            set_digits(fmpq_denref(out), text + at + 1, digits);
            bool zero = fmpz_is_zero(fmpq_denref(out));
            if (zero) fmpz_one(fmpq_denref(out)); /* keep the number well formed for its clear */
            HPT_FAIL_IF(zero, HPT_MALFORMED, where, "A coefficient's denominator is zero.");
            at += 1 + digits;
        }
    }
    fmpq_canonicalise(out);
    *used = at;
done:
    fmpz_clear(power);
    fmpz_clear(part);
    return status;
}

typedef struct cursor {
    const char *text;
    size_t length, at;
} cursor;

static void skip_spaces(cursor *c) {
    while (c->at < c->length && isspace((unsigned char)c->text[c->at])) c->at++;
}

static bool take(cursor *c, const char *word) {
    size_t length = strlen(word);
    if (length == 0 || c->length - c->at < length || memcmp(c->text + c->at, word, length) != 0) return false;
    c->at += length;
    return true;
}

/* [number][*][generator[^power]] */
static hpt_status parse_term(hpt_value *out, cursor *c, const hpt_ring *ring, bool *decimal, const char *where,
                             hpt_error *error) {
    hpt_status status = HPT_OK;
    size_t used;
    slong power = 0;
    fmpq_t coefficient;
    fmpq_init(coefficient);
    HPT_TRY(hpt_number_scan(coefficient, c->text + c->at, c->length - c->at, true, &used, decimal, where, error));
    c->at += used;
    if (used == 0) fmpq_one(coefficient);
    size_t before = c->at;
    bool times = used > 0 && take(c, "*");
    bool generator = take(c, ring->generator) || (strcmp(ring->generator, "i") == 0 && (take(c, "j") || take(c, "I")));
    if (generator) {
        power = 1;
        if (take(c, "^")) {
            bool minus = take(c, "-");
            size_t digits = count_digits(c->text + c->at, c->length - c->at);
            HPT_FAIL_IF(digits == 0 || digits > 4, HPT_MALFORMED, where, "A power of %s is not a small integer.",
                        ring->generator);
            power = strtol(c->text + c->at, NULL, 10);
            c->at += digits;
            if (minus) power = -power;
            HPT_FAIL_IF(labs(power) > HPT_LAURENT_EXPONENT, HPT_TOO_LARGE, where, "A power of %s is over %d.",
                        ring->generator, HPT_LAURENT_EXPONENT);
            HPT_FAIL_IF(power < 0 && ring->kind != HPT_RING_LAURENT, HPT_MALFORMED, where,
                        "Negative powers of %s are not written in this ring.", ring->generator);
        }
    } else if (times) {
        c->at = before;
    }
    HPT_FAIL_IF(used == 0 && !generator, HPT_MALFORMED, where, "\"%.*s\" is not a coefficient over %s.",
                (int)(c->length < 60 ? c->length : 60), c->text, ring->name);
    hpt_value_set_generator(out, coefficient, power);
done:
    fmpq_clear(coefficient);
    return status;
}

hpt_status hpt_value_parse(hpt_value *out, const hpt_ring *ring, const char *text, size_t length, bool *decimal,
                           const char *where, hpt_error *error) {
    hpt_status status = HPT_OK;
    cursor c = {text, length, 0};
    hpt_value term;
    hpt_value_init(&term);
    hpt_value_set_si(out, 0);
    skip_spaces(&c);
    for (bool first = true; first || c.at < c.length; first = false) {
        bool minus = false, sign = false;
        while (c.at < c.length && (c.text[c.at] == '+' || c.text[c.at] == '-')) {
            HPT_FAIL_IF(sign && c.text[c.at - 1] == '-', HPT_MALFORMED, where, "\"%.*s\" has two signs in a row.",
                        (int)(length < 60 ? length : 60), text);
            minus = c.text[c.at++] == '-';
            sign = true;
            skip_spaces(&c);
        }
        HPT_FAIL_IF(!first && !sign, HPT_MALFORMED, where, "\"%.*s\" is not a coefficient over %s.",
                    (int)(length < 60 ? length : 60), text, ring->name);
        HPT_TRY(parse_term(&term, &c, ring, decimal, where, error));
        hpt_value_reduce(&term, ring);
        if (minus)
            hpt_value_sub(out, out, &term, ring);
        else
            hpt_value_add(out, out, &term, ring);
        skip_spaces(&c);
    }
done:
    hpt_value_clear(&term);
    return status;
}
