#include "core.h"
#include <sha2.h>

void hpt_sha256_hex(char out[HPT_HASH_LENGTH], const void *bytes, size_t length) { SHA256Data(bytes, length, out); }
