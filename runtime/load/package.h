/* package.h - op.json and manifest.json as records. Promises:
 *   - strict: a missing key, a wrong type, an unknown name or an unknown key inside a nested object is an error with
 * the file and the key; nothing is guessed. Unknown keys at the top level are for later versions and are left alone.
 *   - all formulas are parsed and their names resolved when the file is read; nothing is looked up by name later.
 *   - a record and everything it points to lives in its own arena and is immutable after reading.
 * Source: runtime/PACKAGE.md.
 */
#ifndef HPT_PACKAGE_H
#define HPT_PACKAGE_H

#include "backend/backend.h"
#include "load/formula.h"
#include <jansson.h>

enum { HPT_PACKAGE_LIMIT = 64 * 1024 * 1024 }; /* bytes of any file of a package */

typedef struct hpt_let {
    int slot;
    const hpt_formula *formula;
} hpt_let;

typedef struct hpt_requirement {
    const hpt_formula *that;
    const char *message;
} hpt_requirement;

typedef enum hpt_argument_kind {
    HPT_ARG_TENSORMAP,
    HPT_ARG_POINTER,
    HPT_ARG_I32,
    HPT_ARG_U32,
    HPT_ARG_I64,
    HPT_ARG_F32
} hpt_argument_kind;

typedef struct hpt_argument {
    hpt_argument_kind kind;
    int buffer;               /* tensormap, pointer */
    int scalar;               /* f32 */
    const hpt_formula *value; /* integers; offset in bytes of tensormap and pointer */
    hpt_element element;
    int rank;
    const hpt_formula *dim[5], *stride[5], *box[5]; /* stride[0] unused */
    hpt_swizzle swizzle;
    uint32_t l2;
} hpt_argument;

typedef struct hpt_slot_buffer { /* a buffer of a package */
    const char *name, *type, *role;
} hpt_slot_buffer;

typedef struct hpt_manifest {
    hpt_arena *arena;
    const char *folder, *kernel, *symbol, *scheme, *scheme_hash, *target;
    size_t feature_count, nvrtc_count;
    const char **feature, **nvrtc;
    hpt_names names; /* params first, then sms, max_clusters, lets */
    size_t param_count;
    int sms, max_clusters; /* slots */
    size_t buffer_count, scalar_count, let_count, require_count, arg_count;
    hpt_slot_buffer *buffer;
    const char **scalar;
    hpt_let *let;
    hpt_requirement *require;
    hpt_argument *arg;
    const hpt_formula *grid[3], *block[3], *cluster[3], *shared, *skip; /* skip may be NULL */
    bool overlap;
} hpt_manifest;

typedef enum hpt_role { HPT_ROLE_INPUT, HPT_ROLE_OUTPUT, HPT_ROLE_PREPARED, HPT_ROLE_WORKSPACE } hpt_role;
typedef enum hpt_phase { HPT_PHASE_PREPARE, HPT_PHASE_RUN } hpt_phase;

typedef struct hpt_operation_param {
    const char *name, *help;
    int slot;
    const hpt_formula *min, *fallback; /* fallback NULL: the caller must give it */
} hpt_operation_param;

typedef struct hpt_operation_buffer {
    const char *name, *type;
    hpt_role role;
    const hpt_formula *bytes, *optional;
    bool zero;
    int has, align; /* slots */
} hpt_operation_buffer;

typedef struct hpt_operation_scalar {
    const char *name;
    double fallback;
    int one, zero; /* slots */
} hpt_operation_scalar;

typedef struct hpt_step_scalar { /* what a package's scalar is bound to: an op scalar, or a number if index < 0 */
    int index;
    double number;
} hpt_step_scalar;

typedef struct hpt_operation_step {
    hpt_manifest *package;
    hpt_phase phase;
    const hpt_formula *when; /* may be NULL */
    const hpt_formula **param;
    int *buffer;
    hpt_step_scalar *scalar;
} hpt_operation_step;

typedef struct hpt_operation {
    hpt_arena *arena;
    const char *folder, *op, *scheme, *scheme_hash, *target, *type_x, *type_y, *type_c, *type_forms;
    int64_t n, m, p, rank, writes;
    json_t *options; /* as the file has them; may be NULL */
    hpt_names names;
    int sms;
    size_t param_count, scalar_count, let_count, require_count, buffer_count, step_count;
    hpt_operation_param *param;
    hpt_operation_scalar *scalar;
    hpt_let *let;
    hpt_requirement *require;
    hpt_operation_buffer *buffer;
    hpt_operation_step *step;
    double bound, bound_finished, growth; /* numerics, see hpt_call_error_bound; 0 if none is stated */
} hpt_operation;

hpt_status hpt_manifest_read(hpt_manifest **out, const char *folder, hpt_error *error);
void hpt_manifest_destroy(hpt_manifest *manifest); /* NULL is fine */
/* Reads op.json and the manifests of all its packages. */
hpt_status hpt_operation_read(hpt_operation **out, const char *folder, hpt_error *error);
void hpt_operation_destroy(hpt_operation *operation); /* NULL is fine */
/* Size of an element in bytes; 0 if the type has another name than f16, bf16, f32, u32, u8, e4m3, e5m2. */
size_t hpt_type_bytes(const char *type);
bool hpt_type_element(hpt_element *out, const char *type);

#endif
