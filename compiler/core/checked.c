#include "core.h"

bool hpt_mul_size(size_t *out, size_t a, size_t b) { return !__builtin_mul_overflow(a, b, out); }
bool hpt_mul_i64(int64_t *out, int64_t a, int64_t b) { return !__builtin_mul_overflow(a, b, out); }
bool hpt_add_i64(int64_t *out, int64_t a, int64_t b) { return !__builtin_add_overflow(a, b, out); }
