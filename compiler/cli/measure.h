/* measure.h - timing that holds up on a power-limited GPU. Promises:
 *   - two numbers per comparison: in turns with the baseline (nearly equal clocks), and each alone at its own steady
 * clock.
 *   - the chip is brought to its power limit before anything counts: at least `load` seconds of the same work.
 *   - bursts of about 5 ms, timed with events on one stream; medians; every sample is kept.
 *   - clock and power come from NVML where it is there, read while the timed work runs.
 */
#ifndef HPT_CLI_MEASURE_H
#define HPT_CLI_MEASURE_H

#include "launch/launch.h"

typedef struct hpt_runnable {
    hpt_status (*run)(void *user, void *stream, hpt_error *error);
    void *user;
} hpt_runnable;

typedef struct hpt_meter hpt_meter;

/* Makes the device's context current for this thread and a stream of its own. */
hpt_status hpt_meter_open(hpt_meter **out, hpt_context *context, int device, hpt_error *error);
void hpt_meter_close(hpt_meter *meter); /* NULL is fine */
void *hpt_meter_stream(const hpt_meter *meter);

enum { HPT_SAMPLES = 24 };
typedef struct hpt_pair {
    double a[HPT_SAMPLES], b[HPT_SAMPLES]; /* seconds per run, in turns */
    double median_a, median_b;
} hpt_pair;
/* Alternates bursts of a and b for `load` seconds, then takes the samples. */
hpt_status hpt_measure_pair(hpt_pair *out, hpt_meter *meter, hpt_runnable a, hpt_runnable b, double load,
                            hpt_error *error);
/* Whether b, a challenger, is faster than a by so much that it should be preferred. */
bool hpt_challenger_wins(const hpt_pair *pair);
/* A bound call (hpt_call) as something to run. */
hpt_status hpt_run_call(void *call, void *stream, hpt_error *error);

typedef struct hpt_alone {
    double seconds;   /* per run: median of three turns */
    double mhz, watt; /* of that turn; 0 where NVML is not there */
} hpt_alone;
/* Three turns over all runnables: each alone for `warm` seconds, then timed for `timed` seconds. */
hpt_status hpt_measure_alone(hpt_alone *out, hpt_meter *meter, const hpt_runnable *runnable, size_t count, double warm,
                             double timed, hpt_error *error);
/* Bytes per second of a large copy on the device, read and written both counted: the ceiling for the forms kernels. */
hpt_status hpt_measure_copy(double *bytes_per_second, hpt_meter *meter, hpt_error *error);
/* Median of a few single runs, without load: for choosing between variants. */
hpt_status hpt_measure_quick(double *seconds, hpt_meter *meter, hpt_runnable runnable, int runs, hpt_error *error);

#endif
