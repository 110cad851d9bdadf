/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "config_case.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char test_folder[] = "/tmp/cnnvp_test_config_XXXXXX";

const char test_platform[] =
    "platform: base\n"
    "units:\n"
    "  cpu: {model: core, connect: {bus: bus}}\n"
    "  bus: {model: bus}\n"
    "  plic: {model: plic, at: 0x0c000000, connect: {external: cpu.2}}\n"
    "  dram: {model: memory, at: 0x80000000}\n"
    "  first: {model: engine, at: 0x10000000, irq: 1, clock: cpu, connect: {mem: dram, next: second.done}}\n"
    "  second: {model: engine, at: 0x10001000, rows: 4, depth: 2KiB, connect: {mem: dram.mem, irq: plic.source.7}}\n";

const char *test_write(const char *name, const void *data, size_t size)
{
    static char paths[8][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_MAX, "%s/%s", test_folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
    return path;
}

const char *test_write_text(const char *name, const char *text)
{
    return test_write(name, text, strlen(text));
}

cnnvp_result test_load(const char *file, cnnvp_config **config, struct cnnvp_error *error)
{
    error->text[0] = '\0';
    cnnvp_result result = cnnvp_config_new(file, config, error);
    if (result != CNNVP_DONE)
        return result;
    result = cnnvp_config_resolve(*config, error);
    if (result == CNNVP_DONE)
        return result;
    cnnvp_config_free(*config);
    *config = NULL;
    return result;
}

cnnvp_config *test_config(const char *name, const char *text)
{
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    if (test_load(test_write_text(name, text), &config, &error) != CNNVP_DONE)
        fail_msg("%s", error.text);
    return config;
}

uint64_t test_get(const cnnvp_config *config, const char *name)
{
    uint64_t value = 0;
    assert_int_equal(cnnvp_config_get(config, name, &value, NULL), CNNVP_DONE);
    return value;
}

const struct cnnvp_instance *test_instance(const cnnvp_config *config, const char *name)
{
    const struct cnnvp_instance *found = cnnvp_box_find(cnnvp_config_resolved(config), name);
    assert_non_null(found);
    return found;
}

void test_refused_file(const char *file, const char *position, const char *message)
{
    cnnvp_config *config = NULL;
    struct cnnvp_error error;
    if (test_load(file, &config, &error) != CNNVP_BAD_INPUT) {
        cnnvp_config_free(config);
        fail_msg("not refused: %s (%s)", message, error.text);
    }
    assert_null(config);
    char start[1024];
    (void)snprintf(start, sizeof start, "%s%s", file, position);
    if (strncmp(error.text, start, strlen(start)) != 0 || strstr(error.text, message) == NULL)
        fail_msg("\"%s\" is not \"%s ... %s\"", error.text, start, message);
    assert_null(strchr(error.text, '\n'));
}

void test_refused(const struct test_refusal *cases, size_t count)
{
    (void)test_write_text("base.yaml", test_platform);
    for (size_t i = 0; i < count; ++i) {
        char text[2000];
        if (cases[i].units[0] == '!')
            (void)snprintf(text, sizeof text, "%s", cases[i].units + 1);
        else
            (void)snprintf(text, sizeof text, "base: base.yaml\nunits:\n%s", cases[i].units);
        const char *file = test_write_text("wrong.yaml", text);
        if (cases[i].position != NULL) {
            test_refused_file(file, cases[i].position, cases[i].message);
            continue;
        }
        cnnvp_config *config = NULL;
        struct cnnvp_error error;
        assert_int_equal(test_load(file, &config, &error), CNNVP_BAD_INPUT);
        if (strstr(error.text, cases[i].message) == NULL)
            fail_msg("\"%s\" without \"%s\"", error.text, cases[i].message);
    }
}

int test_make_folder(void **state)
{
    (void)state;
    return mkdtemp(test_folder) != NULL ? 0 : -1;
}

int test_remove_folder(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    (void)snprintf(command, sizeof command, "rm -r '%s'", test_folder);
    return system(command);
}
