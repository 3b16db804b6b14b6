/* match.c - opcodes against the patterns of the instruction tables. */
#include "machine.h"
#include <string.h>

/* How much of `text` the modifier `word` takes, which must end there or before a '.'; # in it stands for a number. */
static size_t modifier_length(const char *text, const char *word, size_t length) {
    size_t at = 0;
    for (size_t k = 0; k < length; k++) {
        if (word[k] == '#') {
            size_t digits = strspn(text + at, "0123456789");
            if (digits == 0 || digits > 6) return 0;
            at += digits;
        } else if (text[at++] != word[k]) {
            return 0;
        }
    }
    return text[at] == '\0' || text[at] == '.' ? at : 0;
}

static bool match_from(const char *pattern, const char *text, int8_t *modifier, int group) {
    while (*pattern && *pattern != '[' && *pattern != '{') {
        if (*pattern++ != *text++) return false;
    }
    if (!*pattern) return *text == '\0';
    char open = *pattern, close = open == '[' ? ']' : '}';
    const char *end = strchr(pattern, close);
    if (!end || group >= HPT_EMU_MODIFIERS) return false;
    int8_t choice = 0;
    for (const char *word = pattern + 1; word < end; choice++) {
        size_t length = strcspn(word, "|]}");
        size_t taken = modifier_length(text, word, length);
        modifier[group] = choice;
        if (taken && match_from(end + 1, text + taken, modifier, group + 1)) return true;
        word += length + 1;
    }
    modifier[group] = -1;
    return open == '[' && match_from(end + 1, text, modifier, group + 1);
}

bool hpt_emu_match(const char *pattern, const char *opcode, int8_t modifier[HPT_EMU_MODIFIERS]) {
    memset(modifier, -1, HPT_EMU_MODIFIERS);
    return match_from(pattern, opcode, modifier, 0);
}
