/* match.c - opcodes against the patterns of the instruction tables. */
#include "machine.h"
#include <string.h>

/* Does `text` begin with the modifier `word`, and end or go on with '.' behind it? */
static size_t modifier_length(const char *text, const char *word, size_t length) {
    if (strncmp(text, word, length) != 0) return 0;
    return text[length] == '\0' || text[length] == '.' ? length : 0;
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
