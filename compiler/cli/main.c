/* The command `heptane`: finds the subcommand, prints its error, returns its exit code. */
#include "cli.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND(name, entry, summary) hpt_status entry(int argc, char **argv, hpt_error *error);
#include "commands.def"
#undef COMMAND

static const hpt_command commands[] = {
#define COMMAND(name, entry, summary) {name, summary, entry},
#include "commands.def"
#undef COMMAND
};

static volatile int interrupted;

static void on_interrupt(int number) {
    interrupted = 1;
    signal(number, SIG_DFL); /* a second Ctrl-C ends it at once */
}

static void show_line(void *user, const char *line) {
    (void)user;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%s", line);
}

const hpt_progress hpt_cli_progress = {show_line, NULL, &interrupted};

static void help(FILE *stream) {
    fprintf(stream, "Heptane compiles low-complexity matrix multiplication schemes to GPU kernels.\n\n"
                    "Usage: heptane COMMAND [arguments]   (heptane COMMAND --help shows examples)\n\nCommands:\n");
    for (size_t i = 0; i < HPT_COUNT(commands); i++)
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
}

static const char *nearest(const char *name) {
    for (size_t i = 0; i < HPT_COUNT(commands); i++)
        if (strncmp(commands[i].name, name, 2) == 0) return commands[i].name;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        help(argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
    signal(SIGINT, on_interrupt);
    for (size_t i = 0; i < HPT_COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) != 0) continue;
        hpt_error error = {0};
        hpt_status status = commands[i].run(argc - 1, argv + 1, &error);
        if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
        if (status != HPT_OK && error.message[0])
            fprintf(stderr, "heptane %s: %s%s%s\n", name, error.where, error.where[0] ? ": " : "", error.message);
        if (fflush(stdout) != 0) {
            fprintf(stderr, "heptane %s: cannot write to standard output.\n", name);
            return 4;
        }
        return hpt_status_exit_code(status);
    }
    const char *guess = nearest(name);
    fprintf(stderr, "heptane: there is no command \"%s\"%s%s%s (heptane --help lists them).\n", name,
            guess ? "; did you mean \"" : "", guess ? guess : "", guess ? "\"?" : "");
    return 2;
}
