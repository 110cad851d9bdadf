/* SPDX-License-Identifier: Apache-2.0 */
/* A worker by itself: points one after the other, its ends, how large it grows. */
#define _XOPEN_SOURCE 700
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "test.h"

#include "worker.h"

static char folder[64];

static cnnvp_sweep *make_sweep(const char *rows)
{
    char file[100], text[1024];
    struct cnnvp_error error = {""};
    cnnvp_sweep *sweep = NULL;
    (void)snprintf(file, sizeof file, "%s/spec.yaml", folder);
    (void)snprintf(text, sizeof text,
                   "network: %s/scripts/networks/lenet5.onnx\noptions: {timing_only: true}\n"
                   "parameters: {pe_array.rows: %s}\n",
                   getenv("SOURCE"), rows);
    assert_int_equal(cnnvp_write_text(file, text, strlen(text), &error), CNNVP_DONE);
    if (cnnvp_sweep_new(file, &sweep, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return sweep;
}

static struct cnnvp_sweep_point name_of(const cnnvp_sweep *sweep, uint64_t number)
{
    struct cnnvp_error error = {""};
    struct cnnvp_point point;
    assert_int_equal(cnnvp_point_prepare(sweep, number, &point, &error), CNNVP_DONE);
    const struct cnnvp_sweep_point name = cnnvp_point_name(&point);
    cnnvp_point_clear(&point);
    return name;
}

static cnnvp_result give_in(struct cnnvp_worker *worker, const cnnvp_sweep *sweep, const char *where,
                            const struct cnnvp_sweep_point *name, struct cnnvp_error *error)
{
    const struct cnnvp_driver driver = {
        .sweep = (cnnvp_sweep *)(uintptr_t)sweep, .program = (char *)"none", .folder = (char *)(uintptr_t)where};
    return cnnvp_worker_give(worker, &driver, name, error);
}

static void give(struct cnnvp_worker *worker, const cnnvp_sweep *sweep, const struct cnnvp_sweep_point *name)
{
    struct cnnvp_error error = {""};
    if (give_in(worker, sweep, folder, name, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
}

/* The statistics of a point that has just run, less the time that it took; removes its result file. */
static char *take(const struct cnnvp_sweep_point *name)
{
    struct cnnvp_error error = {""};
    struct cnnvp_row row;
    char file[120];
    (void)snprintf(file, sizeof file, "%s/%s.result", folder, name->key);
    if (cnnvp_result_read(file, &row, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    assert_false(row.failed);
    json_t *stats = json_loads(row.stats, JSON_ALLOW_NUL, NULL);
    assert_int_equal(json_object_del(stats, "wall_seconds"), 0);
    char *text = json_dumps(stats, JSON_COMPACT);
    json_decref(stats);
    cnnvp_row_clear(&row);
    (void)unlink(file);
    return text;
}

static enum cnnvp_worker_news hear(struct cnnvp_worker *worker, struct cnnvp_worker_end *end, struct cnnvp_error *error)
{
    struct pollfd wait = {.fd = worker->line, .events = POLLIN};
    enum cnnvp_worker_news news;
    do {
        (void)poll(&wait, 1, 100);
        news = cnnvp_worker_hear(worker, end, error);
    } while (news == CNNVP_WORKER_BUSY);
    return news;
}

static char *run(struct cnnvp_worker *worker, const cnnvp_sweep *sweep, uint64_t number)
{
    const struct cnnvp_sweep_point name = name_of(sweep, number);
    struct cnnvp_worker_end end;
    struct cnnvp_error error = {""};
    give(worker, sweep, &name);
    assert_int_equal(hear(worker, &end, &error), CNNVP_WORKER_DONE);
    return take(&name);
}

/* What a point says does not depend on what ran in its process before. */
static void test_order(void **state)
{
    enum { POINTS = 4 };
    cnnvp_sweep *sweep = make_sweep("[3, 4, 8, 16]");
    struct cnnvp_worker worker = {.process = 0};
    (void)state;
    for (uint64_t i = 0; i < POINTS; ++i) {
        struct cnnvp_worker fresh = {.process = 0};
        char *alone = run(&fresh, sweep, POINTS - 1 - i);
        char *behind = run(&worker, sweep, POINTS - 1 - i);
        assert_string_equal(alone, behind);
        assert_int_equal(worker.given, i + 1);
        cnnvp_worker_stop(&fresh, 1);
        free(alone);
        free(behind);
    }
    cnnvp_worker_stop(&worker, 1);
    assert_int_equal(worker.process, 0);
    cnnvp_sweep_free(sweep);
}

/* A worker ends by itself, with its last point done, before it has run a thousand. */
static void test_bounded(void **state)
{
    cnnvp_sweep *sweep = make_sweep("[16]");
    struct cnnvp_worker worker = {.process = 0};
    unsigned points = 0;
    (void)state;
    do {
        free(run(&worker, sweep, 0));
        ++points;
    } while (worker.process && points < 1000);
    assert_int_equal(worker.process, 0);
    assert_int_equal(worker.given, points);
    free(run(&worker, sweep, 0));
    assert_true(worker.process > 0 && worker.given == 1);
    cnnvp_worker_stop(&worker, 1);
    cnnvp_sweep_free(sweep);
}

/* In a worker that stays: one whose memory has grown ends by itself, and signals to 0 are for the whole group. */
static void run_and_stay(struct cnnvp_worker *worker, const cnnvp_sweep *sweep, uint64_t number)
{
    for (int tries = 0; tries < 20 && (tries == 0 || worker->process == 0); ++tries)
        free(run(worker, sweep, number));
    assert_true(worker->process > 0);
}

static void test_ends(void **state)
{
    cnnvp_sweep *sweep = make_sweep("[4, 8]");
    const struct cnnvp_sweep_point name = name_of(sweep, 0);
    struct cnnvp_worker worker = {.process = 0};
    struct cnnvp_worker_end end;
    struct cnnvp_error error = {""};
    char text[80];
    (void)state;
    /* Stopped, so that it cannot finish the point before it is ended. */
    run_and_stay(&worker, sweep, 1);
    assert_int_equal(kill(worker.process, SIGSTOP), 0);
    give(&worker, sweep, &name);
    assert_int_equal(kill(worker.process, SIGKILL), 0);
    assert_int_equal(hear(&worker, &end, &error), CNNVP_WORKER_ENDED);
    assert_true(cnnvp_worker_was_killed(&end) && !end.first && worker.process == 0);
    /* A crash in a worker that had run nothing before. */
    give(&worker, sweep, &name);
    assert_int_equal(kill(worker.process, SIGABRT), 0);
    if (hear(&worker, &end, &error) == CNNVP_WORKER_ENDED) {
        assert_true(!cnnvp_worker_was_killed(&end) && end.first);
        cnnvp_worker_describe(&end, text, sizeof text);
        assert_string_equal(text, "the worker was ended by signal 6 (Aborted)");
    }
    cnnvp_worker_stop(&worker, 1);
    /* Ended while it had nothing to do: the next point gets a new one. */
    run_and_stay(&worker, sweep, 1);
    assert_int_equal(kill(worker.process, SIGKILL), 0);
    struct pollfd wait = {.fd = worker.line, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 10000), 1);
    free(run(&worker, sweep, 0));
    assert_int_equal(worker.given, 1);
    cnnvp_worker_stop(&worker, 1);
    cnnvp_sweep_free(sweep);
}

static void test_cannot_write(void **state)
{
    cnnvp_sweep *sweep = make_sweep("[4]");
    const struct cnnvp_sweep_point name = name_of(sweep, 0);
    struct cnnvp_worker worker = {.process = 0};
    struct cnnvp_worker_end end;
    struct cnnvp_error error = {""};
    (void)state;
    assert_int_equal(give_in(&worker, sweep, "/nosuch/folder", &name, &error), CNNVP_DONE);
    assert_int_equal(hear(&worker, &end, &error), CNNVP_WORKER_CANNOT_WRITE);
    assert_non_null(strstr(error.text, "/nosuch/folder"));
    assert_int_equal(worker.process, 0);
    cnnvp_sweep_free(sweep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_bounded),
                                       cmocka_unit_test(test_ends), cmocka_unit_test(test_cannot_write)};
    char file[100];
    (void)snprintf(folder, sizeof folder, "/tmp/cnnvp_worker_XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)snprintf(file, sizeof file, "%s/spec.yaml", folder);
    (void)unlink(file);
    (void)rmdir(folder);
    return failed;
}
