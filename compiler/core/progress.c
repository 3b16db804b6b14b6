#include "core.h"
#include <stdio.h>

void hpt_progress_say(const hpt_progress *progress, const char *format, ...) {
    if (!progress || !progress->hook) return;
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    progress->hook(progress->user, line);
}

bool hpt_progress_interrupted(const hpt_progress *progress) {
    return progress && progress->interrupted && *progress->interrupted;
}
