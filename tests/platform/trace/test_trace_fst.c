/* SPDX-License-Identifier: Apache-2.0 */
/* FST traces, read back by GTKWave's reader: the same signals, values and times as in the VCD of the same events. */
#include "machine.h"
#include "trace_support.h"
#include "vcd_check.h"

#include <fstapi.h>
#include <inttypes.h>

#include "test.h"

enum { SIGNALS = 64, NAME_BYTES = 200 };

/* Sums that do not depend on the order of changes at one time. */
struct changes {
    uint64_t count;
    uint64_t sum;
    uint64_t last;
    char names[SIGNALS][NAME_BYTES]; /* FST: of each handle */
};

static uint64_t hash(uint64_t state, const char *text)
{
    for (; *text; ++text)
        state = (state ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return state;
}

static void add(struct changes *changes, uint64_t time, const char *name, const char *value)
{
    while (value[0] == '0' && value[1])
        ++value;
    ++changes->count;
    changes->sum += hash(hash(hash(time * UINT64_C(0x9E3779B97F4A7C15), name), "="), value);
    if (time > changes->last)
        changes->last = time;
}

static void take_vcd(void *context, uint64_t time, const char *name, const char *value)
{
    add(context, time, name, value);
}

static void take_fst(void *context, uint64_t time, fstHandle handle, const unsigned char *value)
{
    struct changes *changes = context;

    assert_in_range(handle, 1, SIGNALS - 1);
    add(changes, time, changes->names[handle], (const char *)value);
}

static void read_names(void *reader, struct changes *changes)
{
    struct fstHier *entry;
    char scope[NAME_BYTES] = "";

    while ((entry = fstReaderIterateHier(reader)) != NULL) {
        size_t length = strlen(scope);
        char *dot;

        switch (entry->htyp) {
        case FST_HT_SCOPE:
            snprintf(scope + length, sizeof scope - length, "%s%s", length ? "." : "", entry->u.scope.name);
            break;
        case FST_HT_UPSCOPE:
            dot = strrchr(scope, '.');
            scope[dot != NULL ? dot - scope : 0] = '\0';
            break;
        case FST_HT_VAR:
            assert_in_range(entry->u.var.handle, 1, SIGNALS - 1);
            snprintf(changes->names[entry->u.var.handle], NAME_BYTES, "%.99s.%.99s", scope, entry->u.var.name);
            break;
        default:
            fail_msg("hierarchy entry %d", entry->htyp);
        }
    }
}

static void run(const char *file, uint64_t *last)
{
    cnnvp_recorder *recorder = make(path(file));

    (void)cnnvp_recorder_link(recorder, ARRAY, DRAM);
    feed_random(recorder, NULL, last);
    finish(recorder, *last + 5);
}

static void the_same_changes_as_in_vcd(void **state)
{
    struct changes *fst = calloc(1, sizeof *fst), *vcd = calloc(1, sizeof *vcd);
    struct vcd_result result;
    uint64_t last;
    size_t size;
    char *text;
    void *reader;

    (void)state;
    assert_true(fst && vcd);
    run("random.vcd", &last);
    run("random.fst", &last);
    assert_int_equal(file_count(), 2);
    text = content("random.vcd", &size);
    if (!vcd_check(text, size, take_vcd, vcd, &result))
        fail_msg("%s", result.error);
    reader = fstReaderOpen(path("random.fst"));
    assert_non_null(reader);
    assert_int_equal(fstReaderGetTimescale(reader), -12);
    assert_true(fstReaderGetEndTime(reader) >= last + 5); /* a window of a link may end later */
    assert_string_equal(fstReaderGetVersionString(reader), "cnnvp " CNNVP_VERSION);
    assert_string_equal(fstReaderGetDateString(reader), "");
    read_names(reader, fst);
    fstReaderSetFacProcessMaskAll(reader);
    assert_int_equal(fstReaderIterBlocks(reader, take_fst, fst, NULL), 1);
    fstReaderClose(reader);
    assert_true(vcd->count > SPANS);
    assert_int_equal(fst->count, vcd->count);
    assert_int_equal(fst->last, vcd->last);
    assert_int_equal(fst->sum, vcd->sum);
    free(text);
    free(fst);
    free(vcd);
}

static void the_same_run_gives_the_same_bytes(void **state)
{
    char *data[2];
    size_t sizes[2];
    uint64_t last;

    (void)state;
    run("first.fst", &last);
    run("second.fst", &last);
    data[0] = content("first.fst", &sizes[0]);
    data[1] = content("second.fst", &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(data[0], data[1], sizes[0]);
    free(data[0]);
    free(data[1]);
}

static void an_empty_run_can_be_read(void **state)
{
    void *reader;

    (void)state;
    finish(make(path("empty.fst")), 0);
    reader = fstReaderOpen(path("empty.fst"));
    assert_non_null(reader);
    assert_int_equal(fstReaderGetEndTime(reader), 0);
    fstReaderClose(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_same_changes_as_in_vcd, remove_files),
        cmocka_unit_test_teardown(the_same_run_gives_the_same_bytes, remove_files),
        cmocka_unit_test_teardown(an_empty_run_can_be_read, remove_files),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
