/* heptane completion: scripts for bash, zsh and fish, made from the tables that parse the options. */
#include "usage.h"
#include <stdio.h>
#include <string.h>

hpt_status hpt_command_completion(int argc, char **argv, hpt_error *error);

/* The options of a subcommand, those of all its operations together, each name once. The strings are constants of the
 * subcommand and outlive its run; `value` does not and is not touched. */
typedef struct option_set {
    hpt_option options[128];
    size_t count;
} option_set;

static void collect(const hpt_usage *usage, void *user) {
    option_set *set = user;
    for (size_t i = 0; i < usage->option_count && set->count < HPT_COUNT(set->options); i++) {
        size_t known = 0;
        while (known < set->count && strcmp(set->options[known].name, usage->options[i].name) != 0) known++;
        if (known == set->count) set->options[set->count++] = usage->options[i];
    }
}

/* Text inside single quotes of a shell; `special` characters get a backslash. */
static void add_quoted(hpt_text *out, const char *text, const char *special, const char *quote) {
    for (; *text; text++) {
        if (strchr(special, *text)) hpt_text_puts(out, "\\");
        if (*text == '\'')
            hpt_text_puts(out, quote);
        else
            hpt_text_add(out, text, 1);
    }
}

/* ---- bash: words only ---- */
static void bash_begin(hpt_text *out) {
    hpt_text_puts(out, "_heptane() {\n  local current=${COMP_WORDS[COMP_CWORD]} words='--help --version'\n"
                       "  local commands='");
    for (size_t i = 0; i < hpt_command_count; i++) hpt_text_printf(out, "%s%s", i ? " " : "", hpt_commands[i].name);
    hpt_text_puts(out, "'\n  case ${COMP_WORDS[1]} in\n");
}

static void bash_command(hpt_text *out, const hpt_command *command, const option_set *set) {
    hpt_text_printf(out, "  %s) words='--help", command->name);
    for (size_t i = 0; i < set->count; i++) hpt_text_printf(out, " --%s", set->options[i].name);
    hpt_text_puts(out, "' ;;\n");
}

static const char bash_end[] = "  esac\n"
                               "  if [[ $current == -* ]]; then\n"
                               "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                               "  elif [ \"$COMP_CWORD\" = 1 ]; then\n"
                               "    COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
                               "  else\n"
                               "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
                               "  fi\n"
                               "}\n"
                               "complete -o filenames -F _heptane heptane\n";

/* ---- zsh: with their help ---- */
static void zsh_begin(hpt_text *out) {
    hpt_text_puts(out, "#compdef heptane\n_heptane() {\n  local -a commands=(\n");
    for (size_t i = 0; i < hpt_command_count; i++) {
        hpt_text_printf(out, "    '%s:", hpt_commands[i].name);
        add_quoted(out, hpt_commands[i].summary, "", "'\\''");
        hpt_text_puts(out, "'\n");
    }
    hpt_text_puts(out, "  )\n"
                       "  if ((CURRENT == 2)); then\n"
                       "    _describe command commands\n"
                       "    return\n"
                       "  fi\n"
                       "  shift words\n"
                       "  ((CURRENT--))\n"
                       "  case $words[1] in\n");
}

static void zsh_option(hpt_text *out, const char *dashes, const char *name, const hpt_option *option) {
    hpt_text_printf(out, " \\\n    '%s%s[", dashes, name);
    add_quoted(out, option->help, "[]\\", "'\\''");
    hpt_text_puts(out, "]");
    if (option->argument) {
        hpt_text_puts(out, ":");
        add_quoted(out, option->argument, ":\\", "'\\''");
        hpt_text_puts(out, ":_files");
    }
    hpt_text_puts(out, "'");
}

static void zsh_command(hpt_text *out, const hpt_command *command, const option_set *set) {
    hpt_text_printf(out, "  %s) _arguments '--help[examples and options]'", command->name);
    for (size_t i = 0; i < set->count; i++) {
        const char letter[2] = {set->options[i].letter, '\0'};
        zsh_option(out, "--", set->options[i].name, &set->options[i]);
        if (letter[0]) zsh_option(out, "-", letter, &set->options[i]);
    }
    hpt_text_puts(out, " \\\n    '*:file:_files' ;;\n");
}

static const char zsh_end[] = "  esac\n}\n_heptane \"$@\"\n";

/* ---- fish: one line an option ---- */
static void fish_help(hpt_text *out, const char *text) {
    hpt_text_puts(out, " -d '");
    add_quoted(out, text, "\\", "\\'");
    hpt_text_puts(out, "'\n");
}

static void fish_begin(hpt_text *out) {
    for (size_t i = 0; i < hpt_command_count; i++) {
        hpt_text_printf(out, "complete -c heptane -n __fish_use_subcommand -f -a %s", hpt_commands[i].name);
        fish_help(out, hpt_commands[i].summary);
    }
}

static void fish_command(hpt_text *out, const hpt_command *command, const option_set *set) {
    for (size_t i = 0; i < set->count; i++) {
        const hpt_option *option = &set->options[i];
        hpt_text_printf(out, "complete -c heptane -n '__fish_seen_subcommand_from %s' -l %s", command->name,
                        option->name);
        if (option->letter) hpt_text_printf(out, " -s %c", option->letter);
        if (option->argument) hpt_text_puts(out, " -r");
        fish_help(out, option->help);
    }
    hpt_text_printf(out, "complete -c heptane -n '__fish_seen_subcommand_from %s' -l help", command->name);
    fish_help(out, "examples and options");
}

static const struct {
    const char *name;
    void (*begin)(hpt_text *out);
    void (*command)(hpt_text *out, const hpt_command *command, const option_set *set);
    const char *end;
} shells[] = {{"bash", bash_begin, bash_command, bash_end},
              {"zsh", zsh_begin, zsh_command, zsh_end},
              {"fish", fish_begin, fish_command, ""}};

hpt_status hpt_completion_make(hpt_text *out, const char *shell, hpt_error *error) {
    size_t s = 0;
    while (s < HPT_COUNT(shells) && strcmp(shells[s].name, shell) != 0) s++;
    if (s == HPT_COUNT(shells))
        return hpt_error_set(error, HPT_USAGE, shell, "There are completions for bash, zsh and fish only.");
    shells[s].begin(out);
    for (size_t i = 0; i < hpt_command_count; i++) {
        option_set set = {.count = 0};
        hpt_status status = hpt_usage_visit(&hpt_commands[i], collect, &set, error);
        if (status != HPT_OK) return status;
        shells[s].command(out, &hpt_commands[i], &set);
    }
    hpt_text_puts(out, shells[s].end);
    return out->failed ? hpt_error_set(error, HPT_NO_MEMORY, "", "Out of memory.") : HPT_OK;
}

hpt_status hpt_command_completion(int argc, char **argv, hpt_error *error) {
    bool helped;
    int first;
    const hpt_usage usage = {"completion",
                             "bash|zsh|fish",
                             "Prints the script that completes commands and options in a shell.",
                             "eval \"$(heptane completion bash)\"                   in ~/.bashrc\n"
                             "heptane completion fish | source                    in config.fish\n"
                             "heptane completion zsh > ~/.zfunc/_heptane          in a folder of $fpath",
                             1,
                             1,
                             NULL,
                             0};
    hpt_status status = hpt_options_parse(argc, argv, &usage, &first, &helped, error);
    if (status != HPT_OK || helped) return status;
    hpt_text script = {0};
    status = hpt_completion_make(&script, argv[first], error);
    if (status == HPT_OK) fwrite(script.data, 1, script.length, stdout);
    hpt_text_clear(&script);
    return status;
}
