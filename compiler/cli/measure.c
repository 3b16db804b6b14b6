#include "measure.h"
#include "backend/driver.h"
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 3, STREAM_NON_BLOCKING = 1, NVML_CLOCK_SM = 1, MOST_QUEUED = 2000 };
static const double burst = 0.005;
static const size_t copy_bytes = (size_t)1 << 30;

typedef struct sampler { /* NVML, read by a thread of its own while work runs */
    void *library, *device;
    int (*clock)(void *, int, unsigned *);
    int (*power)(void *, unsigned *);
    pthread_t thread;
    bool running;
    double mhz, watt, count;
} sampler;

struct hpt_meter {
    hpt_context *context;
    const hpt_driver *driver;
    int device;
    void *primary, *stream;
    hpt_event from, to;
    sampler nvml;
};

/* ---- NVML ---- */
static void open_nvml(hpt_meter *m) {
    char bus[32] = "";
    sampler *s = &m->nvml;
    s->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!s->library || m->driver->DeviceGetPCIBusId(bus, sizeof bus, m->device) != 0) return;
    int (*init)(void), (*find)(const char *, void **);
    *(void **)&init = dlsym(s->library, "nvmlInit_v2");
    *(void **)&find = dlsym(s->library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&s->clock = dlsym(s->library, "nvmlDeviceGetClockInfo");
    *(void **)&s->power = dlsym(s->library, "nvmlDeviceGetPowerUsage");
    if (!init || !find || !s->clock || !s->power || init() != 0 || find(bus, &s->device) != 0) s->device = NULL;
}

static void *sample(void *argument) {
    sampler *s = argument;
    while (__atomic_load_n(&s->running, __ATOMIC_ACQUIRE)) {
        unsigned mhz, milliwatt;
        if (s->clock(s->device, NVML_CLOCK_SM, &mhz) == 0 && s->power(s->device, &milliwatt) == 0) {
            s->mhz += mhz;
            s->watt += milliwatt / 1000.0;
            s->count++;
        }
        usleep(10000);
    }
    return NULL;
}

static void start_sampling(sampler *s) {
    s->mhz = s->watt = s->count = 0;
    if (!s->device) return;
    s->running = true;
    if (pthread_create(&s->thread, NULL, sample, s) != 0) s->running = false;
}

static void stop_sampling(sampler *s) {
    if (!s->running) return;
    __atomic_store_n(&s->running, false, __ATOMIC_RELEASE);
    pthread_join(s->thread, NULL);
    if (s->count > 0) {
        s->mhz /= s->count;
        s->watt /= s->count;
    }
}

/* ---- the meter ---- */
hpt_status hpt_meter_open(hpt_meter **out, hpt_context *context, int device, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_meter *m = calloc(1, sizeof *m);
    *out = NULL;
    HPT_FAIL_NO_MEMORY(m);
    m->context = context;
    HPT_FAIL_IF(strcmp(context->backend->name, "gpu") != 0, HPT_NO_DEVICE, "bench", "Timing needs a GPU.");
    HPT_TRY(hpt_driver_open(&m->driver, error));
    HPT_TRY(hpt_driver_check(m->driver, m->driver->DeviceGet(&m->device, device), "cuDeviceGet", error));
    HPT_TRY(hpt_driver_check(m->driver, m->driver->PrimaryCtxRetain(&m->primary, m->device), "cuDevicePrimaryCtxRetain",
                             error));
    HPT_TRY(hpt_driver_check(m->driver, m->driver->CtxPushCurrent(m->primary), "cuCtxPushCurrent", error));
    HPT_TRY(
        hpt_driver_check(m->driver, m->driver->StreamCreate(&m->stream, STREAM_NON_BLOCKING), "cuStreamCreate", error));
    open_nvml(m);
    *out = m;
    m = NULL;
done:
    hpt_meter_close(m);
    return status;
}

void hpt_meter_close(hpt_meter *m) {
    void *old;
    if (!m) return;
    m->context->backend->event_release(m->context->device, m->from);
    m->context->backend->event_release(m->context->device, m->to);
    if (m->stream) m->driver->StreamDestroy(m->stream);
    if (m->primary) {
        m->driver->CtxPopCurrent(&old);
        m->driver->PrimaryCtxRelease(m->device);
    }
    free(m);
}

void *hpt_meter_stream(const hpt_meter *meter) { return meter->stream; }

/* Seconds per run of `count` runs in a row. */
static hpt_status time_burst(double *seconds, hpt_meter *m, hpt_runnable r, int count, hpt_error *error) {
    hpt_status status = HPT_OK;
    const hpt_backend *backend = m->context->backend;
    HPT_TRY(backend->event_record(m->context->device, &m->from, m->stream, error));
    for (int i = 0; i < count; i++) HPT_TRY(r.run(r.user, m->stream, error));
    HPT_TRY(backend->event_record(m->context->device, &m->to, m->stream, error));
    HPT_TRY(backend->event_seconds(m->context->device, seconds, m->from, m->to, error));
    *seconds /= count;
done:
    return status;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, size_t count) {
    double sorted[HPT_SAMPLES];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, compare);
    return sorted[count / 2];
}

static int runs_for(double seconds, double each) {
    double count = ceil(seconds / (each > 1e-7 ? each : 1e-7));
    return count < 1 ? 1 : count > MOST_QUEUED ? MOST_QUEUED : (int)count;
}

hpt_status hpt_measure_quick(double *seconds, hpt_meter *m, hpt_runnable r, int runs, hpt_error *error) {
    double times[HPT_SAMPLES];
    hpt_status status = time_burst(seconds, m, r, 2, error);
    if (runs > HPT_SAMPLES) runs = HPT_SAMPLES;
    for (int i = 0; i < runs && status == HPT_OK; i++) status = time_burst(&times[i], m, r, 1, error);
    if (status == HPT_OK) *seconds = median(times, (size_t)runs);
    return status;
}

typedef struct copy {
    const hpt_driver *driver;
    uint64_t from, to;
} copy;

static hpt_status run_copy(void *user, void *stream, hpt_error *error) {
    const copy *c = user;
    return hpt_driver_check(c->driver, c->driver->MemcpyDtoDAsync(c->to, c->from, copy_bytes, stream),
                            "cuMemcpyDtoDAsync", error);
}

hpt_status hpt_measure_copy(double *bytes_per_second, hpt_meter *m, hpt_error *error) {
    hpt_status status = HPT_OK;
    copy c = {.driver = m->driver};
    double seconds;
    HPT_TRY(hpt_device_alloc(m->context, &c.from, copy_bytes, error));
    HPT_TRY(hpt_device_alloc(m->context, &c.to, copy_bytes, error));
    HPT_TRY(hpt_measure_quick(&seconds, m, (hpt_runnable){run_copy, &c}, 11, error));
    *bytes_per_second = 2.0 * (double)copy_bytes / seconds;
done:
    hpt_device_free(m->context, c.from);
    hpt_device_free(m->context, c.to);
    return status;
}

hpt_status hpt_measure_pair(hpt_pair *out, hpt_meter *m, hpt_runnable a, hpt_runnable b, double load,
                            hpt_error *error) {
    hpt_status status = HPT_OK;
    double each_a, each_b, spent = 0;
    HPT_TRY(time_burst(&each_a, m, a, 2, error));
    HPT_TRY(time_burst(&each_b, m, b, 2, error));
    int runs_a = runs_for(burst, each_a), runs_b = runs_for(burst, each_b);
    while (spent < load) {
        HPT_TRY(time_burst(&each_a, m, a, runs_a, error));
        HPT_TRY(time_burst(&each_b, m, b, runs_b, error));
        spent += each_a * runs_a + each_b * runs_b;
    }
    for (int i = 0; i < HPT_SAMPLES; i++) {
        HPT_TRY(time_burst(&out->a[i], m, a, runs_a, error));
        HPT_TRY(time_burst(&out->b[i], m, b, runs_b, error));
    }
    out->median_a = median(out->a, HPT_SAMPLES);
    out->median_b = median(out->b, HPT_SAMPLES);
done:
    return status;
}

static hpt_status one_turn(hpt_alone *out, hpt_meter *m, hpt_runnable r, double warm, double timed, hpt_error *error) {
    hpt_status status = HPT_OK;
    double each, spent = 0, total = 0;
    int runs = 0;
    HPT_TRY(time_burst(&each, m, r, 1, error));
    while (spent < warm) {
        int count = runs_for(0.1, each);
        HPT_TRY(time_burst(&each, m, r, count, error));
        spent += each * count;
    }
    start_sampling(&m->nvml);
    while (total < timed && status == HPT_OK) {
        int count = runs_for(timed, each);
        status = time_burst(&each, m, r, count, error);
        total += each * count;
        runs += count;
    }
    stop_sampling(&m->nvml);
    *out = (hpt_alone){runs ? total / runs : 0, m->nvml.mhz, m->nvml.watt};
done:
    return status;
}

static int by_seconds(const void *a, const void *b) {
    return compare(&((const hpt_alone *)a)->seconds, &((const hpt_alone *)b)->seconds);
}

bool hpt_challenger_wins(const hpt_pair *pair) {
    static const double margin = 1.01;
    return pair->median_a >= pair->median_b * margin;
}

hpt_status hpt_run_call(void *call, void *stream, hpt_error *error) { return hpt_call_run(call, stream, error); }

hpt_status hpt_measure_alone(hpt_alone *out, hpt_meter *m, const hpt_runnable *r, size_t count, double warm,
                             double timed, hpt_error *error) {
    hpt_status status = HPT_OK;
    hpt_alone *turns = calloc(count + 1, TURNS * sizeof *turns);
    HPT_FAIL_NO_MEMORY(turns);
    for (int t = 0; t < TURNS; t++)
        for (size_t i = 0; i < count; i++)
            HPT_TRY(one_turn(&turns[i * TURNS + (size_t)t], m, r[i], warm, timed, error));
    for (size_t i = 0; i < count; i++) {
        qsort(&turns[i * TURNS], TURNS, sizeof *turns, by_seconds);
        out[i] = turns[i * TURNS + TURNS / 2];
    }
done:
    free(turns);
    return status;
}
