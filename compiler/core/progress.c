#include "core.h"
#include <stdio.h>
#include <time.h>

static const double SECONDS_PER_LINE = 0.25;

void hpt_progress_say(const hpt_progress *progress, const char *format, ...) {
    if (!progress || !progress->hook) return;
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    progress->hook(progress->user, line);
}

void hpt_progress_end(const hpt_progress *progress) {
    if (progress && progress->hook) progress->hook(progress->user, "");
}

bool hpt_progress_interrupted(const hpt_progress *progress) {
    return progress && progress->interrupted && *progress->interrupted;
}

double hpt_progress_first(void) { return hpt_clock() + SECONDS_PER_LINE; }

bool hpt_progress_due(double *next) {
    if (hpt_clock() < *next) return false;
    *next = hpt_progress_first();
    return true;
}

double hpt_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
