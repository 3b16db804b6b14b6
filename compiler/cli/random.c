#include "random.h"
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

static const struct {
    const char *name;
    size_t bytes;
} types[] = {[HPT_NUMBER_F16] = {"f16", 2}, [HPT_NUMBER_BF16] = {"bf16", 2}, [HPT_NUMBER_F32] = {"f32", 4}};

bool hpt_number_type_find(hpt_number_type *out, const char *name) {
    for (size_t i = 0; i < HPT_COUNT(types); i++)
        if (strcmp(types[i].name, name) == 0) {
            *out = (hpt_number_type)i;
            return true;
        }
    return false;
}

size_t hpt_number_type_bytes(hpt_number_type type) { return types[type].bytes; }

/* ---- numbers ---- */
static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

uint16_t hpt_bf16_from_float(float value) {
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float hpt_bf16_to_float(uint16_t bits) { return float_of((uint32_t)bits << 16); }

uint16_t hpt_f16_from_float(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* rounds to 65536 or more */
    if (magnitude < 0x38800000)                                    /* subnormal: one unit is 2^-24 */
        return (uint16_t)(sign | (uint32_t)lrintf(float_of(magnitude) * 16777216.0f));
    uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (rounded - 0x38000000) >> 13);
}

float hpt_f16_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    if (exponent == 31) return float_of(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0) return float_of(sign | bits_of((float)mantissa * 0x1p-24f));
    return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
}

float hpt_typed_get(const void *data, hpt_number_type type, size_t index) {
    switch (type) {
    case HPT_NUMBER_F16:
        return hpt_f16_to_float(((const uint16_t *)data)[index]);
    case HPT_NUMBER_BF16:
        return hpt_bf16_to_float(((const uint16_t *)data)[index]);
    case HPT_NUMBER_F32:
        return ((const float *)data)[index];
    }
    return NAN;
}

void hpt_typed_set(void *data, hpt_number_type type, size_t index, float value) {
    switch (type) {
    case HPT_NUMBER_F16:
        ((uint16_t *)data)[index] = hpt_f16_from_float(value);
        break;
    case HPT_NUMBER_BF16:
        ((uint16_t *)data)[index] = hpt_bf16_from_float(value);
        break;
    case HPT_NUMBER_F32:
        ((float *)data)[index] = value;
        break;
    }
}

/* ---- N(0,1): a 64-bit finaliser over (seed, matrix, pair), then Box and Muller's transform of the pair ---- */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void normal_pair(float out[2], uint64_t key, uint64_t pair) {
    uint64_t bits = mix(key + pair * 0x9e3779b97f4a7c15u);
    float u = ((float)(bits >> 40) + 0.5f) * 0x1p-24f, v = (float)(bits & 0xffffff) * 0x1p-24f;
    float radius = sqrtf(-2.0f * logf(u)), angle = 6.28318531f * v;
    out[0] = radius * cosf(angle);
    out[1] = radius * sinf(angle);
}

static uint64_t key_of(uint64_t seed, uint64_t matrix) { return mix(mix(seed + 1) + matrix * 0xd1342543de82ef95u); }

float hpt_random_normal(uint64_t seed, uint64_t matrix, uint64_t index) {
    float pair[2];
    normal_pair(pair, key_of(seed, matrix), index / 2);
    return pair[index % 2];
}

typedef struct fill_job {
    void *out;
    hpt_number_type type, rounding;
    size_t count;
    uint64_t key;
} fill_job;

static float round_to(hpt_number_type type, float value) {
    switch (type) {
    case HPT_NUMBER_F16:
        return hpt_f16_to_float(hpt_f16_from_float(value));
    case HPT_NUMBER_BF16:
        return hpt_bf16_to_float(hpt_bf16_from_float(value));
    case HPT_NUMBER_F32:
        return value;
    }
    return value;
}

static void fill_range(void *user, size_t first, size_t last) { /* in pairs */
    const fill_job *job = user;
    for (size_t p = first; p < last; p++) {
        float pair[2];
        normal_pair(pair, job->key, p);
        for (size_t i = 2 * p; i < 2 * p + 2 && i < job->count; i++)
            hpt_typed_set(job->out, job->type, i, round_to(job->rounding, pair[i % 2]));
    }
}

void hpt_random_fill(void *out, hpt_number_type type, hpt_number_type rounding, size_t count, uint64_t seed,
                     uint64_t matrix) {
    fill_job job = {out, type, rounding, count, key_of(seed, matrix)};
    hpt_parallel((count + 1) / 2, fill_range, &job);
}

typedef struct convert_job {
    void *out;
    const void *in;
    hpt_number_type to, from;
} convert_job;

static void convert_range(void *user, size_t first, size_t last) {
    const convert_job *job = user;
    for (size_t i = first; i < last; i++) hpt_typed_set(job->out, job->to, i, hpt_typed_get(job->in, job->from, i));
}

void hpt_typed_convert(void *out, hpt_number_type to, const void *in, hpt_number_type from, size_t count) {
    convert_job job = {out, in, to, from};
    hpt_parallel(count, convert_range, &job);
}

/* ---- threads ---- */
typedef struct range {
    void (*body)(void *, size_t, size_t);
    void *user;
    size_t first, last;
    pthread_t thread;
    bool started;
} range;

static void *run_range(void *argument) {
    const range *r = argument;
    r->body(r->user, r->first, r->last);
    return NULL;
}

void hpt_parallel(size_t count, void (*body)(void *user, size_t first, size_t last), void *user) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = processors < 1 ? 1 : processors > MAX_THREADS ? MAX_THREADS : (size_t)processors;
    if (threads > count) threads = count;
    range ranges[MAX_THREADS] = {{0}};
    for (size_t i = 0; i < threads; i++) {
        ranges[i] = (range){body, user, count * i / threads, count * (i + 1) / threads, 0, false};
        ranges[i].started = i + 1 < threads && pthread_create(&ranges[i].thread, NULL, run_range, &ranges[i]) == 0;
        if (!ranges[i].started) run_range(&ranges[i]);
    }
    for (size_t i = 0; i < threads; i++)
        if (ranges[i].started) pthread_join(ranges[i].thread, NULL);
}
