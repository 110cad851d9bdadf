/* SPDX-License-Identifier: Apache-2.0 */
/* All streams read back as one: the same bytes, whatever was kept in memory. */
#include "machine.h"
#include "trace_record.h"
#include "trace_support.h"
#include "vcd_check.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static const char *no_phase(const void *context, uint32_t tag)
{
    (void)context, (void)tag;
    return "";
}

static const char *plain_layer(const void *context, uint32_t tag, char *buffer, size_t size)
{
    (void)context;
    snprintf(buffer, size, "tag_%" PRIu32, tag);
    return buffer;
}

/* The same events with a memory limit of some chunks: all the rest goes through the file. */
static void a_spilled_recording_gives_the_same_file(void **state)
{
    static const char *const suffixes[] = {"pftrace", "vcd"};
    struct cnnvp_error error;

    (void)state;
    for (int i = 0; i < 2; ++i) {
        struct cnnvp_trace *trace;
        char name[32];
        uint64_t last;
        size_t size;
        size_t spilled_size;
        char *data;
        char *spilled;

        snprintf(name, sizeof name, "kept.%s", suffixes[i]);
        run_random(name);
        data = content(name, &size);
        snprintf(name, sizeof name, "spilled.%s", suffixes[i]);
        assert_int_equal(cnnvp_trace_new(machine(), path(name), &trace, &error), CNNVP_DONE);
        trace->memory_limit = 3 * CNNVP_CHUNK_BYTES;
        trace->layer_name = plain_layer;
        trace->layer_phase = no_phase;
        cnnvp_trace_link(trace, 0, ARRAY, DRAM);
        feed_random(NULL, trace, &last);
        assert_true(trace->spill_size > 0);
        assert_true(trace->memory_used <= trace->memory_limit);
        cnnvp_trace_links_finish(trace, last);
        assert_int_equal(cnnvp_trace_finish(trace, last, &error), CNNVP_DONE);
        cnnvp_trace_free(trace);
        spilled = content(name, &spilled_size);
        assert_int_equal(size, spilled_size);
        assert_memory_equal(data, spilled, size);
        free(data);
        free(spilled);
    }
    assert_int_equal(file_count(), 4);
}

static void the_same_run_gives_the_same_bytes(void **state)
{
    size_t sizes[2];
    char *data[2];

    (void)state;
    run_random("first.pftrace");
    run_random("second.pftrace");
    data[0] = content("first.pftrace", &sizes[0]);
    data[1] = content("second.pftrace", &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(data[0], data[1], sizes[0]);
    free(data[0]);
    free(data[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_spilled_recording_gives_the_same_file, remove_files),
        cmocka_unit_test_teardown(the_same_run_gives_the_same_bytes, remove_files),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
