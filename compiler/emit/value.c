/* value.c - JSON values on the Lua stack and back. Integers stay integers; an empty table is an empty array. */
#include "emit/sandbox.h"
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

void hpt_lua_push_json(lua_State *lua, const json_t *value) {
    luaL_checkstack(lua, 8, "JSON too deep");
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT: {
        const char *key;
        json_t *item;
        lua_newtable(lua);
        json_object_foreach((json_t *)(uintptr_t)value, key, item) {
            hpt_lua_push_json(lua, item);
            lua_setfield(lua, -2, key);
        }
        break;
    }
    case JSON_ARRAY:
        lua_createtable(lua, (int)json_array_size(value), 0);
        for (size_t i = 0; i < json_array_size(value); i++) {
            hpt_lua_push_json(lua, json_array_get(value, i));
            lua_rawseti(lua, -2, (lua_Integer)i + 1);
        }
        break;
    case JSON_STRING:
        lua_pushlstring(lua, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        lua_pushinteger(lua, json_integer_value(value));
        break;
    case JSON_REAL:
        lua_pushnumber(lua, json_real_value(value));
        break;
    case JSON_TRUE:
        lua_pushboolean(lua, 1);
        break;
    case JSON_FALSE:
        lua_pushboolean(lua, 0);
        break;
    default:
        lua_pushnil(lua);
    }
}

static json_t *array_from(lua_State *lua, int index, lua_Integer length, int depth) {
    json_t *array = json_array();
    for (lua_Integer i = 1; i <= length; i++) {
        lua_rawgeti(lua, index, i);
        json_t *item = hpt_lua_to_json(lua, lua_gettop(lua), depth);
        lua_pop(lua, 1);
        if (!item || json_array_append_new(array, item) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static int compare_keys(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Lua walks a table in an order that changes from run to run; what leaves it is sorted. */
static json_t *object_sorted(json_t *object) {
    const size_t count = json_object_size(object);
    const char **keys = malloc((count + 1) * sizeof *keys), *key;
    json_t *sorted = json_object(), *item;
    size_t used = 0;
    if (!keys || !sorted) {
        json_decref(sorted);
        sorted = NULL;
        goto done;
    }
    json_object_foreach(object, key, item) keys[used++] = key;
    qsort(keys, used, sizeof *keys, compare_keys);
    for (size_t i = 0; i < used; i++) json_object_set(sorted, keys[i], json_object_get(object, keys[i]));
done:
    free(keys);
    json_decref(object);
    return sorted;
}

static json_t *object_from(lua_State *lua, int index, int depth) {
    json_t *object = json_object();
    lua_pushnil(lua);
    while (lua_next(lua, index)) {
        json_t *item = lua_type(lua, -2) == LUA_TSTRING ? hpt_lua_to_json(lua, lua_gettop(lua), depth) : NULL;
        if (!item || json_object_set_new(object, lua_tostring(lua, -2), item) != 0) {
            lua_pop(lua, 2);
            json_decref(object);
            return NULL;
        }
        lua_pop(lua, 1);
    }
    return object_sorted(object);
}

json_t *hpt_lua_to_json(lua_State *lua, int index, int depth) {
    if (depth > DEEPEST || !lua_checkstack(lua, 8)) return NULL;
    switch (lua_type(lua, index)) {
    case LUA_TBOOLEAN:
        return json_boolean(lua_toboolean(lua, index));
    case LUA_TSTRING: {
        size_t length;
        const char *text = lua_tolstring(lua, index, &length);
        return json_stringn(text, length);
    }
    case LUA_TNUMBER:
        if (lua_isinteger(lua, index)) return json_integer(lua_tointeger(lua, index));
        return isfinite(lua_tonumber(lua, index)) ? json_real(lua_tonumber(lua, index)) : NULL;
    case LUA_TTABLE: {
        const lua_Integer length = (lua_Integer)lua_rawlen(lua, index);
        bool empty = true;
        lua_pushnil(lua);
        if (lua_next(lua, index)) {
            lua_pop(lua, 2);
            empty = false;
        }
        return length > 0 || empty ? array_from(lua, index, length, depth + 1) : object_from(lua, index, depth + 1);
    }
    default:
        return NULL;
    }
}
