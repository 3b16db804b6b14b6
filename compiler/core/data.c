#include "core.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PARTS = 8, NAME = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char part[NAME], path[PATH_MAX + 64]; } found[PARTS];
static size_t found_count;

/* A program that was moved to another place with its data: PROGRAM's folder, then an installation's share/heptane. */
static bool look_beside_program(char *out, size_t room, const char *part) {
    static const char *const below[] = {"", "../share/heptane/"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (!slash) return false;
    slash[1] = '\0';
    for (size_t i = 0; i < HPT_COUNT(below); i++) {
        int used = snprintf(out, room, "%s%s%s", program, below[i], part);
        if (used > 0 && (size_t)used < room && access(out, R_OK | X_OK) == 0) return true;
    }
    return false;
}

const char *hpt_data_folder(const char *part, const char *source, const char *installed) {
    const char *out = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < found_count && !out; i++)
        if (strcmp(found[i].part, part) == 0) out = found[i].path;
    if (!out && found_count < PARTS) {
        snprintf(found[found_count].part, NAME, "%s", part);
        char *path = found[found_count].path;
        if (!look_beside_program(path, sizeof found->path, part))
            snprintf(path, sizeof found->path, "%s", access(source, R_OK | X_OK) == 0 ? source : installed);
        out = path;
        found_count++;
    }
    pthread_mutex_unlock(&lock);
    return out ? out : installed;
}
