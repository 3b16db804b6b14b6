/* sandbox.c - the Lua state that templates run in */
#include "emit/sandbox.h"
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_TEMPLATE = 1 << 20,
    STEP_LIMIT = 2000000000, /* virtual instructions: minutes, where honest jobs take a second */
    STEP_CHUNK = 1000000
};

typedef struct sandbox_state {
    lua_State *lua;
    int64_t steps;
    char refusal_where[HPT_ERROR_WHERE];
    bool refused;
} sandbox_state;

const char *hpt_templates_folder(void) {
    return hpt_data_folder("templates", HPT_SOURCE_DIR "/templates", HPT_DATA_DIR "/templates");
}

static sandbox_state *sandbox_of(lua_State *lua) { return *(sandbox_state **)lua_getextraspace(lua); }

/* Pushes nothing; returns malloc'd text or raises a Lua error. */
static char *template_read(lua_State *lua, const char *path) {
    if (path[0] == '/' || strstr(path, "..")) luaL_error(lua, "\"%s\" is not a path inside the templates folder", path);
    hpt_text full = {0};
    hpt_error reason = {0};
    char *text = NULL;
    size_t length = 0;
    hpt_text_printf(&full, "%s/%s", hpt_templates_folder(), path);
    const hpt_status status =
        full.failed ? HPT_NO_MEMORY : hpt_file_read(&text, &length, full.data, LARGEST_TEMPLATE, &reason);
    hpt_text_clear(&full);
    if (status != HPT_OK) luaL_error(lua, "cannot read templates/%s: %s", path, reason.message);
    return text;
}

/* Compiles text; the chunk name makes messages start with "templates/PATH:LINE:". */
static void chunk_load(lua_State *lua, const char *text, const char *path) {
    char name[256];
    snprintf(name, sizeof name, "@templates/%s", path);
    if (luaL_loadbufferx(lua, text, strlen(text), name, "t") != LUA_OK) lua_error(lua);
}

static int lua_use(lua_State *lua) {
    const char *module = luaL_checkstring(lua, 1);
    luaL_getsubtable(lua, LUA_REGISTRYINDEX, "heptane.modules");
    if (lua_getfield(lua, -1, module) != LUA_TNIL) return 1;
    lua_pop(lua, 1);
    const char *path = lua_pushfstring(lua, "%s.lua", module);
    char *text = template_read(lua, path);
    /* kept by Lua from here on, so that an error does not leak it */
    lua_pushstring(lua, text);
    free(text);
    chunk_load(lua, lua_tostring(lua, -1), path);
    lua_call(lua, 0, 1);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -5, module);
    return 1;
}

static int lua_put(lua_State *lua) {
    hpt_text *out = lua_touserdata(lua, lua_upvalueindex(1));
    size_t length;
    const char *bytes = luaL_checklstring(lua, 1, &length);
    hpt_text_add(out, bytes, length);
    return 0;
}

/* What $(...) accepts: anything else is a mistake in the template. */
static int lua_value(lua_State *lua) {
    const int type = lua_type(lua, 1);
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
        return luaL_error(lua, "$(...) needs a string or a number, this is a %s value", luaL_typename(lua, 1));
    luaL_tolstring(lua, 1, NULL);
    return 1;
}

static int text_release(lua_State *lua) {
    hpt_text_clear(lua_touserdata(lua, 1));
    return 0;
}

static hpt_text *text_push(lua_State *lua) {
    hpt_text *text = lua_newuserdatauv(lua, sizeof *text, 0);
    *text = (hpt_text){0};
    if (luaL_newmetatable(lua, "heptane.text")) {
        lua_pushcfunction(lua, text_release);
        lua_setfield(lua, -2, "__gc");
    }
    lua_setmetatable(lua, -2);
    return text;
}

static int lua_render(lua_State *lua) {
    const char *path = luaL_checkstring(lua, 1);
    luaL_checktype(lua, 2, LUA_TTABLE);
    hpt_text *out = text_push(lua), *chunk = text_push(lua);
    char *text = template_read(lua, path);
    hpt_template_translate(chunk, text);
    free(text);
    if (chunk->failed) return luaL_error(lua, "out of memory");
    chunk_load(lua, chunk->data ? chunk->data : "", path);
    /* the template's variables: `values`, then the globals */
    lua_newtable(lua);
    lua_pushlightuserdata(lua, out);
    lua_pushcclosure(lua, lua_put, 1);
    lua_setfield(lua, -2, "_put");
    lua_pushcfunction(lua, lua_value);
    lua_setfield(lua, -2, "_value");
    lua_pushvalue(lua, 2);
    lua_setfield(lua, -2, "values");
    lua_newtable(lua);
    lua_pushvalue(lua, 2);
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);
    if (!lua_getmetatable(lua, 2)) { /* values fall back to the globals */
        lua_newtable(lua);
        lua_pushglobaltable(lua);
        lua_setfield(lua, -2, "__index");
        lua_setmetatable(lua, 2);
    } else {
        lua_pop(lua, 1);
    }
    lua_setupvalue(lua, -2, 1); /* _ENV */
    lua_call(lua, 0, 0);
    if (out->failed) return luaL_error(lua, "out of memory");
    /* without its last newline, so that $(render(...)) on a line of its own adds one, not two */
    const size_t length = out->length && out->data[out->length - 1] == '\n' ? out->length - 1 : out->length;
    lua_pushlstring(lua, out->data ? out->data : "", length);
    return 1;
}

static int lua_refuse(lua_State *lua) {
    sandbox_state *sandbox = sandbox_of(lua);
    sandbox->refused = true;
    snprintf(sandbox->refusal_where, sizeof sandbox->refusal_where, "%s", luaL_optstring(lua, 2, ""));
    lua_pushvalue(lua, 1);
    return lua_error(lua);
}

/* pairs() in key order: numbers first, then strings. Lua's own order depends on a random seed. */
static const char ordered_pairs[] =
    "local next, sort = next, table.sort return function(t) local keys = {} for k in next, t do keys[#keys + 1] = k "
    "end "
    "sort(keys, function(a, b) local x, y = type(a), type(b) "
    "if x ~= y then return x < y end return a < b end) "
    "local i = 0 return function() i = i + 1 local k = keys[i] if k ~= nil then return k, t[k] end end end";

static void on_steps(lua_State *lua, lua_Debug *debug) {
    (void)debug;
    sandbox_state *sandbox = sandbox_of(lua);
    sandbox->steps += STEP_CHUNK;
    if (sandbox->steps > STEP_LIMIT) luaL_error(lua, "stopped: this template seems to run for ever");
}

static void libraries_open(lua_State *lua) {
    static const struct {
        const char *name;
        lua_CFunction open;
    } libraries[] = {{"_G", luaopen_base},
                     {"string", luaopen_string},
                     {"table", luaopen_table},
                     {"math", luaopen_math},
                     {"utf8", luaopen_utf8}};
    static const char *const removed[] = {"load", "loadfile", "dofile", "print", "collectgarbage", "next", "warn"};
    for (size_t i = 0; i < HPT_COUNT(libraries); i++) {
        luaL_requiref(lua, libraries[i].name, libraries[i].open, 1);
        lua_pop(lua, 1);
    }
    if (luaL_loadbufferx(lua, ordered_pairs, sizeof ordered_pairs - 1, "=pairs", "t") != LUA_OK) lua_error(lua);
    lua_call(lua, 0, 1);
    lua_setglobal(lua, "pairs");
    lua_pushcfunction(lua, lua_use);
    lua_setglobal(lua, "use");
    lua_pushcfunction(lua, lua_render);
    lua_setglobal(lua, "render");
    lua_pushcfunction(lua, lua_refuse);
    lua_setglobal(lua, "refuse");
    lua_getglobal(lua, "string");
    lua_pushnil(lua);
    lua_setfield(lua, -2, "dump");
    lua_getglobal(lua, "math");
    lua_pushnil(lua);
    lua_setfield(lua, -2, "random");
    lua_pushnil(lua);
    lua_setfield(lua, -2, "randomseed");
    lua_pop(lua, 2);
    for (size_t i = 0; i < HPT_COUNT(removed); i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, removed[i]);
    }
}

/* Runs inside lua_pcall: module name and JSON argument are light userdata. */
static int job(lua_State *lua) {
    const char *module = lua_touserdata(lua, 1);
    const json_t *argument = lua_touserdata(lua, 2);
    json_t **out = lua_touserdata(lua, 3);
    libraries_open(lua);
    lua_sethook(lua, on_steps, LUA_MASKCOUNT, STEP_CHUNK);
    lua_getglobal(lua, "use");
    lua_pushstring(lua, module);
    lua_call(lua, 1, 1);
    if (lua_isfunction(lua, -1)) {
        hpt_lua_push_json(lua, argument);
        lua_call(lua, 1, 1);
    }
    *out = hpt_lua_to_json(lua, lua_gettop(lua), 0);
    if (!*out) return luaL_error(lua, "templates/%s.lua: returns something that JSON cannot hold", module);
    return 0;
}

/* "templates/x.tmpl:12: why" becomes where and message. */
static hpt_status lua_failure(const sandbox_state *sandbox, const char *message, hpt_error *error) {
    if (!message) message = "the template failed without a message";
    if (sandbox->refused) return hpt_error_set(error, HPT_USAGE, sandbox->refusal_where, "%s", message);
    const char *colon = strncmp(message, "templates/", 10) == 0 ? strchr(message, ':') : NULL;
    const char *second = colon ? strchr(colon + 1, ':') : NULL;
    if (!second) return hpt_error_set(error, HPT_TEMPLATE, "", "%s", message);
    char where[HPT_ERROR_WHERE];
    snprintf(where, sizeof where, "%.*s", (int)(second - message), message);
    return hpt_error_set(error, HPT_TEMPLATE, where, "%s.", second[1] == ' ' ? second + 2 : second + 1);
}

hpt_status hpt_sandbox_run(json_t **out, const char *module, const json_t *argument, hpt_error *error) {
    hpt_status status = HPT_OK;
    sandbox_state sandbox = {0};
    *out = NULL;
    sandbox.lua = luaL_newstate();
    HPT_FAIL_NO_MEMORY(sandbox.lua);
    *(sandbox_state **)lua_getextraspace(sandbox.lua) = &sandbox;
    lua_pushcfunction(sandbox.lua, job);
    lua_pushlightuserdata(sandbox.lua, (void *)(uintptr_t)module);
    lua_pushlightuserdata(sandbox.lua, (void *)(uintptr_t)argument);
    lua_pushlightuserdata(sandbox.lua, out);
    if (lua_pcall(sandbox.lua, 3, 0, 0) != LUA_OK) status = lua_failure(&sandbox, lua_tostring(sandbox.lua, -1), error);
done:
    if (sandbox.lua) lua_close(sandbox.lua);
    return status;
}
