/* launch_file.h - one launch of any PTX kernel, described in JSON (README.md has the format): grid, buffers, arguments.
 * Used by `heptane emulate`; a launch can be run any number of times, on devices of different seeds at once. */
#ifndef HPT_EMULATOR_LAUNCH_FILE_H
#define HPT_EMULATOR_LAUNCH_FILE_H

#include "emulator.h"

typedef struct hpt_emu_launch_file hpt_emu_launch_file;

/* Paths in the file are relative to its folder. */
hpt_status hpt_emu_launch_file_read(hpt_emu_launch_file **out, const char *path, hpt_error *error);
void hpt_emu_launch_file_close(hpt_emu_launch_file *file);
/* The target that it names, or NULL. */
const char *hpt_emu_launch_file_target(const hpt_emu_launch_file *file);
/* Loads the PTX on the device, fills the buffers, launches; `save`: writes the buffers that are to be kept. Returns
 * HPT_EMULATOR if the launch had findings (they are in the device). */
hpt_status hpt_emu_launch_file_run(const hpt_emu_launch_file *file, hpt_emu_device *device, const char *ptx,
                                   size_t length, bool save, hpt_error *error);

#endif
