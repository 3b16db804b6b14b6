#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 28 };

typedef struct lines {
    char **line;
    int count, at;
} lines;

static lines read_lines(const char *path) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "heptane-check: cannot open %s.\n", path);
        exit(4);
    }
    size_t length = 0, capacity = 1 << 16;
    char *bytes = need(capacity, 1);
    for (size_t got; (got = fread(bytes + length, 1, capacity - length - 1, file)) > 0;) {
        length += got;
        if (length >= MOST_BYTES) refuse("%s is too large.", path);
        if (length + 1 < capacity) continue;
        bytes = realloc(bytes, capacity *= 2);
        if (!bytes) exit(4);
    }
    fclose(file);
    bytes[length] = '\0';
    if (strlen(bytes) != length) refuse("%s holds a zero byte.", path);
    lines all = {0};
    for (char *c = bytes; *c; c++) all.count += *c == '\n';
    all.line = need((size_t)all.count + 2, sizeof *all.line);
    all.count = 0;
    for (char *c = bytes; *c;) {
        all.line[all.count++] = c;
        c += strcspn(c, "\n");
        if (*c) *c++ = '\0';
    }
    return all;
}

static char *next_line(lines *all) {
    if (all->at == all->count) reject("certificate: it is cut short.");
    return all->line[all->at++];
}

static long number_after(const char *line, const char *word, int line_number) {
    long value;
    int used = 0;
    char form[32];
    snprintf(form, sizeof form, "%s %%ld%%n", word);
    if (sscanf(line, form, &value, &used) != 1 || line[used] != '\0')
        refuse("Line %d is not \"%s NUMBER\".", line_number, word);
    return value;
}

/* "chain 3:1 5:-1 ..." */
static void read_chain(certificate *c, char *line, int rank, bool *used, int line_number) {
    int at = c->first[c->chains];
    char *save = NULL;
    for (char *word = strtok_r(line + strlen("chain"), " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *end;
        long product = strtol(word, &end, 10);
        if (*end != ':' || product < 1 || product > rank)
            refuse("Line %d: \"%s\" is no PRODUCT:SCALE.", line_number, word);
        if (used[product - 1]) reject("chain: product %ld is used twice.", product);
        used[product - 1] = true;
        if (!parse_number(c->scale[at], end + 1)) refuse("Line %d: \"%s\" is no rational scale.", line_number, end + 1);
        if (mpq_sgn(c->scale[at]) == 0) reject("chain: the scale of product %ld is zero.", product);
        c->product[at++] = (int)product - 1;
    }
    if (at == c->first[c->chains]) refuse("Line %d is an empty chain.", line_number);
    c->first[++c->chains] = at;
}

static void read_bound(certificate *c, lines *all, int rank) {
    char kind[16], *line = next_line(all);
    int used = 0;
    if (sscanf(line, "bound %ld %15s%n", &c->bound, kind, &used) != 2) refuse("Line %d is no bound.", all->at);
    c->distinct = strcmp(kind, "distinct") == 0;
    if (c->distinct) {
        if (line[used] != '\0') refuse("Line %d: something follows \"distinct\".", all->at);
        if (c->bound != rank) reject("bound: distinct rho prove %d writes, not %ld.", rank, c->bound);
        return;
    }
    int more = 0;
    if (strcmp(kind, "tree") != 0 || sscanf(line + used, " %ld%n", &c->unit, &more) != 1 || line[used + more] != '\0' ||
        c->unit < 1 || c->unit > 1000000000)
        refuse("Line %d: the bound is neither \"distinct\" nor \"tree UNIT\".", all->at);
    c->tree = all->line + all->at;
    c->first_tree_line = all->at + 1;
    while (all->at < all->count &&
           (strncmp(all->line[all->at], "leaf", 4) == 0 || strncmp(all->line[all->at], "branch ", 7) == 0)) {
        all->at++;
        c->tree_lines++;
    }
}

void certificate_read(certificate *c, const scheme *s, const char *path) {
    lines all = read_lines(path);
    bool *used = need((size_t)s->rank, sizeof *used);
    int n, m, p, rank, end = 0;
    if (strcmp(next_line(&all), "heptane-certificate 1") != 0) refuse("%s is not a certificate (version 1).", path);
    const char *line = next_line(&all);
    if (sscanf(line, "scheme %d %d %d %d%n", &n, &m, &p, &rank, &end) != 4 || line[end] != '\0')
        refuse("Line 2 is no shape.");
    if (n != s->n || m != s->m || p != s->p || rank != s->rank)
        reject("scheme: the certificate is for %dx%dx%d:%d, the scheme is %dx%dx%d:%d.", n, m, p, rank, s->n, s->m,
               s->p, s->rank);
    line = next_line(&all);
    if (sscanf(line, "digest %64[0-9a-f]%n", c->digest, &end) != 1 || line[end] != '\0' || strlen(c->digest) != 64)
        refuse("Line 3 is no digest.");
    c->writes = number_after(next_line(&all), "writes", all.at);
    c->first = need((size_t)rank + 1, sizeof *c->first);
    c->product = need((size_t)rank, sizeof *c->product);
    c->scale = need((size_t)rank, sizeof *c->scale);
    for (int t = 0; t < rank; t++) mpq_init(c->scale[t]);
    while (all.at < all.count && strncmp(all.line[all.at], "chain", 5) == 0)
        read_chain(c, next_line(&all), rank, used, all.at);
    for (int r = 0; r < rank; r++)
        if (!used[r]) reject("chain: product %d is in no chain.", r + 1);
    read_bound(c, &all, rank);
    if (strcmp(next_line(&all), "end") != 0) refuse("Line %d is not understood.", all.at);
    free(used);
}
