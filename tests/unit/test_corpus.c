/* All files of the corpus beside the repository (../shared/schemes) against its index: verdict, shape, rank, ring and
 * convention, in one table on standard output. Skipped, saying so, where the corpus is absent. */
#include "core.h"
#include <heptane/scheme.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SKIP = 77, COLUMNS = 12 };
enum { FILE_NAME, REPOSITORY, LICENCE, FORMAT, N, M, P, RANK, RING, CONVENTION, VERIFIED, NOTE };

typedef struct expectation {
    const char *verdict, *ring, *convention;
} expectation;

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static const char *expected_ring(const char *text) {
    static const char *const table[][2] = {{"Q[x", "Q[x,1/x]"}, {"Q(i)", "Q(i)"}, {"Q(sqrt3)", "Q(sqrt(3))"},
                                           {"GF(2)", "GF(2)"},  {"Z", "Z"},       {"Q", "Q"}};
    for (size_t i = 0; i < HPT_COUNT(table); i++)
        if (starts(text, table[i][0])) return table[i][1];
    return "?";
}

static expectation expect(char **column) {
    expectation e = {"refused", expected_ring(column[RING]), "third factor transposed"};
    if (starts(column[VERIFIED], "exact") || starts(column[VERIFIED], "T + O")) e.verdict = "proved";
    if (starts(column[VERIFIED], "FAILS")) e.verdict = "refuted";
    if (starts(column[VERIFIED], "numerical")) e.verdict = "undecided";
    if (strstr(column[CONVENTION], "NOT transposed")) e.convention = "third factor not transposed";
    return e;
}

static const char *verdict_name(hpt_verdict verdict) {
    static const char *const names[] = {"proved", "refuted", "undecided"};
    return names[verdict];
}

/* "alphatensor/x.npz" and "npz member 2,2,3" -> BASE/alphatensor/x.npz#2,2,3; the first of several files. */
static void path_of(char *path, size_t room, const char *base, char **column) {
    static const char member[] = "npz member ";
    int length = (int)strcspn(column[FILE_NAME], " ");
    const char *plus = strstr(column[FILE_NAME], " + ");
    if (plus) length = (int)(plus - column[FILE_NAME]);
    const char *name = strstr(column[FORMAT], member);
    snprintf(path, room, "%s/%.*s%s%s", base, length, column[FILE_NAME], name ? "#" : "",
             name ? name + strlen(member) : "");
}

static bool check_row(const char *base, char **column) {
    char path[1024];
    hpt_scheme *s = NULL;
    hpt_verification v = {0};
    hpt_error error = {0};
    hpt_read_options reading = {.ring = strstr(column[FORMAT], "read naively") ? "Q" : NULL};
    expectation e = expect(column);
    path_of(path, sizeof path, base, column);
    hpt_status status = hpt_scheme_read(&s, path, &reading, &error);
    if (status == HPT_OK) status = hpt_scheme_verify(&v, s, &error);
    const char *verdict = status != HPT_OK ? "refused" : verdict_name(v.verdict);
    bool good = strcmp(verdict, e.verdict) == 0;
    if (status != HPT_OK) {
        good = good && hpt_status_exit_code(status) == 3 && error.where[0] && error.message[0];
        printf("%-4s %-44.44s %s: %s: %s\n", good ? "ok" : "BAD", column[FILE_NAME], verdict, error.where,
               error.message);
        return good;
    }
    good = good && hpt_scheme_n(s) == atoi(column[N]) && hpt_scheme_m(s) == atoi(column[M]) &&
           hpt_scheme_p(s) == atoi(column[P]) && hpt_scheme_rank(s) == atoi(column[RANK]);
    if (v.verdict != HPT_VERDICT_UNDECIDED) good = good && strcmp(v.ring, e.ring) == 0;
    good = good && strcmp(hpt_scheme_convention(s), e.convention) == 0;
    printf("%-4s %-44.44s %-9s %dx%dx%d:%d %-10s %s\n", good ? "ok" : "BAD", column[FILE_NAME], verdict,
           hpt_scheme_n(s), hpt_scheme_m(s), hpt_scheme_p(s), hpt_scheme_rank(s), v.ring, hpt_scheme_convention(s));
    hpt_scheme_destroy(s);
    return good;
}

int main(void) {
    static const char base[] = SOURCE_DIR "/../shared/schemes";
    static const char index[] = SOURCE_DIR "/../shared/schemes/INDEX.tsv";
    char *text = NULL;
    size_t length;
    int rows = 0, bad = 0;
    if (access(index, R_OK) != 0 || hpt_file_read(&text, &length, index, 1 << 24, NULL) != HPT_OK) {
        printf("skipped: there is no corpus beside the repository\n");
        return SKIP;
    }
    char *next = text;
    for (char *line; (line = strsep(&next, "\n"));) {
        char *column[COLUMNS] = {NULL};
        size_t count = 0;
        for (char *cell; count < COLUMNS && (cell = strsep(&line, "\t"));) column[count++] = cell;
        if (count < COLUMNS || strcmp(column[FILE_NAME], "file") == 0) continue;
        rows++;
        if (!check_row(base, column)) bad++;
    }
    free(text);
    printf("%d rows, %d bad\n", rows, bad);
    return bad > 0 || rows < 70;
}
