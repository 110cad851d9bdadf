/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define TIME_LIMIT_SECONDS 300u
#define WORDS_MAX 128

static char folder[64];

static void open_folder(void)
{
    if (folder[0] != '\0')
        return;
    strcpy(folder, "/tmp/cnnvp_test_XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void close_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    folder[0] = '\0';
}

static struct cli_file read_file(const char *path)
{
    struct cli_file file = {NULL, 0};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return file;
    struct stat info;
    assert_int_equal(fstat(fileno(stream), &info), 0);
    file.size = (size_t)info.st_size;
    file.data = malloc(file.size + 1u);
    assert_non_null(file.data);
    assert_int_equal(fread(file.data, 1, file.size, stream), file.size);
    file.data[file.size] = 0;
    fclose(stream);
    return file;
}

void cli_write(const char *name, const void *data, size_t size)
{
    open_folder();
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(data, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

/* A word of the command line with its @ and $ names replaced. */
static char *expand(const char *word)
{
    char text[1024];
    size_t length = 0;
    while (*word != '\0' && length < sizeof(text) - 1u) {
        const int is_net = strncmp(word, "$net", 4) == 0;
        const int is_data = strncmp(word, "$data", 5) == 0;
        if (*word == '@')
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s/", folder);
        else if (is_net || is_data)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", is_net ? TEST_NETWORKS : TEST_DATA);
        else
            text[length++] = *word;
        word += is_net ? 4 : is_data ? 5 : 1;
    }
    assert_true(length < sizeof(text));
    text[length] = '\0';
    char *copy = strdup(text);
    assert_non_null(copy);
    return copy;
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void redirect(const char *name, int target)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, target) < 0)
        _exit(126);
}

struct cli_run cli_run(const char *format, ...)
{
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    open_folder();
    char *words[WORDS_MAX];
    int count = 0;
    words[count++] = strdup(TEST_CNNVP);
    char trace[256] = "";
    char *rest = line;
    for (char *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        assert_true(count < WORDS_MAX - 1);
        words[count] = expand(word);
        if (strncmp(word, "@trace.", 7) == 0)
            snprintf(trace, sizeof(trace), "%s", words[count]);
        ++count;
    }
    words[count] = NULL;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        redirect("stdout", STDOUT_FILENO);
        redirect("stderr", STDERR_FILENO);
        alarm(TIME_LIMIT_SECONDS);
        execv(words[0], words);
        _exit(127);
    }
    struct cli_run run = {.status = wait_for(child)};
    assert_int_not_equal(run.status, 127);
    char path[256];
    snprintf(path, sizeof(path), "%s/stdout", folder);
    run.out = (char *)read_file(path).data;
    snprintf(path, sizeof(path), "%s/stderr", folder);
    run.err = (char *)read_file(path).data;
    snprintf(path, sizeof(path), "%s/stats", folder);
    run.stats = json_load_file(path, 0, NULL);
    snprintf(path, sizeof(path), "%s/output", folder);
    run.output = read_file(path);
    if (trace[0] != '\0')
        run.trace = read_file(trace);
    for (int i = 0; i < count; ++i)
        free(words[i]);
    close_folder();
    return run;
}

struct cli_run cli_run_ok(const char *command, const char *more)
{
    struct cli_run run = cli_run("%s %s", command, more);
    if (run.status != 0)
        fail_msg("%s %s: status %d: %s", command, more, run.status, run.err);
    assert_non_null(run.stats);
    return run;
}

void cli_free(struct cli_run *run)
{
    free(run->out);
    free(run->err);
    json_decref(run->stats);
    free(run->output.data);
    free(run->trace.data);
    *run = (struct cli_run){0};
}

json_t *cli_comparable(const json_t *stats, const char *without)
{
    assert_non_null(stats);
    json_t *copy = json_deep_copy(stats);
    json_object_del(copy, "wall_seconds");
    char names[256];
    snprintf(names, sizeof(names), "%s", without);
    char *rest = names;
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
        json_object_del(copy, name);
    return copy;
}

static void explain_difference(const char *path, const json_t *a, const json_t *b)
{
    if (json_equal(a, b))
        return;
    if (json_is_object(a) && json_is_object(b)) {
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)(uintptr_t)a, key, value)
        {
            char inner[512];
            snprintf(inner, sizeof(inner), "%.400s.%.100s", path, key);
            explain_difference(inner, value, json_object_get(b, key));
        }
        return;
    }
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); ++i) {
            char inner[512];
            snprintf(inner, sizeof(inner), "%.480s.%zu", path, i);
            explain_difference(inner, json_array_get(a, i), json_array_get(b, i));
        }
        return;
    }
    char *left = json_dumps(a, JSON_ENCODE_ANY | JSON_COMPACT);
    char *right = json_dumps(b, JSON_ENCODE_ANY | JSON_COMPACT);
    print_error("%s: %s, %s\n", path, left != NULL ? left : "nothing", right != NULL ? right : "nothing");
    free(left);
    free(right);
}

void cli_assert_same_stats(const json_t *a, const json_t *b, const char *without)
{
    json_t *left = cli_comparable(a, without);
    json_t *right = cli_comparable(b, without);
    const int same = json_equal(left, right);
    if (!same)
        explain_difference("stats", left, right);
    json_decref(left);
    json_decref(right);
    assert_true(same);
}

void cli_assert_same_file(const struct cli_file *a, const struct cli_file *b, const char *what)
{
    if (a->data == NULL || b->data == NULL || a->size != b->size || memcmp(a->data, b->data, a->size) != 0)
        fail_msg("%s differs (%zu and %zu bytes)", what, a->size, b->size);
}

static const json_t *find(const json_t *stats, const char *path)
{
    char names[256];
    snprintf(names, sizeof(names), "%s", path);
    const json_t *at = stats;
    char *rest = names;
    for (char *name = strtok_r(names, ".", &rest); name != NULL && at != NULL; name = strtok_r(NULL, ".", &rest))
        at = json_is_array(at) ? json_array_get(at, strtoul(name, NULL, 10)) : json_object_get(at, name);
    if (at == NULL)
        fail_msg("the statistics have no %s", path);
    return at;
}

long long cli_number(const json_t *stats, const char *path)
{
    const json_t *value = find(stats, path);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

double cli_real(const json_t *stats, const char *path)
{
    const json_t *value = find(stats, path);
    assert_true(json_is_number(value));
    return json_number_value(value);
}
