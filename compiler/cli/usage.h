/* usage.h - the option tables as data: what manual pages and completions are made of. Promises:
 *   - a subcommand's table exists only while it runs, because it points to the variables that it fills; so the
 *     subcommand is called with --help, and a visitor gets its tables in place of the help text.
 *   - nothing about a subcommand is written down twice: a page lists exactly what --help lists.
 */
#ifndef HPT_CLI_USAGE_H
#define HPT_CLI_USAGE_H

#include "cli.h"

/* Calls `visitor` with the command's table, then with one for each operation that has a table of its own (run --op
 * mlp). */
hpt_status hpt_usage_visit(const hpt_command *command, hpt_usage_visitor visitor, void *user, hpt_error *error);

/* The line of an option as --help shows it: "-o, --output FILE". */
void hpt_usage_option(char *out, size_t room, const hpt_option *option);

/* completion.c: the script for "bash", "zsh" or "fish"; HPT_USAGE for another shell. */
hpt_status hpt_completion_make(hpt_text *out, const char *shell, hpt_error *error);

#endif
