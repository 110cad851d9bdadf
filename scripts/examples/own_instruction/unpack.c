/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instruction of your own: `unpack` decodes run-length coded words, as Eyeriss keeps activations in memory. Each
 * pair of words is a number of zeros and the value after them; zeros after the last value need no pair. The unit reads
 * the input buffer and writes one word of results per clock cycle to the output buffer.
 *
 * It refuses pairs that make more words than `count`.
 */
#include <cnnvp_buffer.h>
#include <string.h>

enum { PORT_command, PORT_input, PORT_output };
enum { STAT_commands, STAT_rejected, STAT_words };
enum { TRACK_unpack };
enum { OPCODE_unpack = 0xc0 };

/* The descriptor, in the order of `registers`. */
struct descriptor {
    uint32_t in_addr, pairs, out_addr, count;
};

struct unpack {
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
};

static int init(void *self, const struct cnnvp_init *init)
{
    struct unpack *unpack = self;
    unpack->host = init->host;
    unpack->ops = init->ops;
    return CNNVP_OK;
}

static int refuse(const struct unpack *unpack, const struct cnnvp_command *command, int status, const char *reason)
{
    unpack->ops->count(unpack->host, STAT_rejected, command->tag, 1);
    unpack->ops->log(unpack->host, CNNVP_LOG_WARNING, "instruction %llu, opcode 0x%02x refused: %s",
                     (unsigned long long)command->sequence, (unsigned)command->opcode, reason);
    return status;
}

/* Borrows words of a buffer for reading or writing; *data is NULL in timing-only runs. */
static int borrow(const struct unpack *unpack, uint32_t port, const struct cnnvp_command *command, uint32_t half,
                  uint32_t address, uint64_t words, uint64_t cycles, int16_t **data, cnnvp_time *delay)
{
    struct cnnvp_access access = {
        .op = port == PORT_input ? CNNVP_BORROW_READ : CNNVP_BORROW_WRITE,
        .tag = command->tag,
        .flow = command->sequence,
        .address = cnnvp_buffer_address(half, address),
        .size = 2 * words,
        .words = words,
        .cycles = cycles,
        .mode = port == PORT_input ? cnnvp_buffer_read_mode(CNNVP_READ_SEQUENTIAL) : cnnvp_buffer_write_mode(words)};
    const int status = unpack->ops->access(unpack->host, port, &access);
    *data = access.data;
    *delay += access.delay;
    return status;
}

/* Decodes the pairs; returns -1 if they make more than `count` words. */
static int write_out(const int16_t *in, uint32_t pairs, int16_t *out, uint64_t count)
{
    uint64_t at = 0;
    memset(out, 0, 2 * count);
    for (uint32_t i = 0; i < pairs; ++i) {
        at += (uint16_t)in[2 * i];
        if (at >= count)
            return -1;
        out[at++] = in[2 * i + 1];
    }
    return 0;
}

static int access(void *self, uint32_t port, struct cnnvp_access *access)
{
    const struct unpack *unpack = self;
    const struct cnnvp_command *command = access->data;
    struct descriptor d;
    int16_t *in, *out;
    cnnvp_time delay = 0;
    (void)port;
    if (access->op != CNNVP_COMMAND || access->size != sizeof *command || command->count * 4 != sizeof d)
        return CNNVP_E_ACCESS;
    memcpy(&d, command->descriptor, sizeof d);
    if (command->opcode != OPCODE_unpack || d.pairs < 1 || d.count < 1 || (d.in_addr | d.out_addr) >> 31)
        return refuse(unpack, command, CNNVP_E_INVAL, "pairs and count are 1 or more, addresses below 2^31");
    int status = borrow(unpack, PORT_input, command, command->halves & CNNVP_HALF_INPUT ? 1 : 0, d.in_addr,
                        2 * (uint64_t)d.pairs, d.count, &in, &delay);
    if (status == CNNVP_OK)
        status = borrow(unpack, PORT_output, command, command->halves & CNNVP_HALF_OUTPUT ? 1 : 0, d.out_addr, d.count,
                        d.count, &out, &delay);
    if (status != CNNVP_OK)
        return refuse(unpack, command, status, "a buffer refuses it");
    if (in != NULL && out != NULL && write_out(in, d.pairs, out, d.count) != 0)
        return refuse(unpack, command, CNNVP_E_INVAL, "the pairs make more words than count");
    const uint64_t mhz = unpack->ops->clock_mhz(unpack->host);
    const cnnvp_time now = unpack->ops->now(unpack->host);
    access->delay = delay + cnnvp_edge_time(mhz, cnnvp_edge_at_or_after(mhz, now) + d.count) - now;
    unpack->ops->count(unpack->host, STAT_commands, command->tag, 1);
    unpack->ops->count(unpack->host, STAT_words, command->tag, d.count);
    unpack->ops->span(unpack->host, TRACK_unpack, "unpack", command->tag, command->sequence, now, now + access->delay);
    return CNNVP_OK;
}

static const struct cnnvp_instruction_register registers[] = {
    {"in_addr", "input buffer: pairs of zeros to come and the value after them, 16-bit words"},
    {"pairs", "how many pairs"},
    {"out_addr", "output buffer: the words"},
    {"count", "how many words; those after the last value are 0"}};
static const struct cnnvp_instruction instructions[] = {
    {.mnemonic = "unpack",
     .opcode = OPCODE_unpack,
     .buffers = CNNVP_HALF_INPUT | CNNVP_HALF_OUTPUT,
     .registers = registers,
     .register_count = sizeof registers / sizeof registers[0],
     .help = "writes out words that are packed as pairs of zeros and a value"}};
static const struct cnnvp_port ports[] = {
    [PORT_command] = {"command", CNNVP_PORT_TARGET, CNNVP_PORT_COMMANDS, 8, 0, "commands of the instruction element"},
    [PORT_input] = {"input", CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "input buffer"},
    [PORT_output] = {"output", CNNVP_PORT_INITIATOR, CNNVP_PORT_WORDS, 0, 0, "output buffer"}};
static const struct cnnvp_stat stats[] = {[STAT_commands] = {"commands", "commands", NULL, NULL, "executed"},
                                          [STAT_rejected] = {"rejected", "commands", NULL, NULL, "refused"},
                                          [STAT_words] = {"words", "words", NULL, NULL, "written out"}};
static const char *const tracks[] = {[TRACK_unpack] = "unpack"};

static const struct cnnvp_unit unpack_unit = {
    .struct_size = sizeof(struct cnnvp_unit),
    .abi_major = CNNVP_ABI_MAJOR,
    .abi_minor = CNNVP_ABI_MINOR,
    .kind = "unpack",
    .version = "1.0",
    .summary = "writes out run-length coded words",
    .instance_size = sizeof(struct unpack),
    .ports = ports,
    .port_count = sizeof ports / sizeof ports[0],
    .stats = stats,
    .stat_count = sizeof stats / sizeof stats[0],
    .tracks = tracks,
    .track_count = 1,
    .instructions = instructions,
    .instruction_count = sizeof instructions / sizeof instructions[0],
    .init = init,
    .access = access,
};

const struct cnnvp_unit *cnnvp_model_query(uint32_t index, uint32_t host_abi)
{
    (void)host_abi;
    return index == 0 ? &unpack_unit : NULL;
}
