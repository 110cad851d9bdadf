/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: what cnnvp_trainer_get_state gives, after a header that says whether it is all there.
 *   8 bytes "cnnvpchk", 4 version, 4 zero, 8 size of the state, 8 xxh3 of it; then the state. Little-endian.
 */
#include "train.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define VERSION 1u
#define STATE_MAX ((size_t)4 << 30)

struct header {
    char magic[8];
    uint32_t version;
    uint32_t reserved;
    uint64_t size;
    uint64_t hash;
};

static const char magic[8] = {'c', 'n', 'n', 'v', 'p', 'c', 'h', 'k'};

cnnvp_result train_checkpoint_write(struct train *train)
{
    struct cnnvp_error error = {""};
    struct cli_output output;
    void *state = NULL;
    size_t size = 0;
    cnnvp_result result =
        cli_report(cnnvp_trainer_get_state(train->trainer, train->platform, &state, &size, &error), &error);
    if (result != CNNVP_DONE)
        return result;
    struct header header = {.version = VERSION, .size = size, .hash = XXH3_64bits(state, size)};
    memcpy(header.magic, magic, sizeof magic);
    result = cli_output_open(&output, train->options->all.checkpoint);
    if (result == CNNVP_DONE) {
        (void)fwrite(&header, sizeof header, 1, output.stream);
        (void)fwrite(state, 1, size, output.stream);
        result = cli_output_close(&output, 1);
    }
    free(state);
    return result;
}

/* What is wrong with a file of `size` bytes, or NULL. */
static const char *damage(const struct header *header, const char *data, size_t size)
{
    if (size < sizeof *header || memcmp(header->magic, magic, sizeof magic) != 0)
        return "not a checkpoint of cnnvp train";
    if (header->version != VERSION)
        return "a checkpoint of another version of cnnvp";
    if (header->size != size - sizeof *header)
        return "the checkpoint is cut off";
    return XXH3_64bits(data + sizeof *header, header->size) == header->hash ? NULL : "the checkpoint is damaged";
}

cnnvp_result train_checkpoint_read(struct train *train)
{
    const char *file = train->options->all.resume;
    struct cnnvp_error error = {""};
    struct header header = {.version = 0};
    char *data = NULL;
    size_t size = 0;
    cnnvp_result result = cli_read_file(file, STATE_MAX, &data, &size);
    if (result != CNNVP_DONE)
        return result;
    if (size >= sizeof header)
        memcpy(&header, data, sizeof header);
    const char *wrong = damage(&header, data, size);
    if (wrong != NULL)
        result = cli_bad("%s: %s", file, wrong);
    else if (cnnvp_trainer_set_state(train->trainer, data + sizeof header, header.size, &error) != CNNVP_DONE)
        result = cli_bad("%s: %s", file, error.text);
    free(data);
    return result;
}
