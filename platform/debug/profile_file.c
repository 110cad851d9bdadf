/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a profile in callgrind's format ("Callgrind Format Specification", valgrind's manual). */
#include "profile_internal.h"

#include "base/output_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

struct writer {
    const struct cnnvp_profile *profile;
    cnnvp_output *output;
    const char **files; /* files named so far; the symbols have a single text for each file */
    size_t file_count;
    unsigned char *said; /* functions named so far */
    const char *current; /* file of the following lines */
};

/* A name is written once; later its number is used. */
static void print_file(struct writer *writer, const char *key, const char *file)
{
    const char *name = file != NULL ? file : "???";
    size_t i = 0;
    while (i < writer->file_count && strcmp(writer->files[i], name) != 0)
        ++i;
    if (i < writer->file_count) {
        cnnvp_output_printf(writer->output, "%s=(%zu)\n", key, i + 1u);
        return;
    }
    writer->files[writer->file_count++] = name;
    cnnvp_output_printf(writer->output, "%s=(%zu) %.900s\n", key, i + 1u, name);
}

static void print_function(struct writer *writer, const char *key, const struct profile_function *function)
{
    const size_t i = (size_t)(function - writer->profile->functions);
    cnnvp_output_printf(writer->output, writer->said[i] ? "%s=(%zu)\n" : "%s=(%zu) %.900s\n", key, i + 1u,
                        function->name);
    writer->said[i] = 1;
}

static void print_cost(const struct writer *writer, uint32_t address, uint32_t line, const struct cnnvp_core_cost *cost)
{
    cnnvp_output_printf(writer->output, "0x%" PRIx32 " %" PRIu32, address, line);
#define EVENT(member, name, help) cnnvp_output_printf(writer->output, " %" PRIu64, cost->member);
    PROFILE_EVENTS(EVENT)
#undef EVENT
    cnnvp_output_printf(writer->output, "\n");
}

static void print_arc(struct writer *writer, const struct profile_arc *arc, uint32_t line)
{
    const struct profile_function *to = cnnvp_profile_function_at(writer->profile, arc->key.to);
    print_file(writer, "cfi", to->file);
    print_function(writer, "cfn", to);
    cnnvp_output_printf(writer->output, "calls=%" PRIu64 " 0x%" PRIx32 " %" PRIu32 "\n", arc->calls, arc->key.to,
                        to->line);
    print_cost(writer, arc->key.from, line, &arc->cost);
}

/* Prints an instruction and its calls; *arc is the next arc to consider. */
static void print_instruction(struct writer *writer, uint32_t address, const struct cnnvp_core_cost *cost,
                              uint32_t *arc)
{
    const struct cnnvp_profile *profile = writer->profile;
    const char *file;
    const uint32_t line = cnnvp_symbols_line(profile->symbols, address, &file);
    if (file != NULL && (writer->current == NULL || strcmp(file, writer->current) != 0)) {
        print_file(writer, "fi", file); /* begin or end of inlined code */
        writer->current = file;
    }
    print_cost(writer, address, line, cost);
    while (*arc < profile->arc_count && profile->arcs[*arc]->key.from < address)
        ++*arc; /* caller without an instruction: the program's start */
    for (; *arc < profile->arc_count && profile->arcs[*arc]->key.from == address; ++*arc)
        print_arc(writer, profile->arcs[*arc], line);
}

static void print_header(const struct writer *writer)
{
    const struct cnnvp_core_cost *all = &writer->profile->all;
    cnnvp_output_printf(writer->output,
                        "# callgrind format\nversion: 1\ncreator: cnnvp " CNNVP_VERSION "\ncmd: %.900s\n",
                        writer->profile->program);
    cnnvp_output_printf(writer->output, "positions: instr line\n");
#define EVENT(member, name, help) cnnvp_output_printf(writer->output, "event: " name " : " help "\n");
    PROFILE_EVENTS(EVENT)
#undef EVENT
    cnnvp_output_printf(writer->output, "events:");
#define EVENT(member, name, help) cnnvp_output_printf(writer->output, " " name);
    PROFILE_EVENTS(EVENT)
#undef EVENT
    cnnvp_output_printf(writer->output, "\nsummary:");
#define EVENT(member, name, help) cnnvp_output_printf(writer->output, " %" PRIu64, all->member);
    PROFILE_EVENTS(EVENT)
#undef EVENT
    cnnvp_output_printf(writer->output, "\n\nob=(1) %.900s\n", writer->profile->program);
}

static void write_all(struct writer *writer)
{
    const struct cnnvp_profile *profile = writer->profile;
    const struct profile_function *last = NULL;
    uint32_t arc = 0;
    print_header(writer);
    for (uint32_t i = 0; i < profile->page_count; ++i) {
        for (uint32_t k = 0; k < PROFILE_PAGE_COSTS; ++k) {
            const uint32_t address = profile->pages[i]->key.from + 2u * k;
            if (!cnnvp_profile_is_cost(&profile->pages[i]->costs[k]))
                continue;
            const struct profile_function *function = cnnvp_profile_function_at(profile, address);
            if (function != last) {
                cnnvp_output_printf(writer->output, "\n");
                print_file(writer, "fl", function->file);
                print_function(writer, "fn", function);
                writer->current = function->file;
            }
            last = function;
            print_instruction(writer, address, &profile->pages[i]->costs[k], &arc);
        }
    }
}

/* Upper bound: each function has one file, and each instruction may have another. */
static size_t maximum_files(const struct cnnvp_profile *profile)
{
    return profile->function_count + (size_t)profile->page_count * PROFILE_PAGE_COSTS + 1u;
}

cnnvp_result cnnvp_profile_finish(struct cnnvp_profile *profile, struct cnnvp_error *error)
{
    if (profile->written || profile->symbols == NULL)
        return CNNVP_DONE;
    const int failed = cnnvp_profile_make_functions(profile) != 0 || profile->out_of_memory;
    struct writer writer = {.profile = profile,
                            .files = malloc(maximum_files(profile) * sizeof *writer.files),
                            .said = calloc(profile->function_count + 1u, 1)};
    cnnvp_result result = CNNVP_FAILED;
    profile->written = 1;
    if (failed || writer.files == NULL || writer.said == NULL)
        (void)snprintf(error->text, sizeof error->text, "out of memory for the profile");
    else
        result = cnnvp_output_new(profile->file, &writer.output, error);
    if (result == CNNVP_DONE) {
        write_all(&writer);
        result = cnnvp_output_finish(writer.output, error);
    }
    free((void *)writer.files);
    free(writer.said);
    return result;
}
