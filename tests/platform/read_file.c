/* SPDX-License-Identifier: Apache-2.0 */
#include "read_file.h"

#include <stdio.h>
#include <stdlib.h>

char *read_file(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    size_t capacity = 1u << 16;
    char *data = file != NULL ? malloc(capacity) : NULL;

    *size = 0;
    while (data != NULL) {
        size_t got = fread(data + *size, 1, capacity - 1 - *size, file);

        *size += got;
        if (!got)
            break;
        if (*size == capacity - 1) {
            char *larger = realloc(data, capacity *= 2);

            if (larger == NULL)
                free(data);
            data = larger;
        }
    }
    if (data != NULL)
        data[*size] = '\0';
    if (file != NULL)
        (void)fclose(file);
    return data;
}
