/* Finds the file behind a name, the format behind its content, and the ring behind its coefficients. */
#include "formats/archive.h"
#include "formats/catalogue.h"
#include "formats/formats.h"
#include "formats/permuted.h"
#include "formats/settle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT(name, summary, detect, read, write)                                                                     \
    int detect(const hpt_input *source);                                                                               \
    hpt_status read(hpt_scheme **out, const hpt_input *source, hpt_error *error);
#include "formats/formats.def"
#undef FORMAT
#include "formats/writers.h"

static const hpt_format formats[] = {
#define FORMAT(name, summary, detect, read, write) {name, summary, detect, read, write},
#include "formats/formats.def"
#undef FORMAT
};

const hpt_format *hpt_format_at(size_t i) { return i < HPT_COUNT(formats) ? &formats[i] : NULL; }

const hpt_format *hpt_format_find(const char *name) {
    for (size_t i = 0; i < HPT_COUNT(formats); i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

static void list_formats(hpt_text *out) {
    for (size_t i = 0; i < HPT_COUNT(formats); i++) hpt_text_printf(out, "%s%s", i ? ", " : "", formats[i].name);
}

static hpt_status choose_format(const hpt_format **out, const hpt_input *source, hpt_error *error) {
    int best = 0;
    *out = NULL;
    if (source->options->format) {
        *out = hpt_format_find(source->options->format);
        if (*out) return HPT_OK;
        hpt_text all = {0};
        list_formats(&all);
        hpt_error_set(error, HPT_USAGE, "--from", "There is no format \"%.40s\"; there are %s.",
                      source->options->format, all.failed ? "others" : all.data);
        hpt_text_clear(&all);
        return HPT_USAGE;
    }
    for (size_t i = 0; i < HPT_COUNT(formats); i++) {
        int score = formats[i].detect(source);
        if (score > best) {
            best = score;
            *out = &formats[i];
        }
    }
    if (*out) return HPT_OK;
    return hpt_error_set(error, HPT_MALFORMED, source->path, "This is not a scheme in any format that Heptane knows.");
}

hpt_status hpt_reader_start(hpt_builder **out, const hpt_input *source, const char *format, int64_t n, int64_t m,
                            int64_t p, int64_t rank, const char *ring, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_ring record;
    hpt_ring_init(&record);
    HPT_TRY(hpt_ring_parse(&record, ring ? ring : "Q", source->path, error));
    HPT_TRY(hpt_builder_create(out, n, m, p, rank, source->path, error));
    hpt_builder_set_ring(*out, &record, false);
    hpt_builder_set_text(*out, source->path, format, NULL, NULL);
    hpt_builder_watch(*out, source->options->progress);
done:
    hpt_ring_clear(&record);
    return status;
}

/* "FILE#MEMBER" where FILE exists and the whole name does not. */
static hpt_status split_member(char *path, const char **member) {
    char *mark = strrchr(path, '#');
    *member = NULL;
    if (!mark || access(path, F_OK) == 0) return HPT_OK;
    *mark = '\0';
    *member = mark + 1;
    return HPT_OK;
}

/* FILE#k of a file that holds one scheme is that scheme for k = 1 and an error for any other k. */
static hpt_status check_member(const hpt_format *format, const hpt_input *input, hpt_error *error) {
    static const char *const several[] = {"perminov-txt", "exact-json",
                                          "numpy-text"}; /* these look for it themselves */
    if (!input->member || strcmp(input->member, "1") == 0) return HPT_OK;
    for (size_t i = 0; i < HPT_COUNT(several); i++)
        if (strcmp(format->name, several[i]) == 0) return HPT_OK;
    return hpt_error_set(error, HPT_NOT_FOUND, input->path, "There is no scheme \"%.40s\"; the file holds one.",
                         input->member);
}

hpt_status hpt_input_read(hpt_scheme **out, const hpt_input *input, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_format *format;
    *out = NULL;
    HPT_TRY(choose_format(&format, input, error));
    HPT_TRY(check_member(format, input, error));
    HPT_TRY(format->read(out, input, error));
    const hpt_read_options *o = input->options;
    HPT_FAIL_IF(o->n && (o->n != (*out)->n || o->m != (*out)->m || o->p != (*out)->p), HPT_LIES, input->path,
                "The file holds a scheme for %d x %d x %d, not for %d x %d x %d.", (*out)->n, (*out)->m, (*out)->p,
                o->n, o->m, o->p);
    HPT_TRY(hpt_scheme_settle(out, input->options, error));
done:
    if (status != HPT_OK) {
        hpt_scheme_destroy(*out);
        *out = NULL;
    }
    return status;
}

hpt_status hpt_scheme_read(hpt_scheme **out, const char *name, const hpt_read_options *options, hpt_error *error) {
    hpt_status status = HPT_OK;
    static const hpt_read_options none = {0};
    char *typed = strdup(name), *found = NULL, *bytes = NULL, *inner_bytes = NULL, *inner_path = NULL;
    hpt_input source = {.options = options ? options : &none}, inner;
    hpt_scheme *scheme = NULL;
    *out = NULL;
    HPT_FAIL_NO_MEMORY(typed);
    split_member(typed, &source.member); /* points into `typed` */
    const char *path = typed;
    if (strcmp(path, "-") != 0 && access(path, F_OK) != 0) {
        status = hpt_catalogue_find(&found, path, error);
        if (status == HPT_NOT_FOUND && !source.member && hpt_permuted_read(out, path, source.options, NULL) == HPT_OK)
            status = HPT_OK;
        if (status != HPT_OK || *out) goto done;
        path = found;
    }
    HPT_TRY(hpt_file_read(&bytes, &source.length, path, HPT_FILE_LIMIT, error));
    source.path = path;
    source.bytes = bytes;
    HPT_TRY(hpt_archive_unpack(&inner, &inner_bytes, &inner_path, &source, error));
    HPT_TRY(hpt_input_read(&scheme, &inner, error));
    *out = scheme;
    scheme = NULL;
done:
    hpt_scheme_destroy(scheme);
    free(inner_path);
    free(inner_bytes);
    free(bytes);
    free(found);
    free(typed);
    return status;
}

hpt_status hpt_scheme_write(char **text, size_t *length, const hpt_scheme *scheme, const char *name, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_format *format = hpt_format_find(name ? name : "heptane");
    hpt_text out = {0};
    HPT_FAIL_IF(!format, HPT_USAGE, "--to", "There is no format \"%.40s\".", name);
    HPT_FAIL_IF(!format->write, HPT_USAGE, "--to", "The format %s is read but not written.", name);
    HPT_TRY(format->write(&out, scheme, error));
    HPT_FAIL_IF(out.failed, HPT_NO_MEMORY, "", "Out of memory.");
    *text = out.data;
    *length = out.length;
    out = (hpt_text){0};
done:
    hpt_text_clear(&out);
    return status;
}
