#include "usage.h"
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_BASE = 256, MAX_OPTIONS = 64 };

static void print_help(const hpt_usage *usage, void *user) {
    (void)user;
    printf("%s\n\nExamples:\n", usage->summary);
    for (const char *line = usage->examples; *line;) {
        size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
    printf("\nUsage: heptane %s %s\n\nOptions:\n", usage->name, usage->arguments);
    for (size_t i = 0; i < usage->option_count; i++) {
        char left[80];
        hpt_usage_option(left, sizeof left, &usage->options[i]);
        bool letter = usage->options[i].letter;
        printf("  %s%-*s %s\n", letter ? "" : "    ", letter ? 30 : 26, left, usage->options[i].help);
    }
    printf("  %-30s %s\n", "-h, --help", "this text");
}

hpt_usage_visitor hpt_help_visitor = print_help;
void *hpt_help_user = NULL;

static hpt_status set_value(const hpt_option *option, const char *text, hpt_error *error) {
    char where[80];
    snprintf(where, sizeof where, "--%s", option->name);
    char *end = NULL;
    errno = 0;
    switch (option->kind) {
    case HPT_OPTION_FLAG:
        *(bool *)option->value = true;
        return HPT_OK;
    case HPT_OPTION_TEXT:
        *(const char **)option->value = text;
        return HPT_OK;
    case HPT_OPTION_INTEGER: {
        long long number = strtoll(text, &end, 10);
        if (end == text || *end || errno)
            return hpt_error_set(error, HPT_USAGE, where, "\"%s\" is not an integer.", text);
        if ((option->low || option->high) && (number < option->low || number > option->high))
            return hpt_error_set(error, HPT_USAGE, where, "%lld is out of range (%lld to %lld).", number,
                                 (long long)option->low, (long long)option->high);
        *(int64_t *)option->value = number;
        return HPT_OK;
    }
    case HPT_OPTION_REAL: {
        double number = strtod(text, &end);
        if (end == text || *end || !isfinite(number))
            return hpt_error_set(error, HPT_USAGE, where, "\"%s\" is not a number.", text);
        if ((option->low || option->high) && (number < (double)option->low || number > (double)option->high))
            return hpt_error_set(error, HPT_USAGE, where, "%g is out of range (%lld to %lld).", number,
                                 (long long)option->low, (long long)option->high);
        *(double *)option->value = number;
        return HPT_OK;
    }
    }
    return hpt_error_set(error, HPT_INTERNAL, where, "The option has no kind.");
}

hpt_status hpt_options_parse(int argc, char **argv, const hpt_usage *usage, int *first, bool *helped,
                             hpt_error *error) {
    struct option longs[MAX_OPTIONS + 2] = {{0}};
    char shorts[2 * MAX_OPTIONS + 4] = ":h";
    size_t used = 2;
    if (usage->option_count > MAX_OPTIONS) return hpt_error_set(error, HPT_INTERNAL, "", "Too many options.");
    for (size_t i = 0; i < usage->option_count; i++) {
        bool takes = usage->options[i].kind != HPT_OPTION_FLAG;
        longs[i] = (struct option){usage->options[i].name, takes, NULL, LONG_BASE + (int)i};
        if (usage->options[i].letter) {
            shorts[used++] = usage->options[i].letter;
            if (takes) shorts[used++] = ':';
        }
    }
    longs[usage->option_count] = (struct option){"help", 0, NULL, 'h'};
    *helped = false;
    optind = 0;
    opterr = 0;
    for (int got; (got = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        if (got == 'h') {
            hpt_help_visitor(usage, hpt_help_user);
            *helped = true;
            return HPT_OK;
        }
        if (got == '?' || got == ':') {
            const char letter[] = {'-', (char)optopt, '\0'}; /* optind still stands at a group of letters */
            const char *bad = optopt > 0 && optopt < LONG_BASE ? letter : argv[optind - 1];
            return hpt_error_set(error, HPT_USAGE, "",
                                 got == ':' ? "The option \"%s\" needs an argument (heptane %s --help)."
                                            : "Unknown option \"%s\" (heptane %s --help).",
                                 bad, usage->name);
        }
        for (size_t i = 0; i < usage->option_count; i++)
            if (got == LONG_BASE + (int)i || (usage->options[i].letter && got == usage->options[i].letter)) {
                hpt_status status = set_value(&usage->options[i], optarg, error);
                if (status != HPT_OK) return status;
            }
    }
    *first = optind;
    int count = argc - optind;
    if (count < usage->positional_low || (usage->positional_high >= 0 && count > usage->positional_high))
        return hpt_error_set(error, HPT_USAGE, "", "Usage: heptane %s %s", usage->name, usage->arguments);
    return HPT_OK;
}

json_t *hpt_json_text(const char *text) {
    json_t *string = json_string(text);
    if (string) return string;
    char *copy = strdup(text);
    for (char *at = copy; at && *at; at++)
        if (*at & 0x80) *at = '?';
    string = copy ? json_string(copy) : NULL;
    free(copy);
    return string;
}

hpt_status hpt_json_print(json_t *document, hpt_error *error) {
    if (!document) return hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory while building JSON.");
    int failed = json_dumpf(document, stdout, JSON_COMPACT);
    json_decref(document);
    if (failed || putchar('\n') == EOF) return hpt_error_set(error, HPT_IO, "standard output", "Cannot write JSON.");
    return HPT_OK;
}
