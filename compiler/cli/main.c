/* The command `heptane`: finds the subcommand, prints its error, returns its exit code. */
#include "cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name, entry, summary) hpt_status entry(int argc, char **argv, hpt_error *error);
#include "commands.def"
#undef COMMAND

const hpt_command hpt_commands[] = {
#define COMMAND(name, entry, summary) {name, summary, entry},
#include "commands.def"
#undef COMMAND
};
const size_t hpt_command_count = HPT_COUNT(hpt_commands);

const hpt_command *hpt_command_find(const char *name) {
    for (size_t i = 0; i < hpt_command_count; i++)
        if (strcmp(hpt_commands[i].name, name) == 0) return &hpt_commands[i];
    return NULL;
}

/* Writes over the line before; an empty one only erases. */
static void show_line(void *user, const char *line) {
    static bool shown;
    (void)user;
    if (!isatty(STDERR_FILENO) || (!shown && !line[0])) return;
    fprintf(stderr, "\r\033[K%s", line);
    shown = line[0] != '\0';
}

const hpt_progress hpt_cli_progress = {show_line, NULL, &hpt_cli_interrupted};

static void help(FILE *stream) {
    fprintf(stream, "Heptane compiles low-complexity matrix multiplication schemes to GPU kernels.\n\n"
                    "Usage: heptane COMMAND [arguments]   (heptane COMMAND --help shows examples)\n\nCommands:\n");
    for (size_t i = 0; i < hpt_command_count; i++)
        fprintf(stream, "  %-11s %s\n", hpt_commands[i].name, hpt_commands[i].summary);
}

/* Levenshtein's distance; words longer than the row are never near. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 31 };
    size_t row[LONGEST + 1], columns = strlen(b);
    if (columns > LONGEST) return SIZE_MAX;
    for (size_t j = 0; j <= columns; j++) row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < columns; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[columns];
}

static const char *nearest(const char *name) {
    enum { FAR = 3 };
    size_t least = FAR;
    const char *found = NULL;
    for (size_t i = 0; i < hpt_command_count; i++) {
        size_t now = distance(hpt_commands[i].name, name);
        if (now < least) {
            least = now;
            found = hpt_commands[i].name;
        }
    }
    return found;
}

static int run(const hpt_command *command, int argc, char **argv) {
    hpt_error error = {0};
    hpt_status status = command->run(argc, argv, &error);
    hpt_progress_end(&hpt_cli_progress);
    if (status != HPT_OK && error.message[0])
        fprintf(stderr, "heptane %s: %s%s%s\n", command->name, error.where, error.where[0] ? ": " : "", error.message);
    else if (status == HPT_INTERRUPTED)
        fprintf(stderr, "heptane %s: interrupted; what it shows is what was found so far.\n", command->name);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "heptane %s: cannot write to standard output.\n", command->name);
        return 4;
    }
    return hpt_status_exit_code(status);
}

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
    hpt_cli_watch_interrupts();
    const hpt_command *command = hpt_command_find(name);
    if (command) return run(command, argc - 1, argv + 1);
    const char *guess = nearest(name);
    fprintf(stderr, "heptane: there is no command \"%s\"%s%s%s (heptane --help lists them).\n", name,
            guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
    return 2;
}
