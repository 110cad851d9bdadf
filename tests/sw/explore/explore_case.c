/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include <unistd.h>

#include "test.h"

#include "explore_case.h"

char explore_folder[64];

static char spec_file[100];

int explore_case_begin(void **state)
{
    (void)state;
    (void)snprintf(explore_folder, sizeof explore_folder, "/tmp/cnnvp_explore_XXXXXX");
    if (mkdtemp(explore_folder) == NULL)
        return -1;
    (void)snprintf(spec_file, sizeof spec_file, "%s/spec.yaml", explore_folder);
    return 0;
}

int explore_case_end(void **state)
{
    (void)state;
    (void)unlink(spec_file);
    return rmdir(explore_folder);
}

const char *explore_with_network(const char *text)
{
    static char whole[4096];
    (void)snprintf(whole, sizeof whole, "network: %s/scripts/networks/lenet5.onnx\noptions: {timing_only: true}\n%s",
                   getenv("SOURCE"), text);
    return whole;
}

const char *explore_write_spec(const char *text)
{
    struct cnnvp_error error = {""};
    assert_int_equal(cnnvp_write_text(spec_file, text, strlen(text), &error), CNNVP_DONE);
    return spec_file;
}

cnnvp_sweep *explore_sweep(const char *text)
{
    struct cnnvp_error error = {""};
    cnnvp_sweep *sweep = NULL;
    if (cnnvp_sweep_new(explore_write_spec(explore_with_network(text)), &sweep, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return sweep;
}

void explore_check_error(const char *text, const struct explore_error *expected)
{
    struct cnnvp_error error = {""};
    cnnvp_sweep *sweep = NULL;
    assert_int_equal(cnnvp_sweep_new(explore_write_spec(text), &sweep, &error), CNNVP_BAD_INPUT);
    assert_null(sweep);
    if (strstr(error.text, expected->message) == NULL)
        fail_msg("%s: %s", expected->text, error.text);
}
