#include "usage.h"
#include <stdio.h>
#include <string.h>

/* Subcommands with a second table for one of their operations. */
static const struct { const char *command, *op; } variants[] = {{"run", "mlp"}, {"bench", "mlp"}, {"tune", "mlp"}};

static hpt_status visit(const hpt_command *command, const char *op, hpt_error *error) {
    char name[32], option[] = "--op", value[32], help[] = "--help";
    snprintf(name, sizeof name, "%s", command->name);
    snprintf(value, sizeof value, "%s", op ? op : "");
    char *with_op[] = {name, option, value, help, NULL}, *without[] = {name, help, NULL};
    return op ? command->run(4, with_op, error) : command->run(2, without, error);
}

hpt_status hpt_usage_visit(const hpt_command *command, hpt_usage_visitor visitor, void *user, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_usage_visitor before = hpt_help_visitor;
    void *const before_user = hpt_help_user;
    hpt_help_visitor = visitor;
    hpt_help_user = user;
    HPT_TRY(visit(command, NULL, error));
    for (size_t i = 0; i < HPT_COUNT(variants); i++)
        if (strcmp(variants[i].command, command->name) == 0) HPT_TRY(visit(command, variants[i].op, error));
done:
    hpt_help_visitor = before;
    hpt_help_user = before_user;
    return status;
}

void hpt_usage_option(char *out, size_t room, const hpt_option *option) {
    char letter[8] = "";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(out, room, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}
