/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp model ABI: how a hardware unit written in plain C plugs into the platform.
 *
 * A unit is one constant table, `struct cnnvp_unit`. It holds the unit's name, parameters, ports, registers, statistics
 * and functions. A library exports one symbol, `cnnvp_model_query`, which returns its tables; the built-in units are
 * such tables, too. The platform (the host) allocates the unit's state, checks its parameters and binds its ports
 * to SystemC/TLM-2.0 sockets. It offers time, memory access, events, interrupts, traces and counters through a second
 * table, `struct cnnvp_host_ops`.
 *
 * A model includes only this header, libc and its own register list. The header is C11 and also compiles as C99 and as
 * C++17. It holds no state, and no exceptions cross it.
 *
 * General rules
 * - Time is an unsigned count of picoseconds since the simulation began.
 * - All state of a unit is in the `instance_size` bytes that the host allocates zeroed, and in memory that `init`
 *   allocates and `fini` frees. Writable globals are not allowed, because two instances of a unit may run in one
 *   process.
 * - Every call is made on the simulation thread. A model may use threads inside a call if it joins them before it
 *   returns.
 * - Run-to-completion callbacks (all except `process`) must not block. `process` may call the host's blocking
 *   functions. These return CNNVP_E_STOPPED when the simulation ends or the unit is reset; the process then frees what
 *   it holds and returns at once.
 * - Re-entrancy: a unit's `access`, `request`, `complete`, `event` and `signal` can run while its `process` is inside a
 *   blocking call, and while the unit is inside its own outgoing `access` (if a chain of units calls back). Leave no
 *   half-updated state across such a call.
 * - Life cycle: query -> `init` -> `reset` -> any number of {access, request, complete, event, signal, process} and
 *   `reset` -> `fini`. `reset` may come in the middle of a transfer; the host drops completions of earlier requests.
 *   `fini` is called exactly once after a successful `init`.
 * - Addresses: initiators use bus addresses, as printed by `cnnvp check`, for every byte of memory and every register,
 *   even on a port that leads straight to the memory. A target sees an offset: 0 is the first byte of its window or
 *   memory. On ports that carry words, commands or tiles, the target's protocol defines addresses for both sides
 *   (cnnvp_buffer.h: an offset in a buffer's half).
 * - A call that the host refuses returns an error status and gives one warning line for each unit, callback and fault.
 *   With --strict it ends the run.
 * - Errors are values. A guest's mistake is answered with a status (which becomes a TLM error response), a status bit,
 *   an interrupt and one warning line; it never ends the simulation. A wrong configuration makes `init` fail after a
 *   call of `config_error`, which says what would be right.
 */
#ifndef CNNVP_MODEL_H
#define CNNVP_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The host refuses a unit with another major number. A new minor number only appends members to the structs of this
 * header. A unit's `abi_minor` tells the host which members the unit's tables have; `struct_size` of the host's structs
 * tells the unit which members those have. 3.1: keep, follow and speedup of the host; 3.2: join; 3.3: about; 3.4:
 * simulated of cnnvp_init; 3.5: extend; 3.6: asks, watched; 3.7: conditions of cnnvp_unit. */
#define CNNVP_ABI_MAJOR 3u
#define CNNVP_ABI_MINOR 7u

/* Name of the exported function of a model library; see cnnvp_model_query below. */
#define CNNVP_MODEL_QUERY_SYMBOL "cnnvp_model_query"

#if defined(__GNUC__)
#define CNNVP_MUST_USE __attribute__((warn_unused_result))
#define CNNVP_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define CNNVP_MUST_USE
#define CNNVP_PRINTF(format_at, args_at)
#endif

/* Picoseconds since the simulation began, or a length of time in picoseconds. */
typedef uint64_t cnnvp_time;

/* Largest tag. A tag tells to which layer work belongs: layer index + 1, or 0 for no layer. A larger tag counts as
 * 0. */
#define CNNVP_MAX_TAG 65535u

/* "Never": the answer of next_activity when nothing is pending. */
#define CNNVP_TIME_NEVER UINT64_MAX

enum cnnvp_status {
    CNNVP_OK = 0,
    CNNVP_E_INVAL = -1,   /* an argument or a command is malformed */
    CNNVP_E_ADDR = -2,    /* no such address: TLM_ADDRESS_ERROR_RESPONSE */
    CNNVP_E_ACCESS = -3,  /* right address, wrong size, alignment or direction: TLM_COMMAND_ERROR_RESPONSE */
    CNNVP_E_NOMEM = -4,   /* the host machine has no memory left */
    CNNVP_E_NOSUP = -5,   /* the other side does not offer this function */
    CNNVP_E_STATE = -6,   /* not possible now: busy, not bound, called out of order */
    CNNVP_E_STOPPED = -7, /* the simulation ends or the unit is reset: free resources and return */
    CNNVP_E_FATAL = -8,   /* the unit found its own state broken; the run ends with exit status 1 */
    CNNVP_E_MEMORY = -9   /* the memory behind a request reported an error */
};

/* ------------------------------------------------------------------------------------------------------------------
 * Transactions
 */

enum cnnvp_op {
    CNNVP_READ = 0,
    CNNVP_WRITE = 1,
    /* A command to a unit. `data` is a struct that both sides agree on (cnnvp_command.h for calculation units). */
    CNNVP_COMMAND = 2,
    /* Zero-copy read or write of a tile: the target sets `data` to its own storage of [address, address + size) and
     * counts `words`. The pointer stays valid until the callback that made the access returns. NULL in timing-only. */
    CNNVP_BORROW_READ = 3,
    CNNVP_BORROW_WRITE = 4
};

enum cnnvp_access_flag {
    CNNVP_DEBUG = 1u << 0,   /* no side effects, no time, not counted */
    CNNVP_UNTIMED = 1u << 1, /* takes no time and is not counted in links (for the core's own traffic) */
    /* Asks how long the access would take. Only for instances without a simulation (cnnvp_units in cnnvp.h), for which
     * time stands still. The unit answers at once with `delay` and status, as if it were otherwise idle, and leaves no
     * effect that a later question could see. Data pointers are NULL, as in timing-only; counts, spans and counters are
     * dropped. A unit that answers its commands at once therefore needs no extra code. A unit that would answer
     * CNNVP_PENDING, because an event or its `process` executes the command, returns CNNVP_OK and the delay of a lone
     * command instead; `process` does not run in this mode. */
    CNNVP_ESTIMATE = 1u << 2
};

struct cnnvp_buffer_clocks;
struct cnnvp_command;

/*
 * A run-to-completion transaction for registers, commands and buffer tiles. It crosses the platform as one b_transport
 * call. The initiator fills it in and owns it; it lives until the call returns.
 */
struct cnnvp_access {
    uint32_t op;         /* enum cnnvp_op */
    uint32_t flags;      /* bits of enum cnnvp_access_flag */
    uint32_t initiator;  /* set by the host: number of the instance that started the transaction */
    uint32_t tag;        /* layer index + 1 of the work, 1 .. CNNVP_MAX_TAG; 0: no layer */
    uint64_t flow;       /* number that joins the spans of one instruction in a trace; 0: none */
    uint64_t address;    /* initiator: bus address; target: offset in its window. See "Addresses" above */
    void *data;          /* `size` bytes; NULL if the data do not matter (timing-only) */
    uint64_t size;       /* bytes */
    uint64_t words;      /* words that cross the port, repeated reads counted each time; 0: only `size` matters */
    uint64_t cycles;     /* cycles over which the initiator spreads the words; 0 where it does not matter */
    uint32_t mode;       /* defined by the target: a buffer's read or update mode, a command's number */
    uint32_t word_bytes; /* bytes of one of `words`; 0 means 2. Links count words * word_bytes, or size if words is 0 */
    uint32_t clock_count;                     /* entries of `clocks`; 0: the words are spread evenly over `cycles` */
    const struct cnnvp_buffer_clocks *clocks; /* for buffers: the words that cross the port in each clock
                                               * (cnnvp_buffer.h) */
    cnnvp_time delay; /* in: how far the initiator has run ahead of now; out: the same plus the target's time */
};

/*
 * A split transaction for memory: a request now, its completion later. It crosses the platform as one non-blocking
 * transport call in each direction. The initiator owns the structure and its data and keeps both unchanged until
 * `complete` is called with it or the unit is reset.
 *
 * A request moves `count` segments of `size` bytes. Segment i starts in memory at address + i * stride, and at the
 * initiator at data + i * size.
 */
struct cnnvp_request {
    uint32_t op;           /* CNNVP_READ or CNNVP_WRITE */
    uint32_t initiator;    /* set by the host, except for ports with CNNVP_PORT_OUTSIDE */
    uint32_t tag;          /* as in struct cnnvp_access */
    int32_t status;        /* out: CNNVP_OK or an error, set before the completion */
    uint64_t flow;         /* as in struct cnnvp_access */
    uint64_t address;      /* of the first segment. Initiator: bus address; target: offset in its memory */
    void *data;            /* size * count bytes; NULL in timing-only */
    uint64_t size;         /* bytes of one segment, 1 or more */
    uint64_t count;        /* segments, 1 or more */
    int64_t stride;        /* bytes from one segment's start to the next's */
    uint32_t burst_bytes;  /* the initiator's burst length, for memories that use it; they may split further. 0:
                            * unknown */
    uint32_t outstanding;  /* largest number of bursts of this op that the initiator keeps in flight, over all its
                            * requests; 1 or more */
    cnnvp_time issued;     /* set by the host: time of the request */
    cnnvp_time first_data; /* out: time when the first burst was complete */
    uint64_t cookie;       /* private to the initiator */
    uint64_t scratch[4];   /* private to the target while it holds the request */
    void *link;            /* private to the host */
};

/*
 * How the tiles of a calculation unit's commands should be cut; see `tiling` of struct cnnvp_unit. Edges of a tile are
 * multiples of these sizes, or the rest of the layer, wherever such tiles fit into the buffers. 1: any size.
 */
struct cnnvp_tiling {
    uint32_t struct_size; /* set by the host: size of this struct as the host knows it */
    uint32_t rows;        /* rows and columns of results */
    uint32_t cols;
    uint32_t in;   /* input channels; for a fully connected layer, inputs */
    uint32_t out;  /* output channels; for a fully connected layer, outputs */
    uint32_t side; /* rows and columns of a window that are processed at once; parts of a large window are multiples of
                    * it */
    uint32_t result_bytes; /* bytes of the output buffer for each result while a command runs that writes words:
                            * word_bytes, or more if partial sums are stored there meanwhile */
    uint32_t word_bytes;   /* bytes of a word of inputs, weights and results */
    const char *format;    /* format of words: "fx16" is 16-bit fixed point; static text */
    const char *layout;    /* layout of inputs and results in buffers: "planes" is [channel][row][column]; static
                            * text */
    uint64_t pes;          /* peak multiply-accumulate operations per cycle; utilization is relative to it */
    uint32_t limits;       /* what the unit does with words if a command asks for it. 0: nothing; 1: clips them to
                            * limits (`clip`); 2: also scales them (`scale`, cnnvp_buffer.h); 3: also applies a table;
                            * CNNVP_LIMITS_ADDS beside these: also adds them to words */
};

/* A piece of memory for direct access. Valid until the simulation ends. */
struct cnnvp_dmi {
    uint8_t *data;  /* host address of `start` */
    uint64_t start; /* first and last address of the piece: for the target, offsets; for the initiator, bus addresses */
    uint64_t end;
};

/* ------------------------------------------------------------------------------------------------------------------
 * What a unit says of itself
 */

enum cnnvp_param_type {
    CNNVP_PARAM_UINT = 0, /* whole number, min..max */
    CNNVP_PARAM_SIZE = 1, /* bytes; text such as 64KiB, 1MiB allowed; min..max */
    CNNVP_PARAM_ENUM = 2, /* one of `choices`; the value is the index of the choice; on|off for switches */
    CNNVP_PARAM_TEXT = 3, /* free text, up to 4095 bytes */
    CNNVP_PARAM_ADDR = 4  /* an address, 0x... allowed; min..max; the parameter's help says in which address space */
};

struct cnnvp_param {
    const char *name; /* lower case, words joined by _; not one of the keys of every instance, such as clock */
    enum cnnvp_param_type type;
    const char *unit;          /* "MHz", "bytes", "" */
    const char *default_value; /* as it would be written in a platform file */
    uint64_t min;              /* for UINT, SIZE, ADDR */
    uint64_t max;
    const char *choices; /* for ENUM: "off|on"; otherwise NULL */
    const char *help;    /* one sentence */
};

/*
 * When a parameter has an effect. Several conditions of a parameter must all hold. Without effect, it is not tried for
 * advice, and `--set` warns.
 *
 * where: NAME=VALUE|VALUE or NAME!=VALUE|VALUE: another parameter of the unit has one, or none, of these values, which
 * are written as in a platform file. NULL: no time, energy or result ever depends on the parameter, which decides what
 * is possible, or how fast the simulation is; no warning names such a parameter.
 */
struct cnnvp_condition {
    const char *param;
    const char *choice; /* NULL: all values of the parameter have no effect otherwise; or that choice of an ENUM, which
                         * then does what the default does */
    const char *where;
};

enum cnnvp_port_kind {
    CNNVP_PORT_TARGET = 0,        /* receives `access` */
    CNNVP_PORT_INITIATOR = 1,     /* makes `access` */
    CNNVP_PORT_MEM_TARGET = 2,    /* receives `request`, and `access` and `dmi` for the core and the loader; any number
                                     of initiators may be bound to it */
    CNNVP_PORT_MEM_INITIATOR = 3, /* makes `request` */
    CNNVP_PORT_IRQ_OUT = 4,       /* drives a level */
    CNNVP_PORT_IRQ_IN = 5         /* `lines` levels */
};

enum cnnvp_port_flag {
    CNNVP_PORT_OPTIONAL = 1u << 0, /* may stay unconnected; using it then gives CNNVP_E_STATE */
    /* MEM_INITIATOR: leads out of the platform, to a TLM-2.0 target that a C++ program binds (cnnvp_systemc.h);
     * platform files do not connect it. Its requests are contiguous. Their `initiator` and `outstanding` are those of
     * the instance for which the unit sends them. The unit's parameter `protocol`, if it has one, selects lt (0) or at
     * (1). IRQ_IN: leads to a signal of the C++ program. */
    CNNVP_PORT_OUTSIDE = 1u << 1,
    /* INITIATOR, for commands: the receiver, not this unit, counts the cycles of each command in the layer statistics
     * (compute_cycles, stall_cycles.<cause>). A receiver that is busy for longer than it counts gives a warning at the
     * end of the run; with --strict or --check-costs the run fails. */
    CNNVP_PORT_COUNTED = 1u << 2,
    /* TARGET, INITIATOR: the kind of traffic, one of the following. A port without a kind matches every other. A
     * platform file that connects ports of different kinds is refused. Registers, memory and the bus take plain reads
     * and writes. */
    CNNVP_PORT_PLAIN = 1u << 8,       /* reads and writes of addresses */
    CNNVP_PORT_COMMANDS = 2u << 8,    /* commands of the instruction element (cnnvp_command.h) */
    CNNVP_PORT_COMPLETIONS = 3u << 8, /* completions of commands */
    CNNVP_PORT_WORDS = 4u << 8,       /* words of a buffer and its updates */
    CNNVP_PORT_TILES = 5u << 8,       /* tiles of the multi-function module (cnnvp_tile.h) */
    CNNVP_PORT_PROGRAM = 6u << 8,     /* struct cnnvp_cpu_program from the loader to the core */
    CNNVP_PORT_CROSSES = 15u << 8     /* mask of the kind */
};

struct cnnvp_port {
    const char *name;
    enum cnnvp_port_kind kind;
    uint32_t flags;
    uint64_t window; /* target ports: bytes of address space; 0: the value of the unit's parameter `size` */
    uint32_t lines;  /* IRQ_IN: number of lines */
    const char *help;
};

enum cnnvp_register_access {
    CNNVP_REG_RO = 0, /* a write is ignored with a warning */
    CNNVP_REG_RW = 1,
    CNNVP_REG_WO = 2,  /* reads as 0 */
    CNNVP_REG_W1C = 3, /* writing 1 clears a bit */
    CNNVP_REG_RWE = 4  /* read and write; reading has a side effect, so a debugger gets the stored value */
};

/* A 32-bit register. The host applies access, mask and reset value; the unit only reacts to accesses. */
struct cnnvp_register {
    const char *name;
    uint32_t offset; /* bytes from the start of the window, multiple of 4 */
    enum cnnvp_register_access access;
    uint32_t reset;
    uint32_t mask;  /* bits that a write can change */
    size_t storage; /* offset in the instance of the uint32_t that holds the value */
    const char *help;
};

/* A named group of bits of a register, for documentation, guest headers and dumps. */
struct cnnvp_field {
    const char *reg;
    const char *name;
    uint32_t lsb;
    uint32_t width;
    const char *help;
};

/*
 * A statistic: a 64-bit count that only grows. The host keeps it in total and for each tag.
 *
 * layer: NULL, or the member of `layers[]` in stats.json to which all units add this statistic by tag, such as
 * "compute_cycles", "macs", "stall_cycles.bias", "input_words", "dram_read_bytes".
 *
 * energy: NULL, or the entry of the energy table for one count.
 */
struct cnnvp_stat {
    const char *name;
    const char *unit;
    const char *layer;
    const char *energy;
    const char *help;
};

struct cnnvp_counter {
    const char *name; /* a value over time in the trace, such as bytes in a buffer */
    /* unit of the value. "function": values are calls (a guest address with bit 32 set) and returns (0), shown as
     * nested slices */
    const char *unit;
};

/* Range of opcodes for custom instructions. */
#define CNNVP_CUSTOM_OPCODE_FIRST 0xc0u
#define CNNVP_CUSTOM_OPCODE_LAST 0xffu

/* A field of an instruction's 8 status bits: `width` bits from bit `lsb` up. One bit is a flag, more are a number. */
struct cnnvp_instruction_status {
    const char *name; /* lower case, as all names of an instruction */
    uint32_t lsb;
    uint32_t width;
    const char *help;
};

/* A register of an instruction's descriptor; the index in the table counts from the base register. */
struct cnnvp_instruction_register {
    const char *name;
    const char *help;
};

/*
 * A custom instruction of a unit. It is a tile instruction: the instruction element sends it as a command
 * (cnnvp_command.h) through the port that leads to the unit, custom_0 to custom_3 or any other command port. On
 * platforms that have the unit, the assembler, the disassembler, the reference and the header of `cnnvp check --header`
 * know it. No two units of a platform may use the same opcode or name, nor those of a built-in instruction.
 */
struct cnnvp_instruction {
    const char *mnemonic;
    uint32_t opcode;
    uint32_t buffers; /* bits of enum cnnvp_half: buffers whose halves it occupies while it runs */
    const struct cnnvp_instruction_status *statuses;
    size_t status_count;
    const struct cnnvp_instruction_register *registers; /* registers of the descriptor, up to CNNVP_DESCRIPTOR_MAX */
    size_t register_count;
    const char *help;
};

struct cnnvp_host; /* the host's side of one instance; opaque */
struct cnnvp_host_ops;

/* Kinds of hardware parts of a unit, for area and power. */
enum cnnvp_part_kind {
    CNNVP_PART_MULTIPLIER, /* integer, bits x bits */
    CNNVP_PART_ADDER,      /* also subtractors and comparators */
    CNNVP_PART_DIVIDER,
    CNNVP_PART_REGISTER,         /* flip-flops */
    CNNVP_PART_SRAM,             /* one bank of `bytes`; `bits` cross its port at a time */
    CNNVP_PART_CORE,             /* a small in-order RISC-V core */
    CNNVP_PART_FLOAT_MULTIPLIER, /* floating point of 16, 32 or 64 bits */
    CNNVP_PART_FLOAT_ADDER
};

struct cnnvp_part {
    enum cnnvp_part_kind kind;
    uint32_t bits;  /* width, up to 65536; at least 1 for an SRAM. For more register bits raise `count` */
    uint64_t count; /* up to 2^40 */
    uint64_t bytes; /* for an SRAM: size, up to 2^40 */
    const char *what;
};

/* A published or derived figure: lowest, typical and highest value. */
struct cnnvp_range {
    double low;
    double typical;
    double high;
};

/* Receives what `costs` of a unit reports. */
struct cnnvp_costs {
    uint32_t struct_size;
    void *context;
    /* A part. The platform's technology determines its area and static power, and the energy of an SRAM access. The
     * entries sram_* of the unit's statistics are for its first SRAM: report the one that they count first. */
    void (*part)(void *context, const struct cnnvp_part *part);
    /* Energy of one count of statistic `stat`, in pJ, independent of the technology. Replaces the statistic's entry in
     * the energy table. For a statistic in ps it is the power of a state, which counts as static energy with every
     * table. */
    void (*energy)(void *context, uint32_t stat, const struct cnnvp_range *picojoules);
    /* Constant power while the simulation runs, in mW, independent of the technology. */
    void (*power)(void *context, const struct cnnvp_range *milliwatts);
    /* The value of parameter `param` (not a text) of the nearest unit whose ports lead here, directly or through other
     * units; `otherwise` if no such unit has it. A block uses it to count itself once for each set of its module. */
    uint64_t (*upstream)(void *context, const char *param, uint64_t otherwise);
};

/* Bandwidth and latency of a memory for one stream of requests. */
struct cnnvp_memory_rate {
    uint32_t struct_size;
    uint64_t bytes_per_s; /* peak */
    cnnvp_time latency;   /* of a read that must close a row and open another */
};

/* Receives what `show` of a unit prints. */
struct cnnvp_show {
    uint32_t struct_size;
    void *context;
    void (*line)(void *context, const char *format, ...) CNNVP_PRINTF(2, 3); /* without a newline */
};

/* What `init` gets. The pointers stay valid until `fini` has returned; keep them in the instance. */
struct cnnvp_init {
    uint32_t struct_size;
    uint32_t instance; /* number of this instance, as in struct cnnvp_access::initiator */
    const char *name;  /* name of this instance in the platform file */
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    /* 1: the instance is part of a SystemC simulation, and a C++ unit may create SystemC objects now. 0: the instance
     * only answers questions about costs. Since 3.4. */
    uint32_t simulated;
};

/* Functions that a unit does not need are NULL. `self` is the instance. */
struct cnnvp_unit {
    uint32_t struct_size; /* sizeof(struct cnnvp_unit) as the model was compiled */
    uint16_t abi_major;   /* CNNVP_ABI_MAJOR */
    uint16_t abi_minor;   /* CNNVP_ABI_MINOR */
    const char *kind;     /* name for `model:` in a platform file; letters, digits, _ */
    const char *version;
    const char *summary; /* one line */
    size_t instance_size;

    const struct cnnvp_param *params;
    size_t param_count;
    const struct cnnvp_port *ports;
    size_t port_count;
    const struct cnnvp_register *registers; /* the host serves them on the target port `register_port` */
    size_t register_count;
    const struct cnnvp_field *fields;
    size_t field_count;
    uint32_t register_port;
    const struct cnnvp_stat *stats;
    size_t stat_count;
    const char *const *tracks; /* rows of the trace */
    size_t track_count;
    const struct cnnvp_counter *counters;
    size_t counter_count;
    const struct cnnvp_instruction *instructions; /* custom instructions; such a unit has a target port for commands */
    size_t instruction_count;
    uint32_t event_count;   /* events 0 .. event_count - 1, see `notify` */
    uint32_t process_stack; /* bytes of stack for `process`; 0: the host's default */

    /* Reads the parameters, which the host has checked against the table, and allocates. Ports may not be used yet. */
    int (*init)(void *self, const struct cnnvp_init *init);
    void (*fini)(void *self);
    /* The host has already set the registers to their reset values. Must always work, also in mid-transfer. */
    void (*reset)(void *self);

    /* An access at a target port, except those that the host serves as registers. */
    int (*access)(void *self, uint32_t port, struct cnnvp_access *access);
    /* A register has been written, with the access rules applied; `old` is its previous value. An error status is
     * returned to the initiator. */
    int (*reg_written)(void *self, uint32_t reg, uint32_t old);
    /* A register is about to be read; update its storage here. A debugger's reads also call it, except for
     * CNNVP_REG_RWE registers. For other registers it must therefore have no visible effect. */
    int (*reg_read)(void *self, uint32_t reg);
    /* A request at a memory target port. CNNVP_OK: accepted. `ops->complete` follows, possibly at the same time, but
     * never inside this call. Any other status: refused, and no completion follows. */
    int (*request)(void *self, uint32_t port, struct cnnvp_request *request);
    /* A request of this unit is complete at the current time. The structure belongs to the unit again. */
    void (*complete)(void *self, uint32_t port, struct cnnvp_request *request);
    /* Direct memory of a memory target port at offset `address`; CNNVP_E_NOSUP if there is none. */
    int (*dmi)(void *self, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi);
    /* An event set by `notify` is due. */
    void (*event)(void *self, uint32_t event);
    /* A line of an IRQ_IN port has changed to `level`. A reset drops all outputs to 0; lines that are high afterwards
     * are signalled again. */
    void (*signal)(void *self, uint32_t port, uint32_t line, int level);
    /* The unit's own thread of control. Starts after reset and returns when a blocking call returns CNNVP_E_STOPPED. */
    void (*process)(void *self);
    /* The run is over, or statistics are read: bring the counts up to date with `count`. */
    void (*flush)(void *self);

    /* Independent of a simulation: may be called at any time after `init`; must change nothing. */
    /* How the tiles of a layer should be cut. `access` carries a command as the port would get it, for the whole layer
     * in one piece: all channels, rows and columns, with addresses 0. Members of *tiling are preset to 1 (result_bytes
     * and word_bytes 2, format "fx16", layout "planes", pes 1); the unit sets those that differ. CNNVP_E_INVAL with a
     * line of `log`: the unit takes no command of this layer. For calculation units. */
    int (*tiling)(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling);
    /* Time of a request at a memory target port from now to its completion, if the memory were otherwise idle. The
     * address is an offset in the memory. For memories. */
    int (*estimate)(void *self, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration);
    /* Called without an instance: reports the unit's parts and costs for these parameter values, in the order of the
     * parameter table. NULL: unknown, and statistics say so. */
    void (*costs)(const uint64_t *params, const struct cnnvp_costs *costs);

    /* Prints what the instance works on and holds at this moment, for a debugger's user; changes nothing. NULL: spans,
     * counters and registers are enough. */
    void (*show)(void *self, const struct cnnvp_show *show);

    /* Called without an instance: bandwidth and latency of a memory with these parameter values. Leaves *rate unchanged
     * if the values are wrong; `init` reports that. NULL: not known. */
    void (*rate)(const uint64_t *params, struct cnnvp_memory_rate *rate);
    /* Called without an instance, before `costs` and `init`: sets parameters whose value means "as the memory needs",
     * within their bounds, for the instance's clock and the memory behind its first MEM_INITIATOR port. All of `memory`
     * is 0 if that memory reports no rate. For such a parameter of a memory itself (`size` 0), sets the value of its
     * part. */
    void (*fit)(uint64_t *params, uint64_t clock_mhz, const struct cnnvp_memory_rate *memory);

    const struct cnnvp_condition *conditions; /* of parameters; since 3.7 */
    size_t condition_count;
};

/* ------------------------------------------------------------------------------------------------------------------
 * What the host offers
 */

enum cnnvp_log_level { CNNVP_LOG_ERROR = 0, CNNVP_LOG_WARNING = 1, CNNVP_LOG_INFO = 2, CNNVP_LOG_DEBUG = 3 };

/*
 * All functions exist: those that a host lacks return CNNVP_E_NOSUP, so a model never tests for NULL. `host` is the
 * pointer from struct cnnvp_init. "any" means that a function may be called from every callback and from init. A
 * SystemC process that the unit itself started in `init` may call all functions except the blocking ones; it uses
 * sc_core::wait instead. Inside the callback of another unit, all functions that return a status are refused.
 */
struct cnnvp_host_ops {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;

    /* -- parameters (any) -- Value of parameter `index` of the unit's table; param_text only for TEXT and ENUM. */
    uint64_t (*param)(struct cnnvp_host *host, uint32_t index);
    const char *(*param_text)(struct cnnvp_host *host, uint32_t index);
    /* Explains why init is about to fail. The message is printed with the place of parameter `index` in the platform
     * file or command line (UINT32_MAX: the place of the instance). Returns CNNVP_E_INVAL, which init should return. */
    int (*config_error)(struct cnnvp_host *host, uint32_t index, const char *format, ...) CNNVP_PRINTF(3, 4);
    /* 1 if no arithmetic is wanted (--timing-only): data pointers are NULL; times and counts stay the same. */
    int (*timing_only)(struct cnnvp_host *host);

    /* -- time (any) -- */
    cnnvp_time (*now)(struct cnnvp_host *host);
    /* Clock of this instance in MHz: its parameter clock_mhz, or the clock of the instance that `clock:` names, times
     * `speedup`. */
    uint64_t (*clock_mhz)(struct cnnvp_host *host);
    /* Absolute time of the next pending activity in the simulation kernel (events of other instances, ends of waits);
     * CNNVP_TIME_NEVER if none. Nothing can interfere before then. Equals now if something is still pending at the
     * current time. Pending events of this instance count as well. */
    cnnvp_time (*next_activity)(struct cnnvp_host *host);
    /* Calls `event` of this instance at the absolute time `at`; an earlier time means now, after the current callback.
     * Each event has one pending notification: a second call replaces the first. */
    int (*notify)(struct cnnvp_host *host, uint32_t event, cnnvp_time at);
    int (*cancel)(struct cnnvp_host *host, uint32_t event);

    /* -- transactions (not from init, reset or fini) -- */
    int (*access)(struct cnnvp_host *host, uint32_t port, struct cnnvp_access *access);
    int (*request)(struct cnnvp_host *host, uint32_t port, struct cnnvp_request *request);
    /* For a memory target: `request` is complete now. Its status must be set, and the target no longer touches it. The
     * initiator is told at the current time, after the current callback has returned (in `process`: at its next
     * blocking call), so its next request does not re-enter the caller. */
    int (*complete)(struct cnnvp_host *host, struct cnnvp_request *request);
    /* Direct memory at a bus address; CNNVP_E_NOSUP if there is none. */
    int (*dmi)(struct cnnvp_host *host, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi);
    /* Drives an IRQ_OUT port (allowed in reset). Setting the same level again costs nothing. */
    int (*irq)(struct cnnvp_host *host, uint32_t port, int level);

    /* -- blocking, only from process -- */
    int (*wait)(struct cnnvp_host *host, cnnvp_time duration);
    /* Waits until `wake` is called on this instance; returns at once if it has been called since the last wait_wake
     * returned. */
    int (*wait_wake)(struct cnnvp_host *host);
    /* Returns when nothing else is pending at the current time. */
    int (*settle)(struct cnnvp_host *host);

    /* -- to this unit's process, from any callback -- */
    void (*wake)(struct cnnvp_host *host);

    /* -- statistics and traces (any but init; `log` from there too) -- */
    /* Adds n to statistic `stat` on behalf of `tag`. */
    void (*count)(struct cnnvp_host *host, uint32_t stat, uint32_t tag, uint64_t n);
    /* Work from `begin` to `end` on row `track`. Spans of one track come in order and do not overlap. `name` must stay
     * valid for the life of the simulation. If tag is not 0, the span also extends the layer's first and last time. */
    void (*span)(struct cnnvp_host *host, uint32_t track, const char *name, uint32_t tag, uint64_t flow,
                 cnnvp_time begin, cnnvp_time end);
    void (*counter)(struct cnnvp_host *host, uint32_t counter, cnnvp_time at, uint64_t value);
    void (*log)(struct cnnvp_host *host, enum cnnvp_log_level level, const char *format, ...) CNNVP_PRINTF(3, 4);

    /* -- the outside world (any but init) -- */
    /* Ends the simulation after the current time step. `reason` is shown if code is not 0. Code CNNVP_E_FATAL reports
     * broken state instead of an exit of the guest: CNNVP_END_FATAL. */
    void (*finish)(struct cnnvp_host *host, int code, const char *reason);
    /* Writes bytes to the user's terminal. */
    void (*console_write)(struct cnnvp_host *host, const void *data, size_t size);
    /* Reads up to `size` bytes that are available without waiting. Returns the number of bytes; 0 at end of input. With
     * size 0, waits until there are bytes or the input ends, in no simulated time. */
    size_t (*console_read)(struct cnnvp_host *host, void *data, size_t size);
    /* Records a number that the program reports, `program.reported` in the statistics. A repeated name replaces the
     * earlier value. Names have 1 to 63 letters, digits, _ and -. Returns 0, or -1: invalid name, or more than 256
     * names. */
    int (*report)(struct cnnvp_host *host, const char *name, int64_t value);
    /* Names the layer whose instructions have the tag `tag` (1 or more), for statistics and trace: name, kind (conv,
     * pool, ...), phase ("": forward), and multiply-accumulates, which add up over calls. Texts as for `report`.
     * Returns 0, or -1: invalid text, tag 0 or above CNNVP_MAX_TAG, or more than 4096 layers. */
    int (*name_layer)(struct cnnvp_host *host, uint32_t tag, const char *name, const char *op, const char *phase,
                      uint64_t macs);

    /* -- memory targets (any but init) -- */
    /* Assigns n of statistic `stat` to the instance `requester` (struct cnnvp_request::initiator). It is a share of the
     * total; only `count` adds to the total. */
    void (*count_for)(struct cnnvp_host *host, uint32_t stat, uint32_t requester, uint64_t n);
    /* A burst of a request enters the memory at clock edge `clock` of the memory, which is at time `at`. Bursts come in
     * the order of their clocks. `address` is an offset in the memory. Returns 0 if nothing listens; no further calls
     * are needed then. */
    int (*burst)(struct cnnvp_host *host, cnnvp_time at, uint64_t clock, uint32_t requester, uint32_t tag, uint32_t op,
                 uint64_t address);

    /* -- blocking, only from process -- */
    /* Waits until the absolute time `at`, then settles. If nothing else can happen up to and at `at`, the process runs
     * ahead of the kernel instead, which is cheap: `now` returns `at`, and transactions, events and interrupts happen
     * at that time. The next call of wait, wait_wake or settle first lets the kernel catch up. */
    int (*reach)(struct cnnvp_host *host, cnnvp_time at);

    /* -- while the unit answers an access with CNNVP_ESTIMATE -- */
    /* Calls `estimate` of the memory at `port`; the address is a bus address. CNNVP_E_NOSUP if the memory has none, or
     * in a simulation. Units at other ports are asked by an access with CNNVP_ESTIMATE. */
    int (*estimate)(struct cnnvp_host *host, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration);

    /* -- wiring (not from init, reset or fini) -- 1 if an initiator port is connected, 0 if it is open. */
    int (*connected)(struct cnnvp_host *host, uint32_t port);
    /* -- wiring (any) -- The custom instructions of the unit at an initiator port, and their number; NULL and 0 if it
     * has none or the port is open. */
    const struct cnnvp_instruction *(*instructions)(struct cnnvp_host *host, uint32_t port, size_t *count);

    /* -- names (any) -- The name of the instance with this number in the platform; NULL beyond the last. */
    const char *(*instance_name)(struct cnnvp_host *host, uint32_t instance);

    /* -- memory targets (any but init) -- Called before `complete`: bytes that crossed the memory's pins for the
     * request, in whole bursts. A memory with a statistic burst_bytes calls it, so that they are assigned to the
     * requester. */
    void (*crossed)(struct cnnvp_host *host, const struct cnnvp_request *request, uint64_t bytes);

    /* -- critical path (any but init, reset and fini) -- For units that work ahead of time or know ends in advance; for
     * others the host finds causes by itself. A slot, 0 to CNNVP_PATH_SLOTS - 1, holds a moment of the critical path.
     * `keep` stores a moment in `slot`. `from` is another slot; or CNNVP_PATH_NOW, the present moment, where the
     * running instance's time up to now was work for `tag`; or CNNVP_PATH_ANSWER, the end of the access just made.
     * `follow` says that the following work waited for the moment in `slot`, not for the cause of this callback;
     * CNNVP_PATH_NOW undoes it. Once a unit has kept a moment, the host stops recording causes of its events; `event`
     * must then begin with `follow`. */
    void (*keep)(struct cnnvp_host *host, uint32_t slot, uint32_t from, uint32_t tag);
    void (*follow)(struct cnnvp_host *host, uint32_t slot, uint32_t tag);

    /* -- time (any) -- Factor by which the instance runs faster than its parameters say (`speedup:`, for what-if
     * studies). clock_mhz includes it; a unit that gets times from elsewhere divides them by it. */
    uint32_t (*speedup)(struct cnnvp_host *host);

    /* -- critical path (as keep and follow; since 3.2) -- The moment in `slot` (CNNVP_PATH_NOW: the running work) also
     * waited for the moment in `other`, which came earlier. In a slot, a later `other` replaces the moment. The host
     * uses joins to estimate the gain if an instance were twice as fast. Does nothing if a slot is empty. */
    void (*join)(struct cnnvp_host *host, uint32_t slot, uint32_t other);

    /* -- traces (any but init; since 3.3) -- From now on, spans of this instance whose flow is the command's sequence
     * belong to this command (cnnvp_command.h), and the trace shows its descriptor. The host does this itself for spans
     * drawn while a command is answered. */
    void (*about)(struct cnnvp_host *host, const struct cnnvp_command *command);

    /* -- critical path (as keep and follow; since 3.5) -- Appends work of this instance for `tag` to the moment in
     * `slot`, up to the absolute time `at`, which becomes the moment in the slot. Does nothing if the slot is empty or
     * `at` is not later. */
    void (*extend)(struct cnnvp_host *host, uint32_t slot, uint32_t tag, cnnvp_time at);

    /* -- wiring (any; since 3.6) -- 1 if an initiator port of the instance with this number leads to this instance: by
     * itself, through links to the outside, or over the bus. */
    int (*asks)(struct cnnvp_host *host, uint32_t instance);

    /* -- traces (any; since 3.6) -- 1 if counters are recorded over time or shown to a debugger. 0: those may be
     * left out of which no statistic is made, as it is of a memory's bandwidth and of live values. */
    int (*watched)(struct cnnvp_host *host);
};

#define CNNVP_PATH_SLOTS (1u << 22)
#define CNNVP_PATH_NOW UINT32_MAX
#define CNNVP_PATH_ANSWER (UINT32_MAX - 1u)

/* The index-th unit of a library, NULL after the last. `host_abi` is the host's major << 16 | minor. */
typedef const struct cnnvp_unit *(*cnnvp_model_query_fn)(uint32_t index, uint32_t host_abi);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct cnnvp_unit *
cnnvp_model_query(uint32_t index, uint32_t host_abi);

/* Text of a status, for messages. */
static inline const char *cnnvp_status_text(int status)
{
    switch (status) {
    case CNNVP_OK:
        return "no error";
    case CNNVP_E_INVAL:
        return "malformed";
    case CNNVP_E_ADDR:
        return "no such address";
    case CNNVP_E_ACCESS:
        return "wrong size, alignment or direction";
    case CNNVP_E_NOMEM:
        return "out of memory";
    case CNNVP_E_NOSUP:
        return "not supported";
    case CNNVP_E_STATE:
        return "not possible now";
    case CNNVP_E_STOPPED:
        return "stopped";
    case CNNVP_E_FATAL:
        return "fatal error of the unit";
    case CNNVP_E_MEMORY:
        return "error of the memory";
    default:
        return "unknown status";
    }
}

/* ------------------------------------------------------------------------------------------------------------------
 * Clock arithmetic. Edge n of a clock of `mhz` MHz lies at floor(n * 10^6 / mhz) ps. mhz: 1 .. 1 000 000.
 */

static inline cnnvp_time cnnvp_edge_time(uint64_t mhz, uint64_t edge)
{
    /* Split so that the product cannot overflow before the year 2500 of simulated time. */
    return edge / mhz * 1000000u + edge % mhz * 1000000u / mhz;
}

/* Number of the first edge at or after `time`. */
static inline uint64_t cnnvp_edge_at_or_after(uint64_t mhz, cnnvp_time time)
{
    /* floor(n * 10^6 / mhz) >= t  <=>  n >= t * mhz / 10^6, for whole t */
    return time / 1000000u * mhz + (time % 1000000u * mhz + 999999u) / 1000000u;
}

/* Cycles between `now` and now + delay. Counts clock edges, because a cycle may not be a whole number of
 * picoseconds. */
static inline uint64_t cnnvp_delay_cycles(uint64_t mhz, cnnvp_time now, cnnvp_time delay)
{
    return cnnvp_edge_at_or_after(mhz, now + delay) - cnnvp_edge_at_or_after(mhz, now);
}

#ifdef __cplusplus
}
#endif

#endif
