#include "check.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one way out: what was read goes with the process, so nothing is given back piece by piece. */
static _Noreturn void finish(int code) {
    if (fflush(stdout) != 0) code = 4;
    _Exit(code);
}

static _Noreturn void leave(int code, const char *word, const char *format, va_list arguments) {
    fprintf(stderr, "heptane-check: %s", word);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    finish(code);
}

_Noreturn void reject(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    leave(1, "rejected: ", format, arguments);
}

_Noreturn void refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    leave(3, "", format, arguments);
}

void *need(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (memory) return memory;
    fprintf(stderr, "heptane-check: out of memory.\n");
    exit(4);
}

int main(int argc, char **argv) {
    static const char usage[] =
        "usage: heptane-check CERTIFICATE SCHEME\n"
        "Checks a scheme (Heptane's JSON format) and what `heptane chain --certificate` claims of it.\n"
        "exit: 0 proved, 1 rejected, 2 usage, 3 not readable, 4 input/output\n";
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc != 3) {
        fputs(usage, stderr);
        return 2;
    }
    scheme s = {0};
    certificate c = {0};
    char digest[65];
    scheme_read(&s, argv[2]);
    certificate_read(&c, &s, argv[1]);
    scheme_digest(digest, &s);
    if (strcmp(digest, c.digest) != 0)
        reject("digest: the certificate belongs to another scheme, or to another order or scaling.");
    scheme_verify(&s);
    printf("The scheme multiplies %d x %d by %d x %d with %d products.\n", s.n, s.m, s.m, s.p, s.rank);
    long writes = chains_count_writes(&c, &s);
    if (writes != c.writes) reject("writes: the certificate claims %ld, its chains make %ld.", c.writes, writes);
    printf("Its products in %d chains make %ld writes.\n", c.chains, writes);
    if (c.bound > writes) reject("bound: it cannot be above the writes that the certificate itself makes.");
    bounds_check(&c, &s);
    printf("No chaining makes fewer than %ld%s.\n", c.bound,
           scheme_products_independent(&s) ? "" : " that gives every product its own weights");
    printf("%s\n",
           c.bound == writes ? "Proved: minimal." : "Proved: the scheme and the bound; the minimum lies between.");
    finish(0);
}
