/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: the state from cnnvp_trainer_get_state after a header that shows whether the file is complete.
 *   8 bytes "cnnvpchk", 4 version, 4 zero, 8 size of the state, 8 xxh3 of the state; then the state. Little-endian.
 */
#include "train.h"

#include <string.h>

#include <xxhash.h>

#include "output_file.h"

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
    cnnvp_output *output = NULL;
    CNNVP_FREED void *state = NULL;
    size_t size = 0;
    CNNVP_TRY(cli_report(cnnvp_trainer_get_state(train->trainer, train->platform, &state, &size, &cli_error)));
    struct header header = {.version = VERSION, .size = size, .hash = XXH3_64bits(state, size)};
    memcpy(header.magic, magic, sizeof magic);
    CNNVP_TRY(cli_report(cnnvp_output_new(train->options->all.checkpoint, &output, &cli_error)));
    cnnvp_output_write(output, &header, sizeof header);
    cnnvp_output_write(output, state, size);
    return cli_report(cnnvp_output_finish(output, &cli_error));
}

/* Describes what is wrong with a file of `size` bytes; NULL: it is good. */
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
    struct header header = {.version = 0};
    CNNVP_FREED char *data = NULL;
    size_t size = 0;
    CNNVP_TRY(cli_read_file(file, STATE_MAX, &data, &size));
    if (size >= sizeof header)
        memcpy(&header, data, sizeof header);
    const char *wrong = damage(&header, data, size);
    if (wrong != NULL)
        return cli_bad("%s: %s", file, wrong);
    if (cnnvp_trainer_set_state(train->trainer, data + sizeof header, header.size, &cli_error) != CNNVP_DONE)
        return cli_bad("%s: %s", file, cli_error.text);
    return CNNVP_DONE;
}
