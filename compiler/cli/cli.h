/* cli.h - the shape of a subcommand. Promises:
 *   - one file per subcommand, one row in commands.def: name, entry, one-line summary.
 *   - a subcommand declares its options once (hpt_option table) and its examples; parsing, --help, range checks and
 *     errors come from options.c.
 *   - data to standard output, messages to standard error; --json prints one document per input.
 *   - a subcommand returns an hpt_status with a filled hpt_error; main prints it and turns it into the exit code.
 */
#ifndef HPT_CLI_H
#define HPT_CLI_H

#include "core.h"
#include <jansson.h>

typedef enum hpt_option_kind { HPT_OPTION_FLAG, HPT_OPTION_INTEGER, HPT_OPTION_REAL, HPT_OPTION_TEXT } hpt_option_kind;

typedef struct hpt_option {
    const char *name; /* long name without dashes */
    char letter;      /* short form or 0 */
    hpt_option_kind kind;
    void *value;          /* bool *, int64_t *, double * or const char ** */
    const char *argument; /* name of the argument in the help ("S"), NULL for a flag */
    const char *help;
    int64_t low, high; /* numbers: allowed range; both 0 means any */
} hpt_option;

typedef struct hpt_usage {
    const char *name;                    /* "verify" */
    const char *arguments;               /* "FILE... [options]" */
    const char *summary;                 /* one sentence */
    const char *examples;                /* lines, each a command and what it shows */
    int positional_low, positional_high; /* how many arguments; high < 0: any number */
    const hpt_option *options;
    size_t option_count;
} hpt_usage;

/* Parses argv[1..]; positional arguments are moved to argv[*first .. argc-1]. --help prints and sets *helped. */
hpt_status hpt_options_parse(int argc, char **argv, const hpt_usage *usage, int *first, bool *helped, hpt_error *error);

/* Who gets a table on --help: the printer of the help text unless usage.h has put another in its place. */
typedef void (*hpt_usage_visitor)(const hpt_usage *usage, void *user);
extern hpt_usage_visitor hpt_help_visitor;
extern void *hpt_help_user;

/* A string of JSON, which is UTF-8, of text that need not be (a file's name): other bytes become question marks. */
json_t *hpt_json_text(const char *text);
/* Prints one JSON document, integers exact, keys in insertion order, newline at the end. Steals the reference. */
hpt_status hpt_json_print(json_t *document, hpt_error *error);

/* The progress line on a terminal, nothing elsewhere; and SIGINT as a flag. */
extern const hpt_progress hpt_cli_progress;
extern volatile int hpt_cli_interrupted;
void hpt_cli_watch_interrupts(void); /* before any thread is started; a second SIGINT ends the process */
/* Whether from now on one SIGINT ends the process with 130, at once but for a file that is being written: for work that
 * cannot stop half-way and has no results yet. HPT_INTERRUPTED if it has come already. */
hpt_status hpt_cli_end_on_interrupt(bool ends, hpt_error *error);
/* A folder that goes with the process when an interrupt ends it; NULL: none. */
void hpt_cli_leave_nothing(const char *folder);

typedef struct hpt_command {
    const char *name, *summary;
    hpt_status (*run)(int argc, char **argv, hpt_error *error);
} hpt_command;

/* commands.def, in the order of `heptane --help` */
extern const hpt_command hpt_commands[];
extern const size_t hpt_command_count;
const hpt_command *hpt_command_find(const char *name); /* NULL: there is none */

#endif
