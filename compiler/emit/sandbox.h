/* sandbox.h - Lua for templates, kept away from everything but its own text. Promises:
 *   - no io, os, debug, package or bytecode; files come only from the templates folder, through use() and render().
 *   - equal input gives equal output: pairs() goes through keys in order, and there is no clock and no random number.
 *   - values cross the border as JSON, in both directions.
 *   - a failure names the template and its line ("templates/kernels/gemm/wgmma.cu.tmpl:12"); an endless loop is
 * stopped. What Lua code finds besides the string, table, math and utf8 libraries: use(name)              the value
 * that templates/NAME.lua returns (run once) render(path, values)   the text of a template without its last newline;
 * `values` are its variables refuse(message, where) ends the job: the caller asked for something that cannot be (usage,
 * not a bug in a template) Template language: a line whose first character that is not blank is `@` is Lua; elsewhere
 * $(expression) puts a string or number into the text.
 */
#ifndef HPT_SANDBOX_H
#define HPT_SANDBOX_H

#include "core.h"
#include <jansson.h>

/* Runs templates/MODULE.lua. If it returns a function, calls it with `argument` (borrowed, may be NULL). The value goes
 * to *out, a new reference. */
hpt_status hpt_sandbox_run(json_t **out, const char *module, const json_t *argument, hpt_error *error);

/* Where templates are: the source tree's folder if it is there, else the installed one. */
const char *hpt_templates_folder(void);

/* Turns a template into a Lua chunk with the same line numbers (template.c). */
void hpt_template_translate(hpt_text *out, const char *text);

struct lua_State;
/* Lua stack <-> JSON (value.c). hpt_lua_to_json pops nothing; NULL if the value has no JSON form. */
void hpt_lua_push_json(struct lua_State *lua, const json_t *value);
json_t *hpt_lua_to_json(struct lua_State *lua, int index, int depth);

#endif
