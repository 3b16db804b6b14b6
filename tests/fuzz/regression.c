/* Runs a fuzz target over the files of the folders that are named: findings of the past stay fixed, without a fuzzer.
 */
#include "core.h"
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_folder(const char *folder) {
    int count = 0;
    DIR *open = opendir(folder);
    if (!open) return -1;
    for (struct dirent *entry; (entry = readdir(open));) {
        char path[1024], *bytes = NULL;
        size_t length;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (hpt_file_read(&bytes, &length, path, 1 << 24, NULL) != HPT_OK) continue;
        LLVMFuzzerTestOneInput((const uint8_t *)bytes, length);
        free(bytes);
        count++;
    }
    closedir(open);
    return count;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        int count = run_folder(argv[i]);
        if (count < 0) {
            fprintf(stderr, "cannot open %s\n", argv[i]);
            return 1;
        }
        printf("%s: %d inputs\n", argv[i], count);
    }
    return argc < 2;
}
