/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of bursts that no access asked for, and by which accesses. */
#include <inttypes.h>
#include <jansson.h>

#include "cli.h"

enum { LINES = 10, PERCENT = 5 /* of the bytes of bursts; below, nothing is said */ };

static int64_t member(const json_t *object, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key, const char *missing)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL && value[0] != '\0' ? value : missing;
}

static int64_t in_vain(const json_t *row)
{
    return member(row, "burst_bytes") - member(row, "bytes");
}

static void print_first(const json_t *row, FILE *stream)
{
    char bytes[32];
    (void)fprintf(stream, "; %s of it by %s: %ss rows of %" PRId64 " bytes of %s, aligned to %" PRId64,
                  cli_bytes_text(bytes, in_vain(row)), text(row, "layer", "no layer"), text(row, "access", "move"),
                  member(row, "row_bytes"), text(row, "tensor", "no tensor"), member(row, "alignment"));
}

static void print_table(const json_t *rows, FILE *stream)
{
    size_t index;
    json_t *row;
    (void)fprintf(stream, "  %s%-20s  %-20s  %-6s %10s %8s %12s %10s%s\n", cli_style(CLI_BOLD), "layer", "tensor",
                  "access", "row bytes", "aligned", "rows", "in vain", cli_style(CLI_PLAIN));
    json_array_foreach((json_t *)(uintptr_t)rows, index, row)
    {
        char count[32], bytes[32];
        if (index >= LINES)
            break;
        (void)fprintf(stream, "  %-20.20s  %-20.20s  %-6s %10" PRId64 " %8" PRId64 " %12s %10s\n",
                      text(row, "layer", "-"), text(row, "tensor", "-"), text(row, "access", "-"),
                      member(row, "row_bytes"), member(row, "alignment"), cli_grouped(count, member(row, "rows")),
                      cli_bytes_text(bytes, in_vain(row)));
    }
}

void cli_print_overfetch(const json_t *root, int verbose, FILE *stream)
{
    const json_t *memory = json_object_get(root, "memory"), *rows = json_object_get(memory, "overfetch");
    const int64_t bursts = member(memory, "burst_bytes");
    const int64_t sum = bursts - member(memory, "read_bytes") - member(memory, "write_bytes");
    char bytes[32];
    if (json_array_size(rows) == 0 || sum * 100 < bursts * PERCENT)
        return;
    (void)fprintf(stream, "%-20s  %s", "fetched in vain", cli_bytes_text(bytes, sum));
    if (!verbose)
        print_first(json_array_get(rows, 0), stream);
    (void)fputc('\n', stream);
    if (verbose)
        print_table(rows, stream);
}
