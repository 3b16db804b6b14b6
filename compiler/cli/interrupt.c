/* SIGINT as a flag. NVRTC puts a handler of its own in place while it compiles, which ends the process with nothing
 * cleared up; so no handler is relied on: the signal is blocked in every thread, and one thread waits for it. Putting the handler in
 * place seems to discard a signal that waits at that moment; the user presses Ctrl-C again. */
#include "cli.h"
#include "source.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

volatile int hpt_cli_interrupted;
static bool ends_at_once;
static pthread_mutex_t deciding = PTHREAD_MUTEX_INITIALIZER; /* or an interrupt could be seen by neither thread */
static char temporary[256]; /* folder */

/* timeout(1) sends a signal to the process and then to its group: what follows at once is the same interrupt. */
static void pass_over_echo(const sigset_t *set) {
    static const struct timespec moment = {.tv_nsec = 100000000}, none = {0};
    nanosleep(&moment, NULL);
    sigtimedwait(set, NULL, &none);
}

/* Other threads are at whatever they are at: NVRTC can take seconds over a kernel. */
_Noreturn static void end(void) {
    hpt_files_finish();
    if (temporary[0]) hpt_folder_remove(temporary);
    hpt_progress_end(&hpt_cli_progress);
    fputs("heptane: Interrupted.\n", stderr);
    _exit(hpt_status_exit_code(HPT_INTERRUPTED));
}

static void *wait_for_interrupts(void *argument) {
    const sigset_t *set = argument;
    for (int number; sigwait(set, &number) == 0;) {
        pthread_mutex_lock(&deciding);
        const bool ends = ends_at_once || hpt_cli_interrupted; /* a second Ctrl-C ends at once too */
        hpt_cli_interrupted = 1;
        pthread_mutex_unlock(&deciding);
        if (ends) break;
        pass_over_echo(set);
    }
    end();
}

void hpt_cli_watch_interrupts(void) {
    static sigset_t set;
    pthread_t watcher;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* threads inherit it */
    if (pthread_create(&watcher, NULL, wait_for_interrupts, &set) == 0)
        pthread_detach(watcher);
    else
        pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* better to die than not to stop */
}

void hpt_cli_leave_nothing(const char *folder) {
    hpt_files_hold();
    snprintf(temporary, sizeof temporary, "%s", folder ? folder : "");
    hpt_files_release();
}

hpt_status hpt_cli_end_on_interrupt(bool ends, hpt_error *error) {
    pthread_mutex_lock(&deciding);
    ends_at_once = ends;
    const bool interrupted = hpt_cli_interrupted;
    pthread_mutex_unlock(&deciding);
    return interrupted ? hpt_error_set(error, HPT_INTERRUPTED, "", "Interrupted.") : HPT_OK;
}
