#include "backend/backend.h"
#include <string.h>

static const hpt_backend *const backends[] = {
#define BACKEND(symbol) &symbol,
#include "backend/backends.def"
#undef BACKEND
};

const hpt_backend *hpt_backend_find(const char *name) {
    for (size_t i = 0; i < HPT_COUNT(backends); i++)
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    return NULL;
}
