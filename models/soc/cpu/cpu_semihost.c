/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semihosting calls (Arm's Semihosting for AArch32 and AArch64, adopted by RISC-V Semihosting 0.4) for the terminal,
 * the command line, memory, time and the end of the program. There are two files: ":tt", the terminal, and
 * ":semihosting-features", which tells the guest that it may use SYS_EXIT_EXTENDED. The model does not touch files of
 * the host. Clocks are those of the simulation. Two calls are not in the standard: a program reports a number, and
 * names a layer (cnnvp_kit_report, cnnvp_kit_layer of sw/guest/riscv/kit.h).
 */
#include <string.h>

#include "cpu_internal.h"

enum operation {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITEC = 0x03,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_READC = 0x07,
    SYS_ISERROR = 0x08,
    SYS_ISTTY = 0x09,
    SYS_SEEK = 0x0a,
    SYS_FLEN = 0x0c,
    SYS_CLOCK = 0x10,
    SYS_TIME = 0x11,
    SYS_ERRNO = 0x13,
    SYS_GET_CMDLINE = 0x15,
    SYS_HEAPINFO = 0x16,
    SYS_EXIT = 0x18,
    SYS_EXIT_EXTENDED = 0x20,
    SYS_ELAPSED = 0x30,
    SYS_TICKFREQ = 0x31,
    /* numbers that the standard leaves to applications */
    SYS_REPORT = 0x100,    /* name, length, low and high half of a signed number */
    SYS_NAME_LAYER = 0x101 /* tag, name, length, op, length, phase, length, low and high half of its macs */
};

#define FAILED UINT32_MAX
#define TERMINAL 1u               /* the handle of ":tt" */
#define FEATURES 2u               /* the handle of ":semihosting-features" */
#define APPLICATION_EXIT 0x20026u /* ADP_Stopped_ApplicationExit */
#define PS_PER_CENTISECOND UINT64_C(10000000000)
#define PIECE 4096u /* bytes that are copied at once */

/* Magic number, then feature bits: SYS_EXIT_EXTENDED is offered. */
static const uint8_t features[] = {0x53, 0x48, 0x46, 0x42, 0x01};

static uint32_t get_word(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_word(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; ++i)
        p[i] = (uint8_t)(value >> 8 * i);
}

static int get(struct cpu *cpu, uint32_t address, void *data, uint32_t size)
{
    return cpu_copy(cpu, CNNVP_READ, address, data, size) == CNNVP_OK;
}

/* The data may be code. */
static int put(struct cpu *cpu, uint32_t address, const void *data, uint32_t size)
{
    const int is_put = cpu_copy(cpu, CNNVP_WRITE, address, (void *)(uintptr_t)data, size) == CNNVP_OK;
    cnnvp_rv32_invalidate(cpu->core, address, size);
    return is_put;
}

/* Word `index` of the parameter block; 0 if there is no memory. */
static uint32_t argument(struct cpu *cpu, uint32_t block, uint32_t index)
{
    uint8_t word[4];
    return get(cpu, block + 4u * index, word, sizeof word) ? get_word(word) : 0;
}

static uint32_t open_file(struct cpu *cpu, uint32_t block)
{
    static const char terminal[] = ":tt", feature_file[] = ":semihosting-features";
    const uint32_t size = argument(cpu, block, 2);
    char name[sizeof feature_file];
    if (size >= sizeof name || !get(cpu, argument(cpu, block, 0), name, size))
        return FAILED;
    if (size == sizeof terminal - 1 && memcmp(name, terminal, size) == 0)
        return TERMINAL;
    if (size == sizeof feature_file - 1 && memcmp(name, feature_file, size) == 0) {
        cpu->features_at = 0;
        return FEATURES;
    }
    return FAILED;
}

static uint32_t seek(struct cpu *cpu, uint32_t block)
{
    const uint32_t at = argument(cpu, block, 1);
    if (argument(cpu, block, 0) != FEATURES || at > sizeof features)
        return FAILED;
    cpu->features_at = at;
    return 0;
}

static uint32_t write_string(struct cpu *cpu, uint32_t address)
{
    char character;
    while (get(cpu, address++, &character, 1) && character != 0)
        cpu->ops->console_write(cpu->host, &character, 1);
    return 0;
}

/* SYS_WRITE returns the number of bytes not written, SYS_READ that of bytes not read. */
static uint32_t write_bytes(struct cpu *cpu, uint32_t block)
{
    const uint32_t size = argument(cpu, block, 2), from = argument(cpu, block, 1);
    char piece[PIECE];
    uint32_t done = 0;
    while (argument(cpu, block, 0) == TERMINAL && done < size) {
        const uint32_t some = size - done < PIECE ? size - done : PIECE;
        if (!get(cpu, from + done, piece, some))
            break;
        cpu->ops->console_write(cpu->host, piece, some);
        done += some;
    }
    return size - done;
}

static uint32_t read_features(struct cpu *cpu, uint8_t *to, uint32_t size)
{
    const uint32_t left = (uint32_t)sizeof features - cpu->features_at;
    const uint32_t count = size < left ? size : left;
    memcpy(to, features + cpu->features_at, count);
    cpu->features_at += count;
    return count;
}

/* The guest waits for the terminal, as a call of the host is expected to. */
static uint32_t read_terminal(struct cpu *cpu, uint8_t *to, uint32_t size)
{
    if (size == 0)
        return 0;
    (void)cpu->ops->console_read(cpu->host, NULL, 0);
    return (uint32_t)cpu->ops->console_read(cpu->host, to, size);
}

static uint32_t read_bytes(struct cpu *cpu, uint32_t block)
{
    const uint32_t handle = argument(cpu, block, 0);
    const uint32_t to = argument(cpu, block, 1);
    const uint32_t size = argument(cpu, block, 2);
    const uint32_t room = size < PIECE ? size : PIECE; /* a read may return less than was asked for */
    uint8_t piece[PIECE];
    uint32_t got = 0;
    if (!get(cpu, to, piece, room)) /* before input is taken */
        return size;
    if (handle == TERMINAL)
        got = read_terminal(cpu, piece, room);
    else if (handle == FEATURES)
        got = read_features(cpu, piece, room);
    return put(cpu, to, piece, got) ? size - got : size;
}

static uint32_t read_character(struct cpu *cpu)
{
    uint8_t character;
    return read_terminal(cpu, &character, 1) == 1 ? character : FAILED;
}

/*
 * Writes the arguments, separated by blanks, into the buffer that the block names, and their length into the block's
 * second word. The program's name is left out: picolibc's start code supplies argv[0] itself and takes every word here
 * for an argument.
 */
static uint32_t command_line(struct cpu *cpu, uint32_t block)
{
    const uint32_t address = argument(cpu, block, 0);
    const uint32_t room = argument(cpu, block, 1);
    uint8_t length[4];
    size_t used = 0;
    if (room == 0)
        return FAILED;
    for (uint32_t i = 1; i < cpu->program.argc; ++i) {
        const char *word = cpu->program.argv[i];
        const size_t size = strlen(word), blank = i > 1;
        if (used + blank + size >= room || !put(cpu, address + (uint32_t)used, " ", (uint32_t)blank) ||
            !put(cpu, address + (uint32_t)(used + blank), word, (uint32_t)size))
            return FAILED;
        used += blank + size;
    }
    put_word(length, (uint32_t)used);
    return put(cpu, address + (uint32_t)used, "", 1) && put(cpu, block + 4u, length, sizeof length) ? 0 : FAILED;
}

/* Heap and stack base and limit: 0 lets the guest's own linker symbols decide. */
static uint32_t heap_info(struct cpu *cpu, uint32_t block)
{
    static const uint8_t none[16];
    (void)put(cpu, argument(cpu, block, 0), none, sizeof none);
    return 0;
}

static uint32_t elapsed(struct cpu *cpu, uint32_t block)
{
    const uint64_t ticks = cpu->ops->now(cpu->host) / 1000u;
    uint8_t words[8];
    put_word(words, (uint32_t)ticks);
    put_word(words + 4, (uint32_t)(ticks >> 32));
    return put(cpu, block, words, sizeof words) ? 0 : FAILED;
}

static uint32_t exit_status(uint32_t reason, uint32_t subcode)
{
    return reason == APPLICATION_EXIT ? subcode : 1u;
}

static uint32_t file_call(struct cpu *cpu, uint32_t operation, uint32_t parameter)
{
    char character;
    switch (operation) {
    case SYS_OPEN:
        return open_file(cpu, parameter);
    case SYS_CLOSE:
        return argument(cpu, parameter, 0) - TERMINAL <= FEATURES - TERMINAL ? 0 : FAILED;
    case SYS_SEEK:
        return seek(cpu, parameter);
    case SYS_FLEN:
        return argument(cpu, parameter, 0) == FEATURES ? (uint32_t)sizeof features : FAILED;
    case SYS_WRITEC:
        if (get(cpu, parameter, &character, 1))
            cpu->ops->console_write(cpu->host, &character, 1);
        return 0;
    case SYS_WRITE0:
        return write_string(cpu, parameter);
    case SYS_WRITE:
        return write_bytes(cpu, parameter);
    case SYS_READ:
        return read_bytes(cpu, parameter);
    case SYS_READC:
        return read_character(cpu);
    default:
        return argument(cpu, parameter, 0) == TERMINAL; /* SYS_ISTTY */
    }
}

#define TEXT_BYTES 64u

/* Copies a text whose address and length are words `index` and `index` + 1 of a block. 0 if it is no valid text. */
static int get_text(struct cpu *cpu, uint32_t block, uint32_t index, char text[TEXT_BYTES])
{
    const uint32_t size = argument(cpu, block, index + 1);
    if (size >= TEXT_BYTES || !get(cpu, argument(cpu, block, index), text, size) || memchr(text, 0, size) != NULL)
        return 0;
    text[size] = '\0';
    return 1;
}

static uint64_t long_argument(struct cpu *cpu, uint32_t block, uint32_t index)
{
    return argument(cpu, block, index) | (uint64_t)argument(cpu, block, index + 1) << 32;
}

static int say(struct cpu *cpu, uint32_t operation, uint32_t block)
{
    char name[TEXT_BYTES], op[TEXT_BYTES], phase[TEXT_BYTES];
    if (operation == SYS_REPORT)
        return get_text(cpu, block, 0, name) &&
               cpu->ops->report(cpu->host, name, (int64_t)long_argument(cpu, block, 2)) == 0;
    return get_text(cpu, block, 1, name) && get_text(cpu, block, 3, op) && get_text(cpu, block, 5, phase) &&
           cpu->ops->name_layer(cpu->host, argument(cpu, block, 0), name, op, phase, long_argument(cpu, block, 7)) == 0;
}

/* Warns the user if a call is invalid; the guest goes on. */
static uint32_t said(struct cpu *cpu, uint32_t operation, uint32_t block)
{
    if (say(cpu, operation, block))
        return 0;
    cpu->ops->log(
        cpu->host, CNNVP_LOG_WARNING,
        "%s at pc 0x%08x is not taken: names have 1 to 63 letters, digits, _ and -, tags are 1 to 65535, and there are "
        "at most 256 numbers and 4096 layers",
        operation == SYS_REPORT ? "a number that the guest reports" : "a name of a layer",
        (unsigned)cnnvp_rv32_pc(cpu->core));
    return FAILED;
}

int cpu_semihost(void *context, uint32_t operation, uint32_t parameter, uint32_t *result)
{
    struct cpu *cpu = context;
    *result = 0;
    if (cpu_sync(cpu) != CNNVP_OK)
        return 0;
    const cnnvp_time now = cpu->ops->now(cpu->host);
    switch (operation) {
    case SYS_OPEN:
    case SYS_CLOSE:
    case SYS_WRITEC:
    case SYS_WRITE0:
    case SYS_WRITE:
    case SYS_READ:
    case SYS_READC:
    case SYS_ISTTY:
    case SYS_SEEK:
    case SYS_FLEN:
        *result = file_call(cpu, operation, parameter);
        break;
    case SYS_ISERROR:
        *result = (int32_t)argument(cpu, parameter, 0) < 0;
        break;
    case SYS_CLOCK:
        *result = (uint32_t)(now / PS_PER_CENTISECOND);
        break;
    case SYS_TIME:
        *result = (uint32_t)(now / (100u * PS_PER_CENTISECOND));
        break;
    case SYS_ERRNO:
        break;
    case SYS_GET_CMDLINE:
        *result = command_line(cpu, parameter);
        break;
    case SYS_HEAPINFO:
        *result = heap_info(cpu, parameter);
        break;
    case SYS_ELAPSED:
        *result = elapsed(cpu, parameter);
        break;
    case SYS_TICKFREQ:
        *result = 1000000000u;
        break; /* SYS_ELAPSED counts nanoseconds */
    case SYS_REPORT:
    case SYS_NAME_LAYER:
        *result = said(cpu, operation, parameter);
        break;
    case SYS_EXIT: /* on 32 bits the reason is the parameter itself */
        cpu_finish(cpu, exit_status(parameter, 0), "the guest ended by a semihosting exit with an error");
        break;
    case SYS_EXIT_EXTENDED:
        cpu_finish(cpu, exit_status(argument(cpu, parameter, 0), argument(cpu, parameter, 1)),
                   "the guest ended by a semihosting exit");
        break;
    default:
        cpu->ops->log(cpu->host, CNNVP_LOG_WARNING, "semihosting operation 0x%x at pc 0x%08x is not offered",
                      (unsigned)operation, (unsigned)cnnvp_rv32_pc(cpu->core));
        *result = FAILED;
        break;
    }
    cpu_tighten(cpu);
    return 0;
}
