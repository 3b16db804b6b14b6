#include "check.h"
#include <jansson.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mpq_t *scheme_row(const scheme *s, int factor, int product) {
    return s->factor[factor] + (size_t)product * (size_t)s->entries[factor];
}

bool parse_number(mpq_t out, const char *text) {
    size_t digits = 0, slashes = 0;
    for (const char *c = text + (*text == '-'); *c; c++) {
        if (*c == '/' && digits > 0 && slashes++ == 0)
            digits = 0;
        else if (*c >= '0' && *c <= '9')
            digits++;
        else
            return false;
    }
    if (digits == 0 || mpq_set_str(out, text, 10) != 0 || mpz_sgn(mpq_denref(out)) == 0) return false;
    mpq_canonicalize(out);
    return true;
}

static long integer_at(json_t *object, const char *key, long low, long high) {
    json_t *value = json_object_get(object, key);
    if (!json_is_integer(value)) refuse("The scheme has no integer \"%s\".", key);
    long number = (long)json_integer_value(value);
    if (number < low || number > high)
        refuse("The scheme's \"%s\" is %ld, not from %ld to %ld.", key, number, low, high);
    return number;
}

static void read_coefficient(mpq_t out, json_t *value, int product) {
    char text[32];
    const char *from = json_string_value(value);
    if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        from = text;
    }
    if (!from || !parse_number(out, from))
        refuse("Product %d has a coefficient that is not a rational number.", product + 1);
    if (mpq_sgn(out) == 0) refuse("Product %d has a coefficient of zero.", product + 1);
}

static void read_form(scheme *s, int factor, int product, json_t *form) {
    int rows = factor == 1 ? s->m : s->n, columns = factor == 0 ? s->m : s->p;
    if (!json_is_array(form)) refuse("Product %d lacks the form \"%c\".", product + 1, "uvw"[factor]);
    for (size_t k = 0; k < json_array_size(form); k++) {
        json_t *term = json_array_get(form, k);
        json_int_t i = json_integer_value(json_array_get(term, 0)), j = json_integer_value(json_array_get(term, 1));
        if (json_array_size(term) != 3 || i < 1 || i > rows || j < 1 || j > columns)
            refuse("Product %d: a term is not [row, column, coefficient] inside the matrix.", product + 1);
        mpq_t *cell = &scheme_row(s, factor, product)[(i - 1) * columns + j - 1];
        if (mpq_sgn(*cell) != 0) refuse("Product %d names entry (%d, %d) twice.", product + 1, (int)i, (int)j);
        read_coefficient(*cell, json_array_get(term, 2), product);
    }
}

void scheme_read(scheme *s, const char *path) {
    json_error_t problem;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (!document) refuse("%s:%d: %s", path, problem.line, problem.text);
    const char *format = json_string_value(json_object_get(document, "format"));
    const char *ring = json_string_value(json_object_get(document, "ring"));
    if (!format || strcmp(format, "heptane-scheme") != 0)
        refuse("%s is not in Heptane's scheme format (heptane convert FILE -o OUT.json makes it so).", path);
    if (!ring || (strcmp(ring, "Z") != 0 && strcmp(ring, "Q") != 0))
        refuse("%s is over %s; this checker knows rational coefficients only.", path, ring ? ring : "no ring");
    s->n = (int)integer_at(document, "n", 1, MOST_SIDE);
    s->m = (int)integer_at(document, "m", 1, MOST_SIDE);
    s->p = (int)integer_at(document, "p", 1, MOST_SIDE);
    s->rank = (int)integer_at(document, "rank", 1, MOST_PRODUCTS);
    s->entries[0] = s->n * s->m, s->entries[1] = s->m * s->p, s->entries[2] = s->n * s->p;
    json_t *products = json_object_get(document, "products");
    if (json_array_size(products) != (size_t)s->rank)
        refuse("%s claims rank %d and lists %zu products.", path, s->rank, json_array_size(products));
    for (int f = 0; f < 3; f++) {
        size_t cells = (size_t)s->rank * (size_t)s->entries[f];
        s->factor[f] = need(cells, sizeof(mpq_t));
        for (size_t i = 0; i < cells; i++) mpq_init(s->factor[f][i]);
    }
    for (int r = 0; r < s->rank; r++)
        for (int f = 0; f < 3; f++) {
            const char key[2] = {"uvw"[f], '\0'};
            read_form(s, f, r, json_object_get(json_array_get(products, (size_t)r), key));
        }
    json_decref(document);
}

void scheme_verify(const scheme *s) {
    mpq_t sum, term;
    mpq_inits(sum, term, NULL);
    for (int a = 0; a < s->entries[0]; a++)
        for (int b = 0; b < s->entries[1]; b++)
            for (int c = 0; c < s->entries[2]; c++) {
                int i = a / s->m, j = a % s->m, k = b / s->p, l = b % s->p, u = c / s->p, v = c % s->p;
                mpq_set_si(sum, j == k && i == u && l == v ? -1 : 0, 1);
                for (int r = 0; r < s->rank; r++) {
                    const mpq_t *x = &scheme_row(s, 0, r)[a], *y = &scheme_row(s, 1, r)[b],
                                *z = &scheme_row(s, 2, r)[c];
                    if (mpq_sgn(*x) == 0 || mpq_sgn(*y) == 0 || mpq_sgn(*z) == 0) continue;
                    mpq_mul(term, *x, *y);
                    mpq_mul(term, term, *z);
                    mpq_add(sum, sum, term);
                }
                if (mpq_sgn(sum) != 0)
                    reject("scheme: it does not multiply matrices: X%d,%d Y%d,%d has a wrong coefficient in Z%d,%d.",
                           i + 1, j + 1, k + 1, l + 1, u + 1, v + 1);
            }
    mpq_clears(sum, term, NULL);
}

void scheme_digest(char out[65], const scheme *s) {
    SHA2_CTX context;
    char head[64];
    SHA256Init(&context);
    int length = snprintf(head, sizeof head, "%d %d %d %d\n", s->n, s->m, s->p, s->rank);
    SHA256Update(&context, (const uint8_t *)head, (size_t)length);
    for (int r = 0; r < s->rank; r++) {
        for (int f = 0; f < 3; f++)
            for (int e = 0; e < s->entries[f]; e++) {
                char *text = mpq_get_str(NULL, 10, scheme_row(s, f, r)[e]);
                SHA256Update(&context, (const uint8_t *)" ", 1);
                SHA256Update(&context, (const uint8_t *)text, strlen(text));
                free(text);
            }
        SHA256Update(&context, (const uint8_t *)"\n", 1);
    }
    SHA256End(&context, out);
}

/* Rank of the R x (n m m p) matrix of alpha (x) beta modulo a prime: full rank there is full rank over Q. */
bool scheme_products_independent(const scheme *s) {
    const uint64_t prime = 2147483647;
    size_t width = (size_t)s->entries[0] * (size_t)s->entries[1], rank = (size_t)s->rank;
    if (rank > width) return false;
    uint64_t *row = need(rank * width, sizeof *row);
    mpz_t numerator, modulus;
    mpz_inits(numerator, modulus, NULL);
    mpz_set_ui(modulus, prime);
    for (size_t r = 0; r < rank; r++) /* denominators scale whole factors: they do not change the rank unless 0 mod p */
        for (int a = 0; a < s->entries[0]; a++)
            for (int b = 0; b < s->entries[1]; b++) {
                mpq_t product;
                mpq_init(product);
                mpq_mul(product, scheme_row(s, 0, (int)r)[a], scheme_row(s, 1, (int)r)[b]);
                mpz_set_ui(numerator, 0);
                if (mpz_invert(numerator, mpq_denref(product), modulus))
                    mpz_mul(numerator, numerator, mpq_numref(product));
                row[r * width + (size_t)a * (size_t)s->entries[1] + (size_t)b] = mpz_fdiv_ui(numerator, prime);
                mpq_clear(product);
            }
    size_t found = 0;
    for (size_t column = 0; column < width && found < rank; column++) {
        size_t pivot = found;
        while (pivot < rank && row[pivot * width + column] == 0) pivot++;
        if (pivot == rank) continue;
        for (size_t c = 0; c < width; c++) {
            uint64_t held = row[found * width + c];
            row[found * width + c] = row[pivot * width + c], row[pivot * width + c] = held;
        }
        for (size_t r = found + 1; r < rank; r++) {
            uint64_t factor = row[r * width + column], lead = row[found * width + column];
            if (factor == 0) continue;
            for (size_t c = column; c < width; c++)
                row[r * width + c] = (row[r * width + c] * lead + (prime - row[found * width + c]) * factor) % prime;
        }
        found++;
    }
    mpz_clears(numerator, modulus, NULL);
    free(row);
    return found == rank;
}
