/* SPDX-License-Identifier: Apache-2.0 */
/* vcd_check FILE...: exit status 0 if all are valid dumps. */
#include "read_file.h"
#include "vcd_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int status = argc < 2 ? 2 : 0;

    if (argc < 2)
        fprintf(stderr, "usage: vcd_check FILE...\n");
    for (int i = 1; i < argc; ++i) {
        struct vcd_result result;
        size_t size;
        char *text = read_file(argv[i], &size);

        if (text == NULL) {
            perror(argv[i]);
            status = 2;
        } else if (!vcd_check(text, size, NULL, NULL, &result)) {
            fprintf(stderr, "%s: %s\n", argv[i], result.error);
            status = 1;
        } else {
            printf("%s: %zu signals, %zu changes, ends at %" PRIu64 "\n", argv[i], result.signals, result.changes,
                   result.end_time);
        }
        free(text);
    }
    return status;
}
