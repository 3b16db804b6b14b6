#include "formats/catalogue.h"
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *folder(void) {
    return hpt_data_folder("schemes", HPT_SOURCE_DIR "/schemes", HPT_DATA_DIR "/schemes");
}

/* n, m, p of ".../2x2x2/strassen.json", for sorting. */
static void shape_of(int shape[3], const char *path) {
    const char *slash = strrchr(path, '/');
    while (slash && slash > path && slash[-1] != '/') slash--;
    shape[0] = shape[1] = shape[2] = 0;
    if (slash) sscanf(slash, "%dx%dx%d", &shape[0], &shape[1], &shape[2]);
}

static int compare_paths(const void *left, const void *right) {
    const char *a = *(char *const *)left, *b = *(char *const *)right;
    int s[3], t[3];
    shape_of(s, a);
    shape_of(t, b);
    for (int i = 0; i < 3; i++)
        if (s[i] != t[i]) return s[i] < t[i] ? -1 : 1;
    return strverscmp(a, b);
}

hpt_status hpt_catalogue_list(char ***out, hpt_error *error) {
    hpt_status status = HPT_OK;
    glob_t found = {0};
    hpt_text pattern = {0};
    *out = NULL;
    hpt_text_printf(&pattern, "%s/*x*x*/*.json", folder());
    HPT_FAIL_IF(pattern.failed, HPT_NO_MEMORY, "", "Out of memory.");
    int failed = glob(pattern.data, 0, NULL, &found);
    HPT_FAIL_IF(failed && failed != GLOB_NOMATCH, HPT_IO, folder(), "Cannot list the catalogue.");
    char **paths = calloc(found.gl_pathc + 1, sizeof *paths);
    HPT_FAIL_NO_MEMORY(paths);
    *out = paths;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        paths[i] = strdup(found.gl_pathv[i]);
        HPT_FAIL_NO_MEMORY(paths[i]);
    }
    qsort(paths, found.gl_pathc, sizeof *paths, compare_paths);
done:
    if (status != HPT_OK) {
        hpt_catalogue_free(*out);
        *out = NULL;
    }
    globfree(&found);
    hpt_text_clear(&pattern);
    return status;
}

void hpt_catalogue_free(char **paths) {
    for (size_t i = 0; paths && paths[i]; i++) free(paths[i]);
    free(paths);
}

/* A file whose name is a rank (23.json, 23-additions.json) is named after its folder too: 3x3x3:23. */
char *hpt_catalogue_name(const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t length = strlen(base) - strlen(".json");
    hpt_text name = {0};
    int shape[3];
    shape_of(shape, path);
    if (base[0] >= '0' && base[0] <= '9') hpt_text_printf(&name, "%dx%dx%d:", shape[0], shape[1], shape[2]);
    hpt_text_add(&name, base, length);
    if (name.failed) hpt_text_clear(&name);
    return name.data;
}

hpt_status hpt_catalogue_find(char **out, const char *name, hpt_error *error) {
    hpt_status status = HPT_OK;
    char **paths = NULL;
    *out = NULL;
    HPT_FAIL_IF(strpbrk(name, "/.") != NULL, HPT_IO, name, "Cannot open the file: %s.", strerror(ENOENT));
    HPT_TRY(hpt_catalogue_list(&paths, error));
    for (size_t i = 0; paths[i] && !*out; i++) {
        char *this = hpt_catalogue_name(paths[i]);
        HPT_FAIL_NO_MEMORY(this);
        bool same = strcmp(this, name) == 0;
        free(this);
        if (!same) continue;
        *out = strdup(paths[i]);
        HPT_FAIL_NO_MEMORY(*out);
    }
    HPT_FAIL_IF(!*out, HPT_NOT_FOUND, name,
                "There is no such file, and no scheme of this name in the catalogue (heptane list shows them).");
done:
    hpt_catalogue_free(paths);
    return status;
}
