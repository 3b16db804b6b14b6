/* lexer.c - PTX text into tokens. A word may hold dots and double colons, so that an opcode with all its modifiers is
 * one token. */
#include "ptx.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hpt_ptx_lexer_start(hpt_ptx_lexer *lexer, const char *text, size_t length) {
    memset(lexer, 0, sizeof *lexer);
    lexer->at = text;
    lexer->end = text + length;
    lexer->line = 1;
    hpt_ptx_lexer_next(lexer);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static void skip_blank(hpt_ptx_lexer *l) {
    while (l->at < l->end) {
        char c = *l->at;
        if (c == '\n') l->line++;
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v' || c == '\0') {
            l->at++;
        } else if (c == '/' && l->end - l->at > 1 && l->at[1] == '/') {
            while (l->at < l->end && *l->at != '\n') l->at++;
        } else if (c == '/' && l->end - l->at > 1 && l->at[1] == '*') {
            l->at += 2;
            while (l->end - l->at > 1 && !(l->at[0] == '*' && l->at[1] == '/')) {
                if (*l->at == '\n') l->line++;
                l->at++;
            }
            l->at = l->end - l->at > 1 ? l->at + 2 : l->end;
        } else {
            return;
        }
    }
}

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* 0f and 0d followed by exactly 8 or 16 hexadecimal digits */
static bool read_float_bits(hpt_ptx_lexer *l, int digits) {
    if (l->end - l->at < 2 + digits) return false;
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++) {
        int v = digit_value(l->at[2 + i]);
        if (v > 15) return false;
        bits = bits << 4 | (uint64_t)v;
    }
    l->bits = bits;
    l->at += 2 + digits;
    l->token = digits == 8 ? HPT_PTX_REAL32 : HPT_PTX_REAL;
    return true;
}

static void read_decimal_float(hpt_ptx_lexer *l) {
    char copy[64];
    size_t n = 0;
    while (n < sizeof copy - 1 && l->at < l->end &&
           (is_digit(*l->at) || *l->at == '.' || *l->at == 'e' || *l->at == 'E' ||
            ((*l->at == '+' || *l->at == '-') && n > 0 && (copy[n - 1] == 'e' || copy[n - 1] == 'E'))))
        copy[n++] = *l->at++;
    copy[n] = '\0';
    char *end;
    double value = strtod(copy, &end);
    l->token = *end ? HPT_PTX_BAD : HPT_PTX_REAL;
    memcpy(&l->bits, &value, sizeof value);
}

static bool looks_like_float(const hpt_ptx_lexer *l) {
    for (const char *p = l->at; p < l->end && (is_digit(*p) || *p == '.' || *p == 'e' || *p == 'E'); p++)
        if (*p == '.' || *p == 'e' || *p == 'E') return true;
    return false;
}

static void read_number(hpt_ptx_lexer *l) {
    char second = l->end - l->at > 1 ? l->at[1] : '\0';
    if (*l->at == '0' && (second == 'f' || second == 'F') && read_float_bits(l, 8)) return;
    if (*l->at == '0' && (second == 'd' || second == 'D') && read_float_bits(l, 16)) return;
    int base = 10;
    if (*l->at == '0' && (second == 'x' || second == 'X'))
        base = 16;
    else if (*l->at == '0' && (second == 'b' || second == 'B'))
        base = 2;
    else if (looks_like_float(l)) {
        read_decimal_float(l);
        return;
    } else if (*l->at == '0')
        base = 8;
    if (base == 16 || base == 2) l->at += 2;
    l->bits = 0;
    l->token = HPT_PTX_NUMBER;
    for (; l->at < l->end && digit_value(*l->at) < base; l->at++)
        l->bits = l->bits * (uint64_t)base + (uint64_t)digit_value(*l->at);
    if (l->at < l->end && *l->at == 'U') l->at++;
    if (l->at < l->end && is_name(*l->at)) l->token = HPT_PTX_BAD;
}

static void read_word(hpt_ptx_lexer *l) {
    bool directive = *l->at == '.'; /* ends before the next dot: ".reg.b16 x" is two words */
    while (l->at < l->end) {
        if (is_name(*l->at) || (*l->at == '.' && (!directive || l->at == l->text)))
            l->at++;
        else if (*l->at == ':' && l->end - l->at > 2 && l->at[1] == ':' && is_name(l->at[2]))
            l->at += 2;
        else
            break;
    }
    l->token = HPT_PTX_WORD;
    l->length = (size_t)(l->at - l->text);
}

void hpt_ptx_lexer_next(hpt_ptx_lexer *l) {
    skip_blank(l);
    l->text = l->at;
    l->length = 0;
    l->mark = '\0';
    if (l->at >= l->end) {
        l->token = HPT_PTX_END;
        return;
    }
    char c = *l->at;
    if (is_digit(c)) {
        read_number(l);
        l->length = (size_t)(l->at - l->text);
    } else if (is_name(c) || (c == '.' && l->end - l->at > 1 && is_name(l->at[1]))) {
        read_word(l);
    } else if (c == '"') {
        l->text = ++l->at;
        while (l->at < l->end && *l->at != '"' && *l->at != '\n') l->at += *l->at == '\\' && l->end - l->at > 1 ? 2 : 1;
        if (l->at > l->end) l->at = l->end;
        l->length = (size_t)(l->at - l->text);
        l->token = l->at < l->end && *l->at == '"' ? HPT_PTX_STRING : HPT_PTX_BAD;
        if (l->token == HPT_PTX_STRING) l->at++;
    } else {
        l->token = HPT_PTX_MARK;
        l->mark = c;
        l->length = 1;
        l->at++;
    }
}

bool hpt_ptx_lexer_is(const hpt_ptx_lexer *l, const char *word) {
    return l->token == HPT_PTX_WORD && strlen(word) == l->length && memcmp(l->text, word, l->length) == 0;
}
