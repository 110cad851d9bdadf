/* SPDX-License-Identifier: Apache-2.0 */
/* Prices a pass of a layer by running the guest's layer function on a recording machine; see train_price.h. */
#include "train_price.h"
#include "cnnvp_integer.h"

#include <stdlib.h>
#include <string.h>

#include "command_costs.h"
#include "guest.h"
#include "isa/isa.h"
#include "train/train.h"

/* 1 / WORK_PART of all work is added to the longest, for work that is not hidden. */
#define WORK_PART 24u
/* Rough number of core cycles to push an instruction. */
#define COMMAND_CYCLES 300u
#define KNOWN_COSTS 8192u
#define ROOM 4096u /* words that the element always reports as free */

/* Transfers are priced at these numbers of pieces or bytes; longer ones are extrapolated from the difference. */
#define FEW_PIECES 2u
#define MANY_PIECES 10u
#define FEW_BYTES UINT32_C(2048)
#define MANY_BYTES UINT32_C(34816)
#define BURST_BYTES 64u

enum unit { NONE, ARRAY, VECTOR, DMA, UNITS };
static const char *const unit_names[UNITS] = {NULL, "pe_array", "multi_function", "dma"};

/* An opcode as the instruction set's table describes it. */
struct opcode {
    enum unit unit;
    uint32_t count;  /* number of descriptor registers */
    uint32_t places; /* mask of the registers that only say where something lies, which does not change the time */
};

struct cnnvp_train_pricer {
    const struct cnnvp_train_target *target;
    struct cnnvp_machine machine;
    struct cnnvp_train_binary binary;
    struct cnnvp_train_layer layers[2]; /* the layer below, and the layer */
    struct cnnvp_train_images images;   /* data set that a first layer reads */
    int learns;
    uint32_t *order;         /* order of images: as they lie */
    uint32_t low;            /* low half of the word being pushed */
    uint32_t registers[256]; /* registers of the element */
    struct opcode opcodes[256];
    uint64_t burst, latency; /* ps of a burst in a stream, and what the first burst takes in addition */
    uint64_t busy[UNITS];
    uint64_t gap[UNITS],
        widest[UNITS]; /* work of other units since a unit's last command, and the most of it between two commands */
    uint64_t core;
    uint64_t bound;
    int over; /* 1: the bound is reached, or a unit refuses */
    struct cnnvp_command_costs *costs;
    struct cnnvp_guest guest;
};

/* ---- what instructions are ---- */

static int is_place(const char *name)
{
    static const char *const places[] = {
        "entry", "norm_entry", "first", "seed", "seed_high", "feature_words", "record", "block"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i)
        if (strcmp(name, places[i]) == 0)
            return 1;
    return cnnvp_before_ending(name, "_addr") != 0;
}

static void read_table(struct opcode opcodes[256])
{
    static const enum unit stand_ins[ISA_UNIT_COUNT] = {
        [ISA_UNIT_array] = ARRAY, [ISA_UNIT_vector] = VECTOR, [ISA_UNIT_dma] = DMA};
    for (uint32_t code = 0; code < 256u; ++code) {
        const struct isa_opcode *known = cnnvp_isa_opcode(code);
        if (known == NULL)
            continue;
        const struct isa_form_text *form = &cnnvp_isa_forms[known->form];
        opcodes[code].unit = stand_ins[cnnvp_isa_stand_in(known->unit)];
        opcodes[code].count = form->count;
        for (uint32_t i = 0; i < form->count; ++i)
            opcodes[code].places |= (uint32_t)is_place(form->registers[i].name) << i;
    }
}

/* ---- what instructions take ---- */

static uint64_t ask(struct cnnvp_train_pricer *pricer, enum unit unit, const struct cnnvp_command *command)
{
    struct cnnvp_cost cost;
    struct cnnvp_error error;
    const cnnvp_result result = cnnvp_units_command(pricer->target->units, unit_names[unit], command, &cost, &error);
    if (result == CNNVP_DONE && cost.status == CNNVP_OK)
        return cost.ps;
    pricer->over = 1;
    return 0;
}

/* Asks a unit, and keeps the answer for commands that differ only in places. */
static uint64_t ask_once(struct cnnvp_train_pricer *pricer, const struct cnnvp_command *command)
{
    const struct opcode *opcode = &pricer->opcodes[command->opcode];
    struct cnnvp_command like = *command;
    like.immediate = 0;
    for (uint32_t i = 0; i < command->count; ++i)
        like.descriptor[i] = (opcode->places >> i & 1u) != 0 ? 0 : command->descriptor[i];
    uint64_t ps = cnnvp_command_cost(pricer->costs, &like);
    if (ps == 0) {
        ps = ask(pricer, opcode->unit, command);
        if (!pricer->over)
            cnnvp_command_cost_keep(pricer->costs, &like, ps);
    }
    return ps;
}

static uint64_t pieces_ps(struct cnnvp_train_pricer *pricer, const struct cnnvp_command *command, uint32_t bytes,
                          uint32_t pieces)
{
    struct cnnvp_command some = *command;
    struct cnnvp_transfer transfer;
    memcpy(&transfer, command->descriptor, sizeof transfer);
    transfer.memory_addr = (uint32_t)pricer->target->map.memory_base;
    transfer.buffer_addr = 0;
    transfer.row_bytes = transfer.buffer_row_stride = bytes;
    transfer.rows = pieces;
    transfer.planes = 1;
    transfer.memory_plane_stride = transfer.buffer_plane_stride = transfer.feature_words = 0;
    if (transfer.memory_row_stride < bytes)
        transfer.memory_row_stride = bytes;
    memcpy(some.descriptor, &transfer, sizeof transfer);
    return ask_once(pricer, &some);
}

/* Extrapolates the time of `all` from that of `few` and of `many`. */
static uint64_t beyond(uint64_t few_ps, uint64_t many_ps, uint64_t few, uint64_t many, uint64_t all)
{
    return many_ps + (many_ps > few_ps ? many_ps - few_ps : 0) * (all - many) / (many - few);
}

/* Time for which a transfer keeps the memory busy in a stream of transfers. */
static uint64_t transfer_ps(struct cnnvp_train_pricer *pricer, const struct cnnvp_command *command)
{
    struct cnnvp_transfer transfer;
    memcpy(&transfer, command->descriptor, sizeof transfer);
    const uint64_t pieces = (uint64_t)transfer.rows * transfer.planes;
    const uint64_t bytes = transfer.row_bytes * pieces;
    const uint32_t few = pieces > MANY_PIECES ? FEW_PIECES : (uint32_t)pieces;
    uint64_t ps;
    if (transfer.row_bytes > MANY_BYTES)
        ps = beyond(pieces_ps(pricer, command, FEW_BYTES, 1), pieces_ps(pricer, command, MANY_BYTES, 1), FEW_BYTES,
                    MANY_BYTES, bytes);
    else if (pieces > MANY_PIECES)
        ps = beyond(pieces_ps(pricer, command, transfer.row_bytes, few),
                    pieces_ps(pricer, command, transfer.row_bytes, MANY_PIECES), few, MANY_PIECES, pieces);
    else
        ps = pieces_ps(pricer, command, transfer.row_bytes, few);
    return ps > pricer->latency + pricer->burst ? ps - pricer->latency : pricer->burst;
}

static void ask_latency(struct cnnvp_train_pricer *pricer)
{
    struct cnnvp_command command = {.opcode = CNNVP_OPCODE_receive,
                                    .status = (uint32_t)CNNVP_TRAIN_MIDDLE << CNNVP_STATUS_request_buffer,
                                    .count = sizeof(struct cnnvp_transfer) / sizeof(uint32_t)};
    const uint64_t one = pieces_ps(pricer, &command, BURST_BYTES, 1);
    const uint64_t many = pieces_ps(pricer, &command, FEW_BYTES, 1);
    pricer->burst = (many > one ? many - one : 0) / (FEW_BYTES / BURST_BYTES - 1u);
    pricer->latency = one > pricer->burst ? one - pricer->burst : 0;
}

/* ---- the machine that records ---- */

static uint64_t longest(const struct cnnvp_train_pricer *pricer)
{
    return cnnvp_maximum(cnnvp_maximum(pricer->busy[ARRAY], pricer->busy[VECTOR]),
                         cnnvp_maximum(pricer->busy[DMA], pricer->core));
}

static void note(struct cnnvp_train_pricer *pricer, const struct cnnvp_word_parts *word)
{
    const struct opcode *opcode = &pricer->opcodes[word->opcode];
    struct cnnvp_command command = {
        .opcode = word->opcode,
        .status = word->status,
        .halves = word->halves,
        .immediate = word->immediate,
        .count = opcode->count};
    pricer->core += COMMAND_CYCLES * pricer->target->core_ps;
    memcpy(command.descriptor, &pricer->registers[word->a], opcode->count * sizeof command.descriptor[0]);
    const uint64_t ps = command.opcode == CNNVP_OPCODE_request ? pieces_ps(pricer, &command, BURST_BYTES, 1)
                        : opcode->unit == DMA                  ? transfer_ps(pricer, &command)
                                                               : ask_once(pricer, &command);
    pricer->busy[opcode->unit] += ps;
    for (enum unit u = ARRAY; u < UNITS; ++u) {
        pricer->gap[u] = u == opcode->unit ? 0 : pricer->gap[u] + ps;
        pricer->widest[u] = cnnvp_maximum(pricer->widest[u], pricer->gap[u]);
    }
    pricer->over |= longest(pricer) >= pricer->bound;
    if (pricer->over)
        pricer->guest.element.failed = 1; /* makes the guest push nothing more */
}

static void write_register(void *host, uint32_t address, uint32_t value)
{
    struct cnnvp_train_pricer *pricer = host;
    if (address == CNNVP_ELEMENT_PUSH_LO)
        pricer->low = value;
    if (address != CNNVP_ELEMENT_PUSH_HI)
        return;
    const struct cnnvp_word_parts word = cnnvp_word_read((uint64_t)value << 32 | pricer->low);
    if (word.opcode == CNNVP_OPCODE_set)
        pricer->registers[word.a] = word.immediate;
    else if (pricer->opcodes[word.opcode].unit != NONE)
        note(pricer, &word);
}

static uint32_t read_register(void *host, uint32_t address)
{
    (void)host;
    return address == CNNVP_ELEMENT_FREE ? ROOM : 0;
}

/* The only memory that the layer functions read: the order of images. */
static const void *memory(void *host, uint32_t address)
{
    const struct cnnvp_train_pricer *pricer = host;
    return &pricer->order[address / sizeof pricer->order[0]];
}

/* ---- a pass ---- */

static uint32_t flags_of(const struct cnnvp_train_plan_options *options)
{
    return (options->by_channel ? CNNVP_TRAIN_CHANNEL_ORDER : 0u) | (options->narrow ? CNNVP_TRAIN_NARROW : 0u);
}

struct cnnvp_train_pricer *cnnvp_train_pricer_new(const struct cnnvp_train_target *target,
                                                  const struct cnnvp_train_plan_options *options)
{
    struct cnnvp_train_pricer *pricer = calloc(1, sizeof *pricer);
    if (pricer == NULL)
        return NULL;
    pricer->order = calloc(options->images + 1u, sizeof *pricer->order);
    pricer->costs = cnnvp_command_costs_new(KNOWN_COSTS);
    if (pricer->order == NULL || pricer->costs == NULL) {
        cnnvp_train_pricer_free(pricer);
        return NULL;
    }
    for (uint32_t i = 0; i < options->images; ++i)
        pricer->order[i] = i;
    pricer->target = target;
    pricer->learns = options->learns;
    pricer->machine =
        (struct cnnvp_machine){.host = pricer, .read = read_register, .write = write_register, .memory = memory};
    pricer->binary = (struct cnnvp_train_binary){
        .flags = flags_of(options),
        .held_back = 4u,
        .held_exponents = 8u,
        .block = options->block,
        .rounding = CNNVP_ROUNDING_NEAREST,
        .momentum = 1u,
        .batch = options->images,
    };
    cnnvp_train_target_describe(target, &pricer->binary);
    read_table(pricer->opcodes);
    ask_latency(pricer);
    pricer->over = 0;
    return pricer;
}

void cnnvp_train_pricer_free(struct cnnvp_train_pricer *pricer)
{
    if (pricer == NULL)
        return;
    cnnvp_command_costs_free(pricer->costs);
    free(pricer->order);
    free(pricer);
}

/* Places tensors far apart, because the guest tells what the halves hold by addresses. */
static void place(struct cnnvp_train_layer *layer, const struct cnnvp_train_target *target)
{
    const uint32_t base = (uint32_t)target->map.memory_base;
    uint32_t *const places[] = {
        &layer->in.mantissas,
        &layer->in.exponents,
        &layer->sums,
        &layer->positive,
        &layer->positions,
        &layer->error.mantissas,
        &layer->error.exponents,
        &layer->back,
        &layer->norm_entries,
        &layer->extreme_entries,
        &layer->weights.mantissas,
        &layer->weights.exponents,
        &layer->master.values,
        &layer->master.velocity,
        &layer->biases.mantissas,
        &layer->biases.exponents,
        &layer->bias_master.values,
        &layer->bias_master.velocity};
    for (uint32_t i = 0; i < sizeof places / sizeof places[0]; ++i)
        *places[i] = base + (i << 26);
}

static void run(struct cnnvp_train_pricer *pricer, enum cnnvp_train_pass pass, const struct cnnvp_train_layer *layer)
{
    struct cnnvp_guest *guest = &pricer->guest;
    switch (pass) {
    case CNNVP_TRAIN_PASS_FORWARD:
        cnnvp_train_forward(guest, layer);
        break;
    case CNNVP_TRAIN_PASS_ERROR:
        cnnvp_train_error(guest, layer, pricer->layers);
        break;
    case CNNVP_TRAIN_PASS_LEARN:
        cnnvp_train_learn(guest, layer);
        break;
    case CNNVP_TRAIN_PASS_POST:
        cnnvp_train_post(guest, layer, &pricer->layers[0].in);
        break;
    case CNNVP_TRAIN_PASS_POST_BACK:
        cnnvp_train_post_back(guest, layer, 0);
        break;
    }
}

uint64_t cnnvp_train_price(struct cnnvp_train_pricer *pricer, enum cnnvp_train_pass pass,
                           const struct cnnvp_train_layer *layer, int first, uint32_t images, uint64_t bound)
{
    struct cnnvp_guest *guest = &pricer->guest;
    pricer->layers[0] = pricer->layers[1] = *layer;
    place(&pricer->layers[0], pricer->target);
    place(&pricer->layers[1], pricer->target);
    pricer->images = (struct cnnvp_train_images){
        .count = images, .mantissas = pricer->layers[1].in.mantissas, .exponents = pricer->layers[1].in.exponents};
    memset(guest, 0, offsetof(struct cnnvp_guest, collected));
    memset(pricer->registers, 0, sizeof pricer->registers);
    memset(pricer->busy, 0, sizeof pricer->busy);
    guest->machine = &pricer->machine;
    guest->element.machine = &pricer->machine;
    guest->train = (struct cnnvp_train){
        .binary = &pricer->binary,
        .layers = &pricer->layers[first ? 1 : 0],
        .data = &pricer->images,
        .images = images,
        .step = pricer->learns ? 0 : CNNVP_TRAIN_NO_STEP};
    memset(pricer->gap, 0, sizeof pricer->gap);
    memset(pricer->widest, 0, sizeof pricer->widest);
    pricer->core = 0;
    pricer->over = 0;
    pricer->bound = bound;
    run(pricer, pass, &pricer->layers[1]);
    enum unit busiest = ARRAY;
    for (enum unit u = VECTOR; u < UNITS; ++u)
        busiest = pricer->busy[u] > pricer->busy[busiest] ? u : busiest;
    const uint64_t all = pricer->busy[ARRAY] + pricer->busy[VECTOR] + pricer->busy[DMA] + pricer->core;
    const uint64_t price = longest(pricer) + pricer->widest[busiest] + all / WORK_PART;
    return pricer->over || price >= bound ? UINT64_MAX : price;
}
