/* heptane/status.h - what every Heptane function returns, and how errors travel.
 *
 * Every function that can fail returns an hpt_status. Values are fixed for ever and come in decades; the command line
 * turns each decade into one exit code. A caller who wants the reason passes an hpt_error (may be NULL): on failure it
 * holds the code, where (a file with line and column, an array and index, an option) and a full sentence saying why.
 * The library never prints, exits, aborts or keeps a "last error".
 */
#ifndef HEPTANE_STATUS_H
#define HEPTANE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hpt_status {
    HPT_OK = 0,
    /* 10..19: a negative answer (exit 1) */
    HPT_REFUTED = 10, /* a proof that the claim is false: the scheme does not multiply matrices */
    HPT_NOT_FOUND = 11,
    HPT_DIFFERS = 12, /* a result differs from its reference by more than the stated bound */
    /* 20..29: usage (exit 2) */
    HPT_USAGE = 20,
    /* 30..39: bad input (exit 3) */
    HPT_MALFORMED = 30,   /* the text does not follow the format */
    HPT_LIES = 31,        /* the text contradicts itself (header against body) */
    HPT_UNSUPPORTED = 32, /* well formed, but not something this command can take; the message says why */
    HPT_TOO_LARGE = 33,   /* over a documented limit */
    /* 40..49: input and output (exit 4) */
    HPT_IO = 40,
    HPT_NO_MEMORY = 41,
    /* 50..59: no device, driver or NVRTC (exit 5) */
    HPT_NO_DEVICE = 50,
    HPT_NO_NVRTC = 51,
    HPT_DRIVER = 52, /* the driver refused a call */
    /* 60..69: a kernel did not compile or load (exit 6) */
    HPT_COMPILE = 60,
    HPT_LOAD = 61,
    HPT_TEMPLATE = 62, /* a Lua template failed; the place is the template's line */
    HPT_EMULATOR = 63, /* the emulator found a fault in a kernel */
    /* 70..79: undecided (exit 7) */
    HPT_UNDECIDED = 70,
    /* 130: interrupted; partial results are saved (exit 130) */
    HPT_INTERRUPTED = 130,
    /* 140: a bug in Heptane itself (exit 3 with a request to report it) */
    HPT_INTERNAL = 140
} hpt_status;

enum { HPT_ERROR_WHERE = 320, HPT_ERROR_MESSAGE = 1200 };

/* Owned by the caller, no clean-up needed. Initialise with {0}. */
typedef struct hpt_error {
    hpt_status code;
    char where[HPT_ERROR_WHERE];     /* "strassen.json:12:7", "--rank", "" if there is no place */
    char message[HPT_ERROR_MESSAGE]; /* a full sentence without the place */
} hpt_error;

/* Short fixed name of a status, for logs ("refuted"); never NULL. */
const char *hpt_status_name(hpt_status status);
/* The exit code that belongs to a status (see the table in the README). */
int hpt_status_exit_code(hpt_status status);
/* Fills *error (if not NULL) and returns code, so that `return hpt_error_set(...)` reads well. printf-style. */
hpt_status hpt_error_set(hpt_error *error, hpt_status code, const char *where, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
