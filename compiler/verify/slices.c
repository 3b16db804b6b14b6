#include "verify/slices.h"
#include <flint/ulong_extras.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 64, SMALL_WORK = 1 << 18 };

/* The products that use each X-entry: U by columns. */
typedef struct columns {
    size_t *start;
    int32_t *product, *value;
} columns;

typedef struct slice_job {
    const hpt_scheme *scheme;
    const hpt_algebra *algebra;
    columns by_entry;
    int64_t n, m, p, rows, row_length; /* of a slice: m p rows of n p sums of d components */
    int64_t block, blocks;             /* rows of a buffer; blocks per slice */
    uint8_t *marks;                    /* several moduli: equations already found failing; else NULL */
    atomic_llong next;
    const hpt_progress *progress;
    double share_from, share; /* of the whole check that this round of slices is, for the percentage */
    pthread_mutex_t lock;
    hpt_slices_result result;
    bool no_memory;
} slice_job;

typedef struct worker {
    slice_job *job;
    int64_t *sums; /* block x row_length */
    bool *touched; /* block */
    int64_t *left; /* u times v, d components */
    bool speaks;   /* the calling thread's worker, which shows the progress */
    double next_line;
    hpt_slices_result result;
} worker;

static bool build_columns(columns *out, const hpt_scheme *s) {
    int32_t entries = hpt_scheme_entries(s, HPT_U);
    size_t count = hpt_scheme_nonzeros(s, HPT_U);
    out->start = calloc((size_t)entries + 2, sizeof *out->start);
    out->product = malloc((count + 1) * sizeof *out->product);
    out->value = malloc((count + 1) * sizeof *out->value);
    if (!out->start || !out->product || !out->value) return false;
    for (size_t i = 0; i < count; i++) out->start[s->index[HPT_U][i] + 2]++;
    for (int32_t a = 0; a < entries; a++) out->start[a + 2] += out->start[a + 1];
    for (int32_t r = 0; r < s->rank; r++) {
        hpt_terms row = hpt_scheme_terms(s, HPT_U, r);
        for (size_t i = 0; i < row.count; i++) {
            size_t at = out->start[row.index[i] + 1]++;
            out->product[at] = r;
            out->value[at] = row.value[i];
        }
    }
    return true;
}

/* sums[c] += left * w(c): one rational component, exact. */
static void add_row_plain(int64_t *restrict sums, int64_t left, hpt_terms w, const int64_t *table) {
    for (size_t k = 0; k < w.count; k++) sums[w.index[k]] += left * table[w.value[k]];
}

/* The general case: d components, each perhaps modulo a prime below 2^31. */
static void add_row(int64_t *sums, const int64_t *left, hpt_terms w, const hpt_algebra *a) {
    slong d = a->dimension;
    for (size_t k = 0; k < w.count; k++) {
        const int64_t *matrix = a->table[HPT_W] + (int64_t)w.value[k] * d * d;
        int64_t *sum = sums + (int64_t)w.index[k] * d;
        for (slong row = 0; row < d; row++)
            for (slong j = 0; j < d; j++) {
                int64_t cell = matrix[row * d + j];
                if (cell == 0 || left[j] == 0) continue;
                sum[row] += left[j] * cell;
                if (a->modulus) sum[row] %= a->modulus;
            }
    }
}

static void multiply_vector(int64_t *out, const int64_t *matrix, const int64_t *vector, const hpt_algebra *a) {
    slong d = a->dimension;
    for (slong row = 0; row < d; row++) {
        int64_t sum = 0;
        for (slong j = 0; j < d; j++) {
            sum += matrix[row * d + j] * vector[j];
            if (a->modulus) sum %= a->modulus;
        }
        out[row] = sum;
    }
}

static void show(worker *w, int64_t item, int64_t items) {
    const slice_job *job = w->job;
    if (!hpt_progress_due(&w->next_line)) return;
    hpt_progress_say(job->progress, "verifying: %.0f%%",
                     100 * (job->share_from + job->share * (double)item / (double)items));
}

static void accumulate(worker *w, int64_t entry, int64_t first_row, int64_t row_count) {
    const slice_job *job = w->job;
    const hpt_scheme *s = job->scheme;
    const hpt_algebra *a = job->algebra;
    slong d = a->dimension;
    for (size_t i = job->by_entry.start[entry]; i < job->by_entry.start[entry + 1]; i++) {
        int32_t r = job->by_entry.product[i];
        if (hpt_progress_interrupted(job->progress)) return;
        const int64_t *u = a->table[HPT_U] + (int64_t)job->by_entry.value[i] * d;
        hpt_terms v = hpt_scheme_terms(s, HPT_V, r), rho = hpt_scheme_terms(s, HPT_W, r);
        for (size_t k = 0; k < v.count; k++) {
            int64_t row = v.index[k] - first_row;
            if (row < 0) continue;
            if (row >= row_count) break;
            w->touched[row] = true;
            int64_t *sums = w->sums + row * job->row_length;
            const int64_t *matrix = a->table[HPT_V] + (int64_t)v.value[k] * d * d;
            if (d == 1 && a->modulus == 0) {
                add_row_plain(sums, u[0] * matrix[0], rho, a->table[HPT_W]);
            } else {
                multiply_vector(w->left, matrix, u, a);
                add_row(sums, w->left, rho, a);
            }
        }
    }
}

/* True if the sum of one equation is what it should be. */
static bool holds(worker *w, const int64_t *sum, bool one) {
    const hpt_algebra *a = w->job->algebra;
    const hpt_ring *ring = &w->job->scheme->ring;
    int64_t modulus = ring->characteristic ? ring->characteristic : a->modulus;
    bool laurent = ring->kind == HPT_RING_LAURENT, good = true;
    for (slong k = 0; k < a->dimension; k++) {
        int64_t rest = sum[k] - (one && k == a->unit ? a->expected : 0);
        if (modulus) rest %= modulus;
        if (rest == 0) continue;
        if (!laurent || k <= a->unit) {
            good = false;
            break;
        }
        if (w->result.border_degree == 0 || k - a->unit < w->result.border_degree)
            w->result.border_degree = k - a->unit;
    }
    return good;
}

static void note_failure(worker *w, int64_t a, int64_t b, int64_t c) {
    slice_job *job = w->job;
    if (job->marks) { /* the same equation may fail modulo several primes */
        uint8_t *mark = &job->marks[(a * job->rows + b) * job->n * job->p + c];
        if (*mark) return;
        *mark = 1;
    }
    const int64_t *f = w->result.first;
    bool earlier = a < f[0] || (a == f[0] && (b < f[1] || (b == f[1] && c < f[2])));
    if (w->result.failing == 0 || earlier) {
        w->result.first[0] = a;
        w->result.first[1] = b;
        w->result.first[2] = c;
    }
    w->result.failing++;
}

static void check(worker *w, int64_t entry, int64_t first_row, int64_t row_count) {
    slice_job *job = w->job;
    slong d = job->algebra->dimension;
    int64_t i = entry / job->m, j = entry % job->m;
    for (int64_t row = 0; row < row_count; row++) {
        int64_t b = first_row + row, k = b / job->p, l = b % job->p, one = i * job->p + l;
        int64_t *sums = w->sums + row * job->row_length;
        if (!w->touched[row]) {
            if (k == j) note_failure(w, entry, b, one); /* nothing was added, but a 1 was needed */
            continue;
        }
        for (int64_t c = 0; c < job->n * job->p; c++)
            if (!holds(w, sums + c * d, k == j && c == one)) note_failure(w, entry, b, c);
        memset(sums, 0, (size_t)job->row_length * sizeof *sums);
        w->touched[row] = false;
    }
}

static void merge(hpt_slices_result *into, const hpt_slices_result *from) {
    if (from->failing > 0 &&
        (into->failing == 0 || from->first[0] < into->first[0] ||
         (from->first[0] == into->first[0] &&
          (from->first[1] < into->first[1] || (from->first[1] == into->first[1] && from->first[2] < into->first[2])))))
        memcpy(into->first, from->first, sizeof into->first);
    into->failing += from->failing;
    if (from->border_degree && (!into->border_degree || from->border_degree < into->border_degree))
        into->border_degree = from->border_degree;
}

static void work_on(slice_job *job, bool speaks) {
    worker w = {.job = job, .speaks = speaks, .next_line = hpt_progress_first()};
    w.sums = calloc((size_t)(job->block * job->row_length), sizeof *w.sums);
    w.touched = calloc((size_t)job->block, sizeof *w.touched);
    w.left = calloc((size_t)job->algebra->dimension, sizeof *w.left);
    bool ready = w.sums && w.touched && w.left;
    int64_t items = job->n * job->m * job->blocks;
    for (int64_t item; ready && (item = atomic_fetch_add(&job->next, 1)) < items;) {
        int64_t entry = item / job->blocks, first = item % job->blocks * job->block;
        int64_t count = job->rows - first < job->block ? job->rows - first : job->block;
        accumulate(&w, entry, first, count);
        if (hpt_progress_interrupted(job->progress)) break; /* the slice may be half done */
        if (w.speaks) show(&w, item, items);
        check(&w, entry, first, count);
    }
    pthread_mutex_lock(&job->lock);
    if (!ready) job->no_memory = true;
    merge(&job->result, &w.result);
    pthread_mutex_unlock(&job->lock);
    free(w.sums);
    free(w.touched);
    free(w.left);
}

static void *work(void *argument) {
    work_on(argument, false);
    return NULL;
}

/* Multiplications that the sums take, for deciding whether threads are worth starting. */
static double work_size(const hpt_scheme *s) {
    double total = 0;
    for (int32_t r = 0; r < s->rank; r++)
        total += (double)hpt_scheme_terms(s, HPT_U, r).count * (double)hpt_scheme_terms(s, HPT_V, r).count *
                 (double)hpt_scheme_terms(s, HPT_W, r).count;
    return total;
}

static void run(slice_job *job, bool threads) {
    pthread_t others[MAX_THREADS];
    long count = threads ? sysconf(_SC_NPROCESSORS_ONLN) - 1 : 0;
    int started = 0;
    atomic_store(&job->next, 0);
    for (; started < count && started < MAX_THREADS; started++)
        if (pthread_create(&others[started], NULL, work, job) != 0) break;
    work_on(job, true);
    for (int i = 0; i < started; i++) pthread_join(others[i], NULL);
}

/* Several primes: an integer below the bound that is 0 modulo all of them is 0 if their product exceeds the bound. */
static hpt_status run_modular(slice_job *job, hpt_algebra *a, hpt_error *error) {
    hpt_status status = HPT_OK;
    fmpz_t covered, needed;
    fmpz_init_set_ui(covered, 1);
    fmpz_init(needed);
    fmpz_mul_ui(needed, a->bound, 2);
    int64_t prime = (int64_t)1 << 30, equations;
    HPT_FAIL_IF(!hpt_mul_i64(&equations, job->n * job->m * job->rows, job->n * job->p) || equations > (int64_t)1 << 30,
                HPT_TOO_LARGE, job->scheme->name, "Coefficients of %lu bits are too large for a scheme of this shape.",
                (unsigned long)fmpz_bits(a->bound) / 3);
    job->marks = calloc((size_t)equations, 1);
    HPT_FAIL_NO_MEMORY(job->marks);
    while (fmpz_cmp(covered, needed) <= 0) {
        prime = (int64_t)n_nextprime((mp_limb_t)prime, 1);
        hpt_algebra_select(a, prime);
        job->share_from = (double)fmpz_bits(covered) / (double)fmpz_bits(needed);
        job->share = 30 / (double)fmpz_bits(needed);
        run(job, true);
        if (job->no_memory || hpt_progress_interrupted(job->progress)) break;
        fmpz_mul_si(covered, covered, prime);
    }
done:
    free(job->marks);
    job->marks = NULL;
    fmpz_clear(needed);
    fmpz_clear(covered);
    return status;
}

hpt_status hpt_slices_check(hpt_slices_result *out, const hpt_scheme *s, hpt_algebra *a, const hpt_progress *progress,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    slice_job job = {.scheme = s, .algebra = a, .n = s->n, .m = s->m, .p = s->p, .progress = progress, .share = 1};
    pthread_mutex_init(&job.lock, NULL);
    job.rows = job.m * job.p;
    job.row_length = job.n * job.p * a->dimension;
    job.block = HPT_SLICE_BYTES / (job.row_length * (int64_t)sizeof(int64_t));
    if (job.block < 1) job.block = 1;
    if (job.block > job.rows) job.block = job.rows;
    job.blocks = (job.rows + job.block - 1) / job.block;
    HPT_FAIL_IF(!build_columns(&job.by_entry, s), HPT_NO_MEMORY, "", "Out of memory.");
    if (hpt_algebra_fits(a)) {
        hpt_algebra_select(a, 0);
        double size = work_size(s) * (double)(a->dimension * a->dimension) + (double)(job.n * job.m * job.rows);
        run(&job, size > SMALL_WORK);
    } else if (s->ring.characteristic) {
        hpt_algebra_select(a, s->ring.characteristic);
        run(&job, true);
    } else {
        HPT_TRY(run_modular(&job, a, error));
    }
    HPT_FAIL_IF(job.no_memory, HPT_NO_MEMORY, "", "Out of memory.");
    HPT_FAIL_IF(hpt_progress_interrupted(progress), HPT_INTERRUPTED, s->name,
                "Interrupted before every equation was checked: nothing is proved.");
    *out = job.result;
done:
    hpt_progress_end(progress);
    free(job.by_entry.start);
    free(job.by_entry.product);
    free(job.by_entry.value);
    pthread_mutex_destroy(&job.lock);
    return status;
}
