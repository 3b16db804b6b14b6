#include "jit/build.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hpt_build_clear(hpt_build *build) {
    free(build->cubin);
    free(build->ptx);
    free(build->log);
    *build = (hpt_build){0};
}

/* The number before `word` on this line, -1 if the word is not there. */
static int64_t number_before(const char *line, size_t length, const char *word) {
    const char *at = memmem(line, length, word, strlen(word));
    if (!at) return -1;
    while (at > line && at[-1] == ' ') at--;
    const char *end = at;
    while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
    return at == end ? -1 : strtoll(at, NULL, 10);
}

void hpt_build_read_log(hpt_build *build) {
    build->registers = -1;
    build->spill_stores = build->spill_loads = 0;
    if (!build->log) return;
    for (const char *line = build->log; *line;) {
        size_t length = strcspn(line, "\n");
        int64_t registers = number_before(line, length, "registers");
        int64_t stores = number_before(line, length, "bytes spill stores");
        int64_t loads = number_before(line, length, "bytes spill loads");
        if (memmem(line, length, "Used", 4) && registers > build->registers) build->registers = registers;
        if (stores > 0) build->spill_stores += stores;
        if (loads > 0) build->spill_loads += loads;
        line += length + (line[length] == '\n');
    }
}

bool hpt_build_serialised(const hpt_build *build) {
    return build->log && strstr(build->log, "wgmma") && strstr(build->log, "serialized");
}

int hpt_ptx_version(const char *ptx) {
    for (const char *line = ptx; *line;) {
        int major, minor;
        if (sscanf(line, " .version %d.%d", &major, &minor) == 2 && major > 0 && major < 100 && minor >= 0 &&
            minor < 10)
            return 10 * major + minor;
        if (strstr(line, ".version") == NULL) return 0;
        line += strcspn(line, "\n");
        if (*line) line++;
    }
    return 0;
}

/* PTX ISA release notes: "PTX ISA version and supported CUDA". 9.x is CUDA 13.x; 8.x by table. */
int hpt_ptx_needs_cuda(int ptx_version) {
    static const struct {
        int ptx, cuda;
    } table[] = {{78, 11080}, {80, 12000}, {81, 12010}, {82, 12020}, {83, 12030},
                 {84, 12040}, {85, 12050}, {86, 12070}, {87, 12080}, {88, 12090}};
    if (ptx_version >= 90) return 1000 * (ptx_version / 10 + 4) + 10 * (ptx_version % 10);
    for (size_t i = 0; i < HPT_COUNT(table); i++)
        if (ptx_version <= table[i].ptx) return table[i].cuda;
    return 12090;
}
