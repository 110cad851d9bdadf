/* SPDX-License-Identifier: Apache-2.0 */
/*
 * soak [--seed S] [--from N] [--count N] [--seconds T] [--state FILE] [--program CNNVP]: random pairs of a network and a platform through
 * `cnnvp run`, checked for the contract's invariants. What a pair is follows from the seed and its number. --state: goes on
 * behind the last pair that FILE names, and keeps FILE up to date. A pair that fails is named with the commands that show it,
 * its network stays; exit status 1. Ctrl-C ends it after the pair. --program: an installed cnnvp, which no build changes
 * meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "soak.h"

extern char **environ;

struct run {
    int status;
    json_t *stats;
    unsigned char *output; /* NULL: none was written */
    size_t output_size;
    char message[512];     /* first line of standard error */
};

/* A plan is chosen by estimates: where nothing overlaps (instruction.order=strict) larger tiles can hide less. */
#define SLOWER_PART 50

struct soak {
    char folder[64];
    const char *program;
    uint64_t seed, pair, checked, refused, failed;
    uint64_t slower; /* pairs of this call in which larger buffers took longer, within SLOWER_PART */
    struct soak_platform platform;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

static void *read_file(const char *file, size_t *size)
{
    FILE *stream = fopen(file, "rb");
    unsigned char *data = NULL;
    *size = 0;
    if (stream == NULL)
        return NULL;
    size_t room = 0;
    for (size_t got = 1; got != 0; *size += got) {
        if (*size == room) {
            room = room * 2 + 65536;
            unsigned char *more = realloc(data, room);
            if (more == NULL)
                break;
            data = more;
        }
        got = fread(data + *size, 1, room - *size, stream);
    }
    (void)fclose(stream);
    return data;
}

static void clear(struct run *run)
{
    json_decref(run->stats);
    free(run->output);
    *run = (struct run){0};
}

/* The command for people to repeat, too. */
static void command_text(const struct soak *soak, uint32_t larger, const char *more, char *text, size_t room)
{
    (void)snprintf(text, room,
                   "run net.onnx --seed %" PRIu64 " -q --stats stats.json -o out.npy %s -s input_buffer.size=%u "
                   "-s weight_buffer.size=%u -s output_buffer.size=%u %s",
                   soak->pair, soak->platform.options, soak->platform.buffers[0] * larger,
                   soak->platform.buffers[1] * larger, soak->platform.buffers[2] * larger, more);
}

static void start(const struct soak *soak, uint32_t larger, const char *more, struct run *run)
{
    enum { MOST = 128 };
    char text[2048];
    char *words[MOST] = {(char[]){"cnnvp"}};
    size_t count = 1;
    command_text(soak, larger, more, text, sizeof text);
    char *rest = text;
    for (char *word = strtok_r(text, " ", &rest); word != NULL && count < MOST - 1; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    posix_spawn_file_actions_t actions;
    pid_t child;
    *run = (struct run){.status = -1};
    (void)unlink("stats.json");
    (void)unlink("out.npy");
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int why = posix_spawn(&child, soak->program, &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (why != 0)
        return;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run->stats = json_load_file("stats.json", JSON_ALLOW_NUL, NULL);
    json_object_del(run->stats, "wall_seconds");
    run->output = read_file("out.npy", &run->output_size);
    size_t size;
    char *errors = read_file("err", &size);
    (void)snprintf(run->message, sizeof run->message, "%.*s", (int)(size < 500 ? size : 500),
                   errors != NULL ? errors : "");
    free(errors);
}

static void complain(struct soak *soak, uint32_t larger, const char *more, const char *what, const char *detail)
{
    char text[2048];
    command_text(soak, larger, more, text, sizeof text);
    printf("pair %" PRIu64 " of seed %" PRIu64 ": %s%s%s\n  in %s: cnnvp %s\n", soak->pair, soak->seed, what,
           *detail ? ": " : "", detail, soak->folder, text);
    (void)fflush(stdout);
}

/* ---- comparisons ---- */

static json_int_t number(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

static json_int_t sum(const json_t *rows, const char *member)
{
    json_int_t total = 0;
    for (size_t i = 0; i < json_array_size(rows); ++i)
        total += number(json_array_get(rows, i), member);
    return total;
}

/* Equal but for what a parameter or an option says of itself. */
static int same_stats(const json_t *a, const json_t *b, int values)
{
    json_t *x = json_copy((json_t *)(uintptr_t)a);
    json_t *y = json_copy((json_t *)(uintptr_t)b);
    json_object_del(x, "platform");
    json_object_del(y, "platform");
    if (!values) {
        json_object_del(x, "values");
        json_object_del(y, "values");
    }
    const int same = json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

static int same_output(const struct run *a, const struct run *b)
{
    return a->output != NULL && b->output != NULL && a->output_size == b->output_size &&
           memcmp(a->output, b->output, a->output_size) == 0;
}

/* The accelerator's compute cycles and traffic, not its time. */
static const char *same_work(const json_t *a, const json_t *b, int traffic)
{
    static const char *const members[] = {"compute_cycles", "macs", "input_words", "weight_words", "output_words",
                                          "dram_read_bytes", "dram_write_bytes"};
    const json_t *x = json_object_get(a, "layers");
    const json_t *y = json_object_get(b, "layers");
    if (json_array_size(x) != json_array_size(y))
        return "layers";
    for (size_t i = 0; i < json_array_size(x); ++i)
        for (size_t m = 0; m < (traffic ? sizeof members / sizeof members[0] : 2); ++m)
            if (number(json_array_get(x, i), members[m]) != number(json_array_get(y, i), members[m]))
                return members[m];
    return NULL;
}

/* Each cycle and byte belongs to exactly one layer. */
static const char *accounts(const json_t *stats)
{
    const json_t *layers = json_object_get(stats, "layers");
    const json_t *total = json_object_get(stats, "total");
    const json_t *memory = json_object_get(stats, "memory");
    for (size_t i = 0; i < json_array_size(layers); ++i) {
        const json_t *layer = json_array_get(layers, i);
        json_t *stalls = json_object_get(layer, "stall_cycles");
        json_int_t cycles = number(layer, "compute_cycles");
        for (void *at = json_object_iter(stalls); at != NULL; at = json_object_iter_next(stalls, at))
            cycles += json_integer_value(json_object_iter_value(at));
        if (cycles != number(layer, "cycles"))
            return "a layer's cycles are not its compute and stall cycles";
    }
    if (number(total, "accel_cycles") != sum(layers, "cycles") + number(total, "idle_cycles"))
        return "accelerator cycles are not those of the layers and idle ones";
    if (sum(layers, "dram_read_bytes") != number(memory, "read_bytes") ||
        sum(layers, "dram_write_bytes") != number(memory, "write_bytes"))
        return "bytes of the layers are not those of the memory";
    if (sum(layers, "macs") != number(total, "macs"))
        return "MACs of the layers are not those in all";
    return NULL;
}

/* ---- a pair ---- */

struct variant {
    const char *what;
    const char *options;
    uint32_t larger; /* buffers so many times as large */
    enum { SAME_STATS, SAME_STATS_WITHOUT_VALUES, SAME_WORK, SAME_COMPUTE } compared;
};

static const struct variant variants[] = {
    {"the same again", "", 1, SAME_STATS},
    {"--timing-only", "--timing-only", 1, SAME_STATS_WITHOUT_VALUES},
    {"--cpu host", "--cpu host", 1, SAME_WORK},
    {"pe_array.detail=cycle", "-s pe_array.detail=cycle", 1, SAME_STATS},
    {"cpu.quantum", "-s cpu.quantum=97", 1, SAME_STATS},
    {"a trace", "--trace trace.vcd", 1, SAME_STATS},
    {"larger buffers", "", 4, SAME_COMPUTE},
};

static int check_variant(struct soak *soak, const struct variant *variant, const struct run *base)
{
    struct run other;
    const char *wrong = "";
    start(soak, variant->larger, variant->options, &other);
    const int timing = variant->compared == SAME_STATS_WITHOUT_VALUES;
    /* Stochastic rounding draws by a result's place in its tile. */
    const int other_tiles = variant->compared == SAME_COMPUTE && strstr(soak->platform.options, "stochastic") != NULL;
    if (other.status != 0 || other.stats == NULL)
        wrong = other.message[0] != '\0' ? other.message : "it failed";
    else if (timing ? other.output != NULL : !other_tiles && !same_output(base, &other))
        wrong = "the output differs";
    else if (variant->compared <= SAME_STATS_WITHOUT_VALUES)
        wrong = same_stats(base->stats, other.stats, !timing) ? "" : "the statistics differ";
    else
        wrong = same_work(base->stats, other.stats, variant->compared == SAME_WORK);
    if (wrong == NULL)
        wrong = "";
    if (*wrong == '\0' && variant->compared == SAME_COMPUTE) {
        const json_int_t before = number(json_object_get(base->stats, "total"), "accel_cycles");
        const json_int_t now = number(json_object_get(other.stats, "total"), "accel_cycles");
        soak->slower += now > before ? 1 : 0;
        wrong = now > before + before / SLOWER_PART ? "they are slower" : "";
    }
    const int fine = *wrong == '\0';
    if (!fine)
        complain(soak, variant->larger, variant->options, variant->what, wrong);
    clear(&other);
    return fine;
}

static void check_pair(struct soak *soak)
{
    struct run base;
    const uint64_t seed = soak->seed * UINT64_C(1000000007) + soak->pair;
    int fine = soak_write_network(seed, "net.onnx") == 0;
    soak_platform(seed, &soak->platform);
    start(soak, 1, "", &base);
    if (fine && base.status == 2 && strncmp(base.message, "cnnvp: ", 7) == 0 && base.output == NULL) {
        ++soak->refused; /* a network that the buffers cannot hold */
    } else if (!fine || base.status != 0 || base.stats == NULL) {
        complain(soak, 1, "", "it failed", base.message);
        fine = 0;
    } else {
        const char *wrong = accounts(base.stats);
        if (wrong != NULL)
            complain(soak, 1, "", "accounting", wrong);
        fine = wrong == NULL;
        for (size_t i = 0; i < sizeof variants / sizeof variants[0]; ++i)
            fine &= check_variant(soak, &variants[i], &base);
        ++soak->checked;
    }
    clear(&base);
    if (!fine) {
        char kept[64];
        (void)snprintf(kept, sizeof kept, "failed-%" PRIu64 ".onnx", soak->pair);
        (void)rename("net.onnx", kept);
        ++soak->failed;
    }
}

/* ---- the program ---- */

static void keep_state(const struct soak *soak, const char *state)
{
    char temporary[1024];
    (void)snprintf(temporary, sizeof temporary, "%s.tmp", state);
    FILE *stream = fopen(temporary, "w");
    if (stream == NULL)
        return;
    (void)fprintf(stream, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", soak->seed, soak->pair,
                  soak->checked, soak->refused, soak->failed);
    if (fclose(stream) == 0)
        (void)rename(temporary, state);
}

static void take_state(struct soak *soak, const char *state)
{
    struct soak kept = *soak;
    FILE *stream = fopen(state, "r");
    if (stream == NULL)
        return;
    /* NOLINTNEXTLINE(cert-err34-c): a file of ours; what does not read as five numbers is not taken */
    if (fscanf(stream, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &kept.seed, &kept.pair,
               &kept.checked, &kept.refused, &kept.failed) == 5 &&
        kept.seed == soak->seed)
        *soak = kept;
    (void)fclose(stream);
}

static int remove_folder(const struct soak *soak)
{
    static const char *const files[] = {"net.onnx", "stats.json", "out.npy", "err", "trace.vcd"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i)
        (void)unlink(files[i]);
    return soak->failed == 0 && chdir("/") == 0 ? rmdir(soak->folder) : 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", 1, NULL, 's'}, {"from", 1, NULL, 'f'}, {"count", 1, NULL, 'n'},
                                            {"seconds", 1, NULL, 't'}, {"state", 1, NULL, 'r'},
                                            {"program", 1, NULL, 'p'}, {NULL, 0, NULL, 0}};
    struct soak soak = {.folder = "/tmp/cnnvp_soak_XXXXXX", .program = TEST_CNNVP, .seed = 1};
    uint64_t count = UINT64_MAX;
    time_t seconds = 0;
    char *state = NULL;
    for (int option = 0; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 's')
            soak.seed = strtoull(optarg, NULL, 0);
        else if (option == 'f')
            soak.pair = strtoull(optarg, NULL, 0);
        else if (option == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (option == 't')
            seconds = (time_t)strtoll(optarg, NULL, 0);
        else if (option == 'r')
            state = optarg;
        else if (option == 'p')
            soak.program = optarg;
        else
            return 2;
    }
    if ((state != NULL && state[0] != '/') || soak.program[0] != '/') {
        (void)fprintf(stderr, "soak: --state and --program need the absolute name of a file\n");
        return 2;
    }
    if (state != NULL)
        take_state(&soak, state);
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    if (mkdtemp(soak.folder) == NULL || chdir(soak.folder) != 0)
        return 2;
    const time_t begin = time(NULL);
    for (uint64_t i = 0; i < count && !stopped && (seconds == 0 || time(NULL) - begin < seconds); ++i) {
        check_pair(&soak);
        ++soak.pair;
        if (state != NULL && soak.pair % 16 == 0)
            keep_state(&soak, state);
    }
    if (state != NULL)
        keep_state(&soak, state);
    (void)remove_folder(&soak);
    printf("seed %" PRIu64 ": %" PRIu64 " pairs checked, %" PRIu64 " refused, %" PRIu64 " failed, %" PRIu64
           " a little slower with larger buffers, in %lld s\n",
           soak.seed, soak.checked, soak.refused, soak.failed, soak.slower, (long long)(time(NULL) - begin));
    /* Most pairs must have run: refusing all is no check. */
    return soak.failed != 0 || soak.checked < soak.refused ? 1 : 0;
}
