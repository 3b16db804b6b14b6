#include "core.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

hpt_status hpt_file_read(char **out, size_t *length, const char *path, size_t limit, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text text = {0};
    bool standard = strcmp(path, "-") == 0;
    const char *where = standard ? "standard input" : path;
    FILE *file = standard ? stdin : fopen(path, "rb");
    HPT_FAIL_IF(!file, HPT_IO, where, "Cannot open the file: %s.", strerror(errno));
    char buffer[65536];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        HPT_FAIL_IF(text.length + got > limit, HPT_TOO_LARGE, where, "The file is larger than the limit of %zu bytes.",
                    limit);
        hpt_text_add(&text, buffer, got);
        HPT_FAIL_IF(text.failed, HPT_NO_MEMORY, where, "Out of memory after %zu bytes.", text.length);
    }
    HPT_FAIL_IF(ferror(file), HPT_IO, where, "Cannot read the file: %s.", strerror(errno));
    hpt_text_add(&text, "", 0);
    HPT_FAIL_IF(text.failed, HPT_NO_MEMORY, where, "Out of memory.");
    *out = text.data;
    *length = text.length;
    text = (hpt_text){0};
done:
    if (file && !standard) fclose(file);
    hpt_text_clear(&text);
    return status;
}

/* Files are written by readers of this lock: many at once, and one within another. */
static pthread_rwlock_t writing = PTHREAD_RWLOCK_INITIALIZER;
void hpt_files_hold(void) { pthread_rwlock_rdlock(&writing); }
void hpt_files_release(void) { pthread_rwlock_unlock(&writing); }
void hpt_files_finish(void) { pthread_rwlock_wrlock(&writing); }

/* A device or a pipe is written to, never replaced. */
static hpt_status write_special(const char *path, const char *bytes, size_t length, hpt_error *error) {
    FILE *file = fopen(path, "wb");
    if (!file) return hpt_error_set(error, HPT_IO, path, "Cannot open the file: %s.", strerror(errno));
    bool failed = fwrite(bytes, 1, length, file) != length;
    failed = fclose(file) != 0 || failed;
    return failed ? hpt_error_set(error, HPT_IO, path, "Cannot write the file: %s.", strerror(errno)) : HPT_OK;
}

static hpt_status write_and_rename(const char *name, const char *path, const char *bytes, size_t length,
                                   hpt_error *error) {
    hpt_status status = HPT_OK;
    FILE *file = NULL;
    hpt_text temporary = {0};
    hpt_text_printf(&temporary, "%s.XXXXXX", path);
    HPT_FAIL_IF(temporary.failed, HPT_NO_MEMORY, name, "Out of memory.");
    int descriptor = mkstemp(temporary.data);
    HPT_FAIL_IF(descriptor < 0, HPT_IO, name, "Cannot create the file: %s.", strerror(errno));
    file = fdopen(descriptor, "wb");
    HPT_FAIL_IF(!file, HPT_IO, name, "Cannot create the file: %s.", strerror(errno));
    HPT_FAIL_IF(fwrite(bytes, 1, length, file) != length || fflush(file) != 0, HPT_IO, name,
                "Cannot write the file: %s.", strerror(errno));
    mode_t mask = umask(0);
    umask(mask);
    HPT_FAIL_IF(fchmod(descriptor, 0666 & ~mask) != 0, HPT_IO, name, "Cannot set the file's mode: %s.",
                strerror(errno));
    int failed = fclose(file);
    file = NULL;
    HPT_FAIL_IF(failed || rename(temporary.data, path) != 0, HPT_IO, name, "Cannot write the file: %s.",
                strerror(errno));
done:
    if (file) fclose(file);
    if (status != HPT_OK && temporary.data) unlink(temporary.data);
    hpt_text_clear(&temporary);
    return status;
}

hpt_status hpt_file_write(const char *name, const char *bytes, size_t length, hpt_error *error) {
    hpt_status status;
    struct stat info;
    char *linked = realpath(name, NULL); /* a symbolic link stays one */
    const char *path = linked ? linked : name;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        status = write_special(name, bytes, length, error); /* not held: a pipe can block for ever */
    } else {
        hpt_files_hold();
        status = write_and_rename(name, path, bytes, length, error);
        hpt_files_release();
    }
    free(linked);
    return status;
}

hpt_status hpt_folder_create(const char *path, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_text part = {0};
    hpt_files_hold();
    for (size_t i = 0;; i++) {
        if ((path[i] == '/' && i > 0) || path[i] == '\0') {
            part.length = 0;
            hpt_text_add(&part, path, i);
            HPT_FAIL_IF(part.failed, HPT_NO_MEMORY, path, "Out of memory.");
            struct stat info;
            HPT_FAIL_IF(mkdir(part.data, 0777) != 0 &&
                            (errno != EEXIST || stat(part.data, &info) != 0 || !S_ISDIR(info.st_mode)),
                        HPT_IO, path, "Cannot create the folder: %s.", strerror(errno));
        }
        if (path[i] == '\0') break;
    }
done:
    hpt_files_release();
    hpt_text_clear(&part);
    return status;
}
