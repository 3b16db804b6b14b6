/* heptane/progress.h - watching long work and stopping it.
 *
 * Functions that may take long accept an hpt_progress (NULL: silent, cannot be stopped). The hook gets short lines that
 * say how far the work is, one thread at a time and rarely (verifying: four times a second), and an empty line when
 * there is nothing more to say: time to erase the last one. Work that finds *interrupted non-zero ends soon, with
 * HPT_INTERRUPTED or with the best it has, as the function says; a signal handler may set it.
 */
#ifndef HEPTANE_PROGRESS_H
#define HEPTANE_PROGRESS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*hpt_progress_hook)(void *user, const char *line);
typedef struct hpt_progress {
    hpt_progress_hook hook; /* may be NULL */
    void *user;
    volatile int *interrupted; /* may be NULL */
} hpt_progress;

#ifdef __cplusplus
}
#endif
#endif
