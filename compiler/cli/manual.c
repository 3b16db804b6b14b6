/* heptane manual: manual pages, made from the tables that parse the options. */
#include "usage.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

hpt_status hpt_command_manual(int argc, char **argv, hpt_error *error);

enum { NO_LIMIT = 1 << 30 }; /* larger upper ends of a range only keep numbers sane and are not worth a word */

typedef struct entry {
    const char *name, *text;
} entry;

static const entry exits[] = {
    {"0", "done, or yes"},
    {"1", "a negative answer: refuted, not found, or a result that differs from the reference"},
    {"2", "wrong usage"},
    {"3", "bad input: malformed, lying or unsupported; the message names file, place and reason"},
    {"4", "input or output failed"},
    {"5", "no device, driver or NVRTC"},
    {"6", "a kernel did not compile or load, or the emulator found a fault in it"},
    {"7", "undecided: only numerically correct, or a limit reached where a proof was asked for"},
    {"130", "interrupted; partial results are saved"},
};

static const entry variables[] = {
    {"HEPTANE_CACHE",
     "folder of the compiled kernels, or off (default $XDG_CACHE_HOME/heptane, else ~/.cache/heptane)"},
    {"HEPTANE_NVRTC", "the NVRTC library, or the folder that holds it; then no other is looked for"},
    {"HEPTANE_LIBCUDA", "the CUDA driver library (default libcuda.so.1)"},
    {"HEPTANE_CUBLASLT", "the cuBLASLt library of heptane bench"},
    {"HEPTANE_EMULATOR_SEED", "order of warps and asynchronous operations in the emulator (default 1)"},
    {"HEPTANE_EMULATOR_SMS", "multiprocessors of the emulated device (default 4)"},
    {"CUDA_HOME", "the CUDA toolkit, where NVRTC and cuBLASLt are looked for"},
    {"CUDA_PATH", "as CUDA_HOME"},
    {"VIRTUAL_ENV", "an active Python environment, where the wheel nvidia-cuda-nvrtc is looked for; as is ~/.local"},
    {"TMPDIR", "where heptane run puts the kernels that it emits (default /tmp)"},
};

/* ---- roff ---- */
static void add_text(hpt_text *out, const char *text, size_t length) {
    if (length > 0 && (*text == '.' || *text == '\'')) hpt_text_puts(out, "\\&");
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            hpt_text_puts(out, "\\e");
        else if (text[i] == '-')
            hpt_text_puts(out, "\\-");
        else if (text[i] == '\'')
            hpt_text_puts(out, "\\(aq");
        else if (text[i] == '^')
            hpt_text_puts(out, "\\(ha");
        else if (text[i] == '~')
            hpt_text_puts(out, "\\(ti");
        else
            hpt_text_add(out, &text[i], 1);
    }
}

static void add(hpt_text *out, const char *text) { add_text(out, text, strlen(text)); }

static void add_item(hpt_text *out, const char *name, const char *text) {
    hpt_text_puts(out, ".TP\n\\fB");
    add(out, name);
    hpt_text_puts(out, "\\fR\n");
    add(out, text);
    hpt_text_puts(out, "\n");
}

static void add_title(hpt_text *out, const char *page, const char *summary) {
    hpt_text_printf(out, ".TH \"%s\" 1 \"\" \"Heptane %s\" \"Heptane\"\n.SH NAME\n", page, HPT_VERSION);
    add(out, page);
    hpt_text_puts(out, " \\- ");
    add(out, summary);
    hpt_text_puts(out, "\n");
}

static void add_list(hpt_text *out, const char *heading, const entry *list, size_t count) {
    hpt_text_printf(out, ".SH %s\n", heading);
    for (size_t i = 0; i < count; i++) add_item(out, list[i].name, list[i].text);
}

/* ---- the page of one subcommand: its table, then those of operations with options of their own ---- */
static void add_options(hpt_text *out, const hpt_usage *usage) {
    for (size_t i = 0; i < usage->option_count; i++) {
        const hpt_option *option = &usage->options[i];
        char line[96];
        hpt_usage_option(line, sizeof line, option);
        add_item(out, line, option->help);
        if (option->kind == HPT_OPTION_INTEGER && option->high > 0 && option->high < NO_LIMIT)
            hpt_text_printf(out, "(%lld to %lld)\n", (long long)option->low, (long long)option->high);
    }
    add_item(out, "-h, --help", "Prints examples and options.");
}

static void add_examples(hpt_text *out, const char *examples) {
    hpt_text_puts(out, ".PP\n.nf\n");
    for (const char *line = examples; *line;) {
        size_t length = strcspn(line, "\n");
        add_text(out, line, length);
        hpt_text_puts(out, "\n");
        line += length + (line[length] != '\0');
    }
    hpt_text_puts(out, ".fi\n");
}

static void add_usage(const hpt_usage *usage, void *user) {
    hpt_text *out = user;
    const char *further = strchr(usage->name, ' '); /* "run --op mlp" */
    hpt_text_puts(out, further ? ".SH \"" : ".SH SYNOPSIS\n.B heptane ");
    if (further) {
        add(out, "WITH");
        add(out, further);
        hpt_text_puts(out, "\"\n.B heptane ");
    }
    add(out, usage->name);
    hpt_text_puts(out, "\n");
    add(out, usage->arguments);
    hpt_text_puts(out, further ? "\n.PP\n" : "\n.SH DESCRIPTION\n");
    add(out, usage->summary);
    hpt_text_puts(out, further ? "\n" : "\n.SH EXAMPLES");
    hpt_text_puts(out, "\n");
    add_examples(out, usage->examples);
    if (!further) hpt_text_puts(out, ".SH OPTIONS\n");
    add_options(out, usage);
}

static hpt_status command_page(hpt_text *out, const hpt_command *command, hpt_error *error) {
    char page[64];
    snprintf(page, sizeof page, "heptane-%s", command->name);
    add_title(out, page, command->summary);
    hpt_status status = hpt_usage_visit(command, add_usage, out, error);
    hpt_text_puts(out, ".SH \"EXIT STATUS\"\nAs in heptane(1).\n.SH \"SEE ALSO\"\nheptane(1)\n");
    return status;
}

static void main_page(hpt_text *out) {
    add_title(out, "heptane", "compiler for low-complexity matrix multiplication");
    hpt_text_puts(out, ".SH SYNOPSIS\n.B heptane\n.I COMMAND\n[arguments]\n.SH DESCRIPTION\n");
    add(out,
        "Reads a scheme for matrix multiplication from any file, proves it correct, finds the chaining of its products "
        "with the fewest writes to memory, emits CUDA kernels, and runs them on a GPU or in an emulator.\n"
        "Wherever a scheme FILE is wanted, it can be a file of any known format, FILE#MEMBER of an archive, FILE#K for "
        "the K-th scheme of a file, - for standard input, or a name of the catalogue (strassen, 3x3x3:23); a file of "
        "that name comes first.\n");
    hpt_text_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < hpt_command_count; i++) {
        char page[64];
        snprintf(page, sizeof page, "heptane-%s(1)", hpt_commands[i].name);
        add_item(out, page, hpt_commands[i].summary);
    }
    add_list(out, "\"EXIT STATUS\"", exits, HPT_COUNT(exits));
    add_list(out, "ENVIRONMENT", variables, HPT_COUNT(variables));
}

/* ---- everything that an installation wants, as one tree below share/ ---- */
static hpt_status write_below(const char *folder, const char *below, const char *name, const hpt_text *text,
                              hpt_error *error) {
    hpt_status status = HPT_OK;
    char path[PATH_MAX];
    HPT_FAIL_IF(text->failed, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_FAIL_IF((size_t)snprintf(path, sizeof path, "%s/%s", folder, below) >= sizeof path - 64, HPT_IO, folder,
                "The path is too long.");
    HPT_TRY(hpt_folder_create(path, error));
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
    HPT_TRY(hpt_file_write(path, text->data, text->length, error));
done:
    return status;
}

static hpt_status write_page(const char *folder, const hpt_command *command, hpt_error *error) {
    hpt_text page = {0};
    char name[64] = "heptane.1";
    hpt_status status = HPT_OK;
    if (command)
        HPT_TRY(command_page(&page, command, error));
    else
        main_page(&page);
    if (command) snprintf(name, sizeof name, "heptane-%s.1", command->name);
    HPT_TRY(write_below(folder, "man/man1", name, &page, error));
done:
    hpt_text_clear(&page);
    return status;
}

static hpt_status write_completion(const char *folder, const char *shell, const char *below, const char *name,
                                   hpt_error *error) {
    hpt_text script = {0};
    hpt_status status = hpt_completion_make(&script, shell, error);
    if (status == HPT_OK) status = write_below(folder, below, name, &script, error);
    hpt_text_clear(&script);
    return status;
}

static hpt_status write_all(const char *folder, hpt_error *error) {
    hpt_status status = HPT_OK;
    HPT_TRY(write_page(folder, NULL, error));
    for (size_t i = 0; i < hpt_command_count; i++) HPT_TRY(write_page(folder, &hpt_commands[i], error));
    HPT_TRY(write_completion(folder, "bash", "bash-completion/completions", "heptane", error));
    HPT_TRY(write_completion(folder, "zsh", "zsh/site-functions", "_heptane", error));
    HPT_TRY(write_completion(folder, "fish", "fish/vendor_completions.d", "heptane.fish", error));
done:
    return status;
}

hpt_status hpt_command_manual(int argc, char **argv, hpt_error *error) {
    hpt_status status = HPT_OK;
    bool helped;
    int first;
    const char *all = NULL;
    hpt_text page = {0};
    const hpt_option options[] = {{"all", 0, HPT_OPTION_TEXT, &all, "DIR",
                                   "write every page and shell completion below DIR, as in share/", 0, 0}};
    const hpt_usage usage = {"manual",
                             "[COMMAND] [--all DIR]",
                             "Prints a manual page: of a command, else of heptane itself.",
                             "heptane manual run | man -l -     reads one\n"
                             "heptane manual --all share        all of them, and completions for bash, zsh and fish",
                             0,
                             1,
                             options,
                             HPT_COUNT(options)};
    HPT_TRY(hpt_options_parse(argc, argv, &usage, &first, &helped, error));
    if (helped) goto done;
    if (all) {
        HPT_TRY(write_all(all, error));
        goto done;
    }
    const hpt_command *command = first < argc ? hpt_command_find(argv[first]) : NULL;
    HPT_FAIL_IF(first < argc && !command, HPT_USAGE, argv[first],
                "There is no such command (heptane --help lists them).");
    if (command)
        HPT_TRY(command_page(&page, command, error));
    else
        main_page(&page);
    HPT_FAIL_IF(page.failed, HPT_NO_MEMORY, "", "Out of memory.");
    fwrite(page.data, 1, page.length, stdout);
done:
    hpt_text_clear(&page);
    return status;
}
