/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp model ABI: how a hardware unit written in plain C plugs into the platform.
 *
 * A unit is one constant table, `struct cnnvp_unit`: what it is called, its parameters, ports, registers and
 * statistics, and its functions. A library exports one symbol, `cnnvp_model_query`, that hands out its tables; the
 * built-in units are handed out the same way. The platform (the host) allocates the unit's state, checks its
 * parameters, binds its ports to SystemC/TLM-2.0 sockets, and offers time, memory access, events, interrupts, traces
 * and counters through a second table, `struct cnnvp_host_ops`.
 *
 * This header is all that a model includes besides libc and its own register list. It is C11, and compiles unchanged
 * as C99 and as C++17. It holds no state and no exceptions cross it.
 *
 * Rules that hold everywhere
 * - Time is an unsigned count of picoseconds since the simulation began.
 * - All state of a unit lives in the `instance_size` bytes that the host allocates zeroed, and in memory that `init`
 *   allocates and `fini` frees. Writable globals are not allowed: two instances of a unit run in one process.
 * - Every call is made on the simulation thread. A model may use threads inside a call if it joins them before it
 *   returns.
 * - Run-to-completion callbacks (all but `process`) must not block. `process`, where a unit has one, may call the
 *   host's blocking functions; these return CNNVP_E_STOPPED when the simulation ends or the unit is reset, and the
 *   process then frees what it holds and returns at once.
 * - Re-entrancy: a unit's `access`, `request`, `complete`, `event` and `signal` can run while its `process` is inside a
 *   blocking call, and while it is inside its own outgoing `access` (a chain of units that calls back). Leave no
 *   half-updated state across such a call.
 * - Life: query -> `init` -> `reset` -> any number of {access, request, complete, event, signal, process} and `reset`
 *   -> `fini`. `reset` may come in the middle of a transfer; completions of requests from before it are dropped by
 *   the host. `fini` is called exactly once after a successful `init`.
 * - Addresses. A byte of memory and a register have one address for initiators: the bus's, which `cnnvp check` prints,
 *   also on a port that leads straight to the memory. A target sees an offset: 0 is the first byte of its window or
 *   memory. On ports that carry words, commands or tiles an address is what the target's protocol says, for both sides
 *   (cnnvp_buffer.h: an offset in a buffer's half).
 * - A call that the host refuses returns its status and is one warning line, once for each unit, callback and fault;
 *   with --strict it ends the run.
 * - Errors are values. A guest's mistake is answered with a status (which becomes a TLM error response), a status bit,
 *   an interrupt and one warning line; it never ends the simulation. A wrong configuration makes `init` fail, after a
 *   call of `config_error` that says what would be right.
 */
#ifndef CNNVP_MODEL_H
#define CNNVP_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Another major is refused; a minor only appends members to the structs of this header. A unit's `abi_minor` says which
 * it has: the host reads no member of its tables that came later. `struct_size` of what the host hands out says which
 * that has. 3.1: keep, follow and speedup of the host; 3.2: join;
 * 3.3: about; 3.4: simulated of cnnvp_init; 3.5: extend. */
#define CNNVP_ABI_MAJOR 3u
#define CNNVP_ABI_MINOR 5u

/* The exported symbol of a model library and its type, see cnnvp_model_query below. */
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

/* Whose work something is: tags are 0, of no layer, to this, layer index + 1. A larger one counts as 0. */
#define CNNVP_MAX_TAG 65535u

/* "Never": the answer of next_activity when nothing is pending. */
#define CNNVP_TIME_NEVER UINT64_MAX

enum cnnvp_status {
    CNNVP_OK = 0,
    CNNVP_E_INVAL = -1,   /* an argument or a command is malformed */
    CNNVP_E_ADDR = -2,    /* no such address: TLM_ADDRESS_ERROR_RESPONSE */
    CNNVP_E_ACCESS = -3,  /* right address, wrong size, alignment or direction: TLM_COMMAND_ERROR_RESPONSE */
    CNNVP_E_NOMEM = -4,   /* memory of the host ran out */
    CNNVP_E_NOSUP = -5,   /* the other side does not offer this function */
    CNNVP_E_STATE = -6,   /* not possible now: busy, not bound, called out of order */
    CNNVP_E_STOPPED = -7, /* the simulation ends or the unit is reset: clean up and return */
    CNNVP_E_FATAL = -8,   /* the unit found its own state broken; the run ends with exit status 1 */
    CNNVP_E_MEMORY = -9   /* the memory behind a request reported an error */
};

/* ------------------------------------------------------------------------------------------------------------------
 * Transactions
 */

enum cnnvp_op {
    CNNVP_READ = 0,
    CNNVP_WRITE = 1,
    /* A command to a unit: `data` is a struct that the two sides agree on (cnnvp_command.h for calculation units). */
    CNNVP_COMMAND = 2,
    /* Zero-copy read or write of a tile: the target sets `data` to its own storage for [address, address + size) and
     * counts `words`. The pointer stays valid until the callback that made the access returns. NULL in timing-only. */
    CNNVP_BORROW_READ = 3,
    CNNVP_BORROW_WRITE = 4
};

enum cnnvp_access_flag {
    CNNVP_DEBUG = 1u << 0,   /* no side effects, no time, not counted */
    CNNVP_UNTIMED = 1u << 1, /* costs no time and is not counted in links (the core's own traffic) */
    /* What would this take? Asked of instances that run in no simulation (cnnvp_units in cnnvp.h), which time stands
     * still for. The unit answers at once, by `delay` and status, as if nothing else were under way, and does nothing
     * that a later question could see. Data pointers are NULL, as in timing-only; counts, spans and counters go
     * nowhere, so a unit that answers its commands at once needs no code for this: what it does is the answer. One that
     * would answer CNNVP_PENDING, because an event or its `process` carries the command out, answers CNNVP_OK and the
     * delay of a lone command instead; `process` is not started where questions are asked. */
    CNNVP_ESTIMATE = 1u << 2
};

struct cnnvp_buffer_clocks;
struct cnnvp_command;

/*
 * A run-to-completion transaction: registers, commands, buffer tiles. It crosses the platform as one b_transport call.
 * The initiator fills it and owns it; it lives until the call returns.
 */
struct cnnvp_access {
    uint32_t op;         /* enum cnnvp_op */
    uint32_t flags;      /* of enum cnnvp_access_flag */
    uint32_t initiator;  /* set by the host: number of the instance that began the transaction */
    uint32_t tag;        /* whose work this is: 0 of no layer, otherwise layer index + 1, up to CNNVP_MAX_TAG */
    uint64_t flow;       /* 0, or the number that joins the spans of one instruction in a trace */
    uint64_t address;    /* initiator: of the bus; target: offset in its window. See "Addresses" above */
    void *data;          /* `size` bytes; NULL where data do not matter (timing-only) */
    uint64_t size;       /* bytes */
    uint64_t words;      /* words that cross the port, repeated reads counted each time; 0 where size says it all */
    uint64_t cycles;     /* cycles over which the initiator spreads the words; 0 where it does not matter */
    uint32_t mode;       /* meaning set by the target: a buffer's read or update mode, a command's number */
    uint32_t word_bytes; /* bytes of one of `words`; 0 means 2. Links count words * word_bytes, or size without words */
    uint32_t clock_count;                     /* of `clocks`; 0: the words come evenly, over `cycles` */
    const struct cnnvp_buffer_clocks *clocks; /* of a buffer: what crosses its port in a clock (cnnvp_buffer.h) */
    cnnvp_time delay; /* in: how far the initiator has run ahead of now; out: plus what the target took */
};

/*
 * A split transaction: a request now, its completion later. This is how memory is used. It crosses the platform as one
 * non-blocking transport call each way. The initiator owns the structure and its data and keeps both unchanged until
 * `complete` is called with it or the unit is reset.
 *
 * A request moves `count` segments of `size` bytes; segment i starts at address + i * stride in memory and at
 * data + i * size at the initiator.
 */
struct cnnvp_request {
    uint32_t op;          /* CNNVP_READ or CNNVP_WRITE */
    uint32_t initiator;   /* set by the host, but for ports that lead outside */
    uint32_t tag;         /* as in struct cnnvp_access */
    int32_t status;       /* out: CNNVP_OK or an error, set before completion */
    uint64_t flow;        /* as in struct cnnvp_access */
    uint64_t address;     /* of the first segment. Initiator: of the bus; target: offset in its memory */
    void *data;           /* size * count bytes; NULL in timing-only */
    uint64_t size;        /* bytes of one segment, 1 or more */
    uint64_t count;       /* segments, 1 or more */
    int64_t stride;       /* bytes from one segment's start to the next's */
    uint32_t burst_bytes; /* the initiator's burst length, for memories that ask; they may split further. 0: not said */
    uint32_t outstanding; /* bursts of this op that the initiator has in flight at most, of all requests; 1 or more */
    cnnvp_time issued;    /* set by the host: when the request was made */
    cnnvp_time first_data; /* out: when the first burst was complete */
    uint64_t cookie;       /* the initiator's own */
    uint64_t scratch[4];   /* the target's own while it holds the request */
    void *link;            /* the host's own */
};

/*
 * How the tiles of a calculation unit's commands should be cut; see `tiling` of struct cnnvp_unit. A tile's edges are
 * multiples of these, or the rest of the layer, wherever such tiles fit into the buffers; 1: any.
 */
struct cnnvp_tiling {
    uint32_t struct_size; /* set by the host: bytes of this struct that it knows */
    uint32_t rows;        /* of results */
    uint32_t cols;
    uint32_t in;   /* input channels; of a fully connected layer inputs */
    uint32_t out;  /* output channels; outputs */
    uint32_t side; /* rows and columns of a window that are taken at once: parts of a large window are multiples */
    uint32_t result_bytes; /* of the output buffer that a result takes while a command runs that writes words:
                              word_bytes, or more where partial sums lie there meanwhile */
    uint32_t word_bytes;   /* of a word of inputs, weights and results */
    const char *format;    /* of words: "fx16" is 16-bit fixed point. Text of static storage. */
    const char *layout;    /* of inputs and results in the buffers: "planes" is [channel][row][column]. As `format`. */
    uint64_t pes;          /* multiply-accumulate operations in a cycle, at most; the utilization is a share of them */
    uint32_t limits;       /* 1: it keeps words within limits where a command says `clip`; 0: no command says so; 2: it
                              scales them as well where one says `scale` (cnnvp_buffer.h); 3: and takes them through
                              a table */
};

/* A directly usable piece of memory. Valid until the simulation ends. */
struct cnnvp_dmi {
    uint8_t *data;  /* host address of `start` */
    uint64_t start; /* first and last address of the piece: offsets for the target, bus addresses for the initiator */
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
    CNNVP_PARAM_ADDR = 4  /* an address, 0x... allowed; min..max; of what, the parameter's help says */
};

struct cnnvp_param {
    const char *name; /* lower case, words joined by _ */
    enum cnnvp_param_type type;
    const char *unit;          /* "MHz", "bytes", "" */
    const char *default_value; /* as it would be written in a platform file */
    uint64_t min;              /* for UINT, SIZE, ADDR */
    uint64_t max;
    const char *choices; /* for ENUM: "off|on"; otherwise NULL */
    const char *help;    /* one sentence */
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
    /* MEM_INITIATOR: leads out of the platform, to a TLM-2.0 target that a C++ program binds (cnnvp_systemc.h); no
     * platform file connects it. Its requests are contiguous, and their `initiator` and `outstanding` those of whoever
     * the unit sends them for. The unit's parameter `protocol`, if it has one, chooses lt (0) or at (1). IRQ_IN: leads
     * to a signal of the program's. */
    CNNVP_PORT_OUTSIDE = 1u << 1,
    /* INITIATOR, commands: who takes them counts the cycles that each takes in statistics of layers (compute_cycles,
     * stall_cycles.<cause>), since this unit leaves them out. One that is busy for longer than it counts is named in a
     * warning at the end of the run; with --strict or --check-costs the run fails. */
    CNNVP_PORT_COUNTED = 1u << 2,
    /* TARGET, INITIATOR: what crosses it, one of these; without, it is not said and goes with everything. A platform
     * file that connects two ports that say different things is refused. Registers, memory and the bus take plain
     * reads and writes. */
    CNNVP_PORT_PLAIN = 1u << 8,       /* reads and writes of addresses */
    CNNVP_PORT_COMMANDS = 2u << 8,    /* commands of the instruction element (cnnvp_command.h) */
    CNNVP_PORT_COMPLETIONS = 3u << 8, /* their ends */
    CNNVP_PORT_WORDS = 4u << 8,       /* words of a buffer, and its updates */
    CNNVP_PORT_TILES = 5u << 8,       /* tiles of the multi-function module (cnnvp_tile.h) */
    CNNVP_PORT_PROGRAM = 6u << 8,     /* what the loader tells the core */
    CNNVP_PORT_CROSSES = 15u << 8     /* the bits that say it */
};

struct cnnvp_port {
    const char *name;
    enum cnnvp_port_kind kind;
    uint32_t flags;
    uint64_t window; /* target ports: bytes of address space; 0 means the value of the unit's parameter `size` */
    uint32_t lines;  /* IRQ_IN: number of lines */
    const char *help;
};

enum cnnvp_register_access {
    CNNVP_REG_RO = 0, /* a write is ignored with a warning */
    CNNVP_REG_RW = 1,
    CNNVP_REG_WO = 2,  /* reads as 0 */
    CNNVP_REG_W1C = 3, /* writing 1 clears a bit */
    CNNVP_REG_RWE = 4  /* read and write; reading has an effect, so a debugger sees what is stored */
};

/* A 32-bit register. The host keeps the rules (access, mask, reset value); the unit only reacts. */
struct cnnvp_register {
    const char *name;
    uint32_t offset; /* bytes from the window's first, multiple of 4 */
    enum cnnvp_register_access access;
    uint32_t reset;
    uint32_t mask;  /* bits that a write can change; the others keep their value */
    size_t storage; /* offset of a uint32_t in the instance */
    const char *help;
};

/* A named group of bits of a register; documentation, guest headers and dumps come from it. */
struct cnnvp_field {
    const char *reg;
    const char *name;
    uint32_t lsb;
    uint32_t width;
    const char *help;
};

/*
 * A statistic: a 64-bit count that only grows, kept by the host, in total and for each tag.
 * layer: NULL, or the member of `layers[]` in stats.json that sums this statistic over all units by tag, such as
 * "compute_cycles", "macs", "stall_cycles.bias", "input_words", "dram_read_bytes".
 * energy: NULL, or the entry of the energy table that gives the energy of one count.
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
    /* "function": values are calls (an address of the guest with bit 32 set) and returns (0), shown as nested slices */
    const char *unit;
};

/* Opcodes of instructions that are none of the built-in ones. */
#define CNNVP_CUSTOM_OPCODE_FIRST 0xc0u
#define CNNVP_CUSTOM_OPCODE_LAST 0xffu

/* A field of an instruction's status: bits lsb and up of 8. One bit is a flag, more are a number. */
struct cnnvp_instruction_status {
    const char *name; /* lower case, as all names of an instruction */
    uint32_t lsb;
    uint32_t width;
    const char *help;
};

/* A register of an instruction's descriptor, counted from its base register. */
struct cnnvp_instruction_register {
    const char *name;
    const char *help;
};

/*
 * An instruction of the unit's own. It is a tile instruction: the instruction element sends it as a command
 * (cnnvp_command.h) through the port that leads to the unit, custom_0 to custom_3 or any other of commands. Assembler,
 * disassembler, reference and the header of `cnnvp check --header` know it on platforms that have the unit. Two units
 * of a platform do not have the same opcode or name, nor one of a built-in instruction.
 */
struct cnnvp_instruction {
    const char *mnemonic;
    uint32_t opcode;
    uint32_t buffers; /* whose halves it occupies while it runs: of enum cnnvp_half, cnnvp_command.h */
    const struct cnnvp_instruction_status *statuses;
    size_t status_count;
    const struct cnnvp_instruction_register *registers; /* of the descriptor: up to CNNVP_DESCRIPTOR_MAX */
    size_t register_count;
    const char *help;
};

struct cnnvp_host; /* the host's side of one instance; opaque */
struct cnnvp_host_ops;

/* What `init` is given. Both pointers stay valid until `fini` has returned; keep them in the instance. */
/* What a unit is made of, and what its counts cost. */
enum cnnvp_part_kind {
    CNNVP_PART_MULTIPLIER, /* integer, bits x bits */
    CNNVP_PART_ADDER,      /* subtractors and comparators too */
    CNNVP_PART_DIVIDER,
    CNNVP_PART_REGISTER,         /* flip-flops */
    CNNVP_PART_SRAM,             /* one bank of `bytes`; `bits` cross its port at a time */
    CNNVP_PART_CORE,             /* a small in-order RISC-V core */
    CNNVP_PART_FLOAT_MULTIPLIER, /* floating point of 16, 32 or 64 bits */
    CNNVP_PART_FLOAT_ADDER
};

struct cnnvp_part {
    enum cnnvp_part_kind kind;
    uint32_t bits;  /* up to 65536, of an SRAM at least 1; more registers are a larger count */
    uint64_t count; /* up to 2^40 */
    uint64_t bytes; /* of an SRAM, up to 2^40 */
    const char *what;
};

/* What is published of something, or derived from it: the least, the usual, and the most. */
struct cnnvp_range {
    double low;
    double typical;
    double high;
};

/* Takes what `costs` of a unit says. */
struct cnnvp_costs {
    uint32_t struct_size;
    void *context;
    /* Area and static power of a part follow from the platform's technology, as does what an access of an SRAM takes.
     */
    void (*part)(void *context, const struct cnnvp_part *part);
    /* One count of statistic `stat`, in pJ, whatever the technology; takes the place of the statistic's table entry. Of
     * one in ps it is what a state takes, static energy with every table. */
    void (*energy)(void *context, uint32_t stat, const struct cnnvp_range *picojoules);
    /* Power whenever the simulation runs, in mW, whatever the technology. */
    void (*power)(void *context, const struct cnnvp_range *milliwatts);
    /* Of the nearest unit whose ports lead here, directly or through other units, that has a parameter of this name
     * (not a text): its value; `otherwise` where none has. So a block is there as often as its module has sets. */
    uint64_t (*upstream)(void *context, const char *param, uint64_t otherwise);
};

/* What a memory carries, of one stream of requests. */
struct cnnvp_memory_rate {
    uint32_t struct_size;
    uint64_t bytes_per_s; /* at most */
    cnnvp_time latency;   /* of a read whose row must be opened in place of another */
};

/* Takes what `show` of a unit says. */
struct cnnvp_show {
    uint32_t struct_size;
    void *context;
    void (*line)(void *context, const char *format, ...) CNNVP_PRINTF(2, 3); /* without a line end */
};

struct cnnvp_init {
    uint32_t struct_size;
    uint32_t instance; /* number of this instance, as in struct cnnvp_access::initiator */
    const char *name;  /* of this instance in the platform file */
    struct cnnvp_host *host;
    const struct cnnvp_host_ops *ops;
    /* 1: in a SystemC simulation, whose objects a unit in C++ may make now. 0: it is only asked what things take. Since
     * 3.4. */
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
    const struct cnnvp_register *registers; /* served by the host on the target port `register_port` */
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
    const struct cnnvp_instruction *instructions; /* of its own; a target port takes commands */
    size_t instruction_count;
    uint32_t event_count;   /* events 0 .. event_count - 1, see notify */
    uint32_t process_stack; /* bytes of stack for `process`; 0 for the host's default */

    /* Parameters have been checked against the table. Reads them, allocates. Ports may not be used yet. */
    int (*init)(void *self, const struct cnnvp_init *init);
    void (*fini)(void *self);
    /* Registers have already been set to their reset values by the host. Always works, also in mid-transfer. */
    void (*reset)(void *self);

    /* An access at a target port that registers do not serve. */
    int (*access)(void *self, uint32_t port, struct cnnvp_access *access);
    /* A register has been written (after access rules were applied); `old` is its value before. A status other than
     * CNNVP_OK is returned to the initiator. */
    int (*reg_written)(void *self, uint32_t reg, uint32_t old);
    /* A register is about to be read; update its storage here. A debugger's reads call it too, unless the register is
     * CNNVP_REG_RWE: for others it must have no effect that anybody can notice. */
    int (*reg_read)(void *self, uint32_t reg);
    /* A request at a memory target port. CNNVP_OK: accepted, `ops->complete` follows, at the earliest during this
     * call's own instant but never inside this call. Anything else: refused, no completion follows. */
    int (*request)(void *self, uint32_t port, struct cnnvp_request *request);
    /* A request of this unit is complete, at the present time. The structure belongs to the unit again. */
    void (*complete)(void *self, uint32_t port, struct cnnvp_request *request);
    /* Direct memory for a memory target port at the offset `address`; CNNVP_E_NOSUP where there is none. */
    int (*dmi)(void *self, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi);
    /* An event set by `notify` is due. */
    void (*event)(void *self, uint32_t event);
    /* A line of an IRQ_IN port has changed to `level`. After a reset, in which outputs drop to 0, lines that are high
     * are announced again. */
    void (*signal)(void *self, uint32_t port, uint32_t line, int level);
    /* Own thread of control, started after reset, ended by the status CNNVP_E_STOPPED of a blocking call. */
    void (*process)(void *self);
    /* The run is over (or a snapshot of statistics is taken): bring counts up to date with `count`. */
    void (*flush)(void *self);

    /* Host-free: called after `init`, in a simulation or without one; changes nothing. */
    /* How the tiles of a layer should be cut whose calculation in one piece `access` is: a command as the port would
     * get it, all of the layer's channels, rows and columns in one, addresses 0. Members come as 1 (result_bytes and
     * word_bytes 2, format "fx16", layout "planes", pes 1); the unit sets what is different. CNNVP_E_INVAL and a line
     * of `log`: it takes no command of this layer. Calculation units have it. */
    int (*tiling)(void *self, uint32_t port, const struct cnnvp_access *access, struct cnnvp_tiling *tiling);
    /* What a request at a memory target port would take from now to its completion, if it were alone. Memories have
     * it. Its address is an offset in the memory. */
    int (*estimate)(void *self, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration);
    /* Without an instance: what the unit is made of and costs with these values of its parameters, in the order of
     * their table. NULL: unknown, and statistics say so. */
    void (*costs)(const uint64_t *params, const struct cnnvp_costs *costs);

    /* What the instance works on and holds at this moment, for a debugger's user; changes nothing. NULL: spans,
     * counters and registers say it all. */
    void (*show)(void *self, const struct cnnvp_show *show);

    /* Without an instance: what a memory with these values of its parameters carries. Left alone where they are wrong,
     * which `init` says. NULL: not known. */
    void (*rate)(const uint64_t *params, struct cnnvp_memory_rate *rate);
    /* Without an instance, before `costs` and `init`: sets the values of parameters that say "as the memory needs",
     * within their bounds, for the instance's clock and the memory that its first MEM_INITIATOR port leads to; all of
     * `memory` is 0 where that does not say. Of such parameters of a memory itself (a `size` of 0), what its part
     * has. */
    void (*fit)(uint64_t *params, uint64_t clock_mhz, const struct cnnvp_memory_rate *memory);
};

/* ------------------------------------------------------------------------------------------------------------------
 * What the host offers
 */

enum cnnvp_log_level { CNNVP_LOG_ERROR = 0, CNNVP_LOG_WARNING = 1, CNNVP_LOG_INFO = 2, CNNVP_LOG_DEBUG = 3 };

/*
 * Functions that a host lacks are there all the same and return CNNVP_E_NOSUP: a model never tests for NULL.
 * `host` is the pointer from struct cnnvp_init. "any" = may be called from every callback and from init. A SystemC
 * process of the unit's own making, begun in `init`, may call all but those that block: it calls sc_core::wait. In the
 * callback of another unit all that return a status are refused.
 */
struct cnnvp_host_ops {
    uint32_t struct_size;
    uint16_t abi_major;
    uint16_t abi_minor;

    /* -- parameters (any) -- value of parameter `index` of the unit's table; text only for TEXT and ENUM */
    uint64_t (*param)(struct cnnvp_host *host, uint32_t index);
    const char *(*param_text)(struct cnnvp_host *host, uint32_t index);
    /* Says why init is about to fail: the message is printed with the place of parameter `index` (UINT32_MAX: of the
     * instance) in the platform file or command line. Returns CNNVP_E_INVAL, to be returned from init. */
    int (*config_error)(struct cnnvp_host *host, uint32_t index, const char *format, ...) CNNVP_PRINTF(3, 4);
    /* 1 where no arithmetic is wanted (--timing-only): data pointers are NULL, times and counts stay the same. */
    int (*timing_only)(struct cnnvp_host *host);

    /* -- time (any) -- */
    cnnvp_time (*now)(struct cnnvp_host *host);
    /* Clock of this instance in MHz: its own parameter clock_mhz, or that of the instance that `clock:` names;
     * times `speedup`. */
    uint64_t (*clock_mhz)(struct cnnvp_host *host);
    /* Absolute time of the next thing that the simulation kernel has pending (other instances' events, the end of a
     * wait), CNNVP_TIME_NEVER if none: up to there nothing can interfere. Equal to now if something is still pending
     * in this instant. A pending event of this instance counts as well. */
    cnnvp_time (*next_activity)(struct cnnvp_host *host);
    /* Calls `event` of this instance at the absolute time `at` (now or later; an earlier time means now, after the
     * present callback). One pending notification for each event: a second call replaces the first. */
    int (*notify)(struct cnnvp_host *host, uint32_t event, cnnvp_time at);
    int (*cancel)(struct cnnvp_host *host, uint32_t event);

    /* -- transactions (not from init, reset or fini) -- */
    int (*access)(struct cnnvp_host *host, uint32_t port, struct cnnvp_access *access);
    int (*request)(struct cnnvp_host *host, uint32_t port, struct cnnvp_request *request);
    /* For a memory target: `request` is complete now; its status is set, and it is not touched any more. The initiator
     * learns of it in this instant, when the present callback has returned (in process: at its next blocking call), so
     * its next request does not come back into the caller. */
    int (*complete)(struct cnnvp_host *host, struct cnnvp_request *request);
    /* Direct memory at the bus address `address`; CNNVP_E_NOSUP where there is none. */
    int (*dmi)(struct cnnvp_host *host, uint32_t port, uint64_t address, struct cnnvp_dmi *dmi);
    /* Drives an IRQ_OUT port (also from reset). A repeated level costs nothing. */
    int (*irq)(struct cnnvp_host *host, uint32_t port, int level);

    /* -- blocking, only from process -- */
    int (*wait)(struct cnnvp_host *host, cnnvp_time duration);
    /* Waits until `wake` is called on this instance; returns at once if it has been called since the last
     * wait_wake returned. */
    int (*wait_wake)(struct cnnvp_host *host);
    /* Returns when nothing else is pending in the present instant. */
    int (*settle)(struct cnnvp_host *host);

    /* -- to the own process, from any callback -- */
    void (*wake)(struct cnnvp_host *host);

    /* -- statistics and traces (any but init; log from there too) -- */
    /* Adds n to statistic `stat`, on behalf of `tag`. */
    void (*count)(struct cnnvp_host *host, uint32_t stat, uint32_t tag, uint64_t n);
    /* Work from `begin` to `end` on row `track`. Spans of one track come in order and do not overlap. `name` must stay
     * valid for the life of the simulation. Also sets the layer's first and last time if tag is not 0. */
    void (*span)(struct cnnvp_host *host, uint32_t track, const char *name, uint32_t tag, uint64_t flow,
                 cnnvp_time begin, cnnvp_time end);
    void (*counter)(struct cnnvp_host *host, uint32_t counter, cnnvp_time at, uint64_t value);
    void (*log)(struct cnnvp_host *host, enum cnnvp_log_level level, const char *format, ...) CNNVP_PRINTF(3, 4);

    /* -- the outside world (any but init) -- */
    /* Ends the simulation after the present instant. `reason` is shown if code is not 0. code CNNVP_E_FATAL: not an
     * exit of the guest but broken state, CNNVP_END_FATAL. */
    void (*finish)(struct cnnvp_host *host, int code, const char *reason);
    /* Bytes to the user's terminal. */
    void (*console_write)(struct cnnvp_host *host, const void *data, size_t size);
    /* Up to `size` bytes that are there without waiting; returns how many, 0 at end of input. */
    size_t (*console_read)(struct cnnvp_host *host, void *data, size_t size);
    /* A number that a program reports, `program.reported` of the statistics; of one name the last counts. Names have 1
     * to 63 letters, digits, _ and -. Returns 0, or -1: not such a name, or more than 256 of them. */
    int (*report)(struct cnnvp_host *host, const char *name, int64_t value);
    /* What a program calls the layer that its instructions have the tag `tag` for (1 and more), its kind (conv, pool,
     * ...), its phase ("": forward) and its products of a weight and an input, which add up over calls, for statistics
     * and trace. Texts as above. Returns 0, or -1: not such a text, tag 0 or above CNNVP_MAX_TAG, over 4096 layers. */
    int (*name_layer)(struct cnnvp_host *host, uint32_t tag, const char *name, const char *op, const char *phase,
                      uint64_t macs);

    /* -- memory targets (any but init) -- */
    /* Notes n of statistic `stat` for the instance `requester`, as struct cnnvp_request::initiator says it: the share
     * of the total, which `count` counts, that is that requester's. */
    void (*count_for)(struct cnnvp_host *host, uint32_t stat, uint32_t requester, uint64_t n);
    /* One burst of a request enters the memory at the clock edge `clock` of the memory, which is the time `at`. Bursts
     * come in order of their clocks. `address` is an offset in the memory. Returns 0 where nothing listens; it need not
     * be called again then. */
    int (*burst)(struct cnnvp_host *host, cnnvp_time at, uint64_t clock, uint32_t requester, uint32_t tag, uint32_t op,
                 uint64_t address);

    /* -- blocking, only from process -- */
    /* wait up to the absolute time `at`, then settle. Where nothing else can happen up to and at `at`, the calling
     * process runs ahead of the kernel instead, which is what makes it cheap: `now` says `at`, and transactions, events
     * and interrupts are those of that time. The next call of wait, wait_wake or settle lets the kernel catch up
     * first. */
    int (*reach)(struct cnnvp_host *host, cnnvp_time at);

    /* -- while an access with CNNVP_ESTIMATE is answered -- */
    /* `estimate` of the memory at `port`, its address one of the bus; CNNVP_E_NOSUP where it has none, or in a
     * simulation. Questions to units at other ports are accesses with CNNVP_ESTIMATE. */
    int (*estimate)(struct cnnvp_host *host, uint32_t port, const struct cnnvp_request *request, cnnvp_time *duration);

    /* -- wiring (not from init, reset or fini) -- 1 where an initiator's port leads somewhere, 0 where it is open */
    int (*connected)(struct cnnvp_host *host, uint32_t port);
    /* -- wiring (any) -- the instructions of its own that the unit has to which an initiator's port leads, and how
     * many; NULL and 0 where it has none or the port is open */
    const struct cnnvp_instruction *(*instructions)(struct cnnvp_host *host, uint32_t port, size_t *count);

    /* -- names (any) -- of the instance of that number in the platform; NULL beyond the last */
    const char *(*instance_name)(struct cnnvp_host *host, uint32_t instance);

    /* -- memory targets (any but init) -- before `complete`: bytes that crossed the memory's pins for the request, in
     * whole bursts, for those that it asks for. A memory that has a statistic burst_bytes calls it. */
    void (*crossed)(struct cnnvp_host *host, const struct cnnvp_request *request, uint64_t bytes);

    /* -- what was waited for (any but init, reset and fini) -- for units that work ahead of time or know in advance
     * when something ends; of the others the host sees by itself what led to what. A slot, 0 to CNNVP_PATH_SLOTS - 1,
     * holds a moment of the critical path. `keep` puts one there: `from` is another slot, CNNVP_PATH_NOW, the present
     * moment, up to which the time of whoever acts was work for `tag`; or CNNVP_PATH_ANSWER, the end of the access just
     * made. `follow`: what is done from here on was waiting for the moment in `slot`, not for what led to this
     * callback; CNNVP_PATH_NOW: no longer. Of a unit that has kept a moment the host no longer notes what led to its
     * events: `event` begins with `follow`. */
    void (*keep)(struct cnnvp_host *host, uint32_t slot, uint32_t from, uint32_t tag);
    void (*follow)(struct cnnvp_host *host, uint32_t slot, uint32_t tag);

    /* -- time (any) -- how many times as fast the instance is to be as its parameters say (`speedup:`, what if). It is
     * in clock_mhz already; a unit that has its times from elsewhere divides them. */
    uint32_t (*speedup)(struct cnnvp_host *host);

    /* -- what was waited for (as keep and follow; since 3.2) -- the moment in `slot`, or what runs, CNNVP_PATH_NOW, has
     * waited for that in `other`, too, which came before it, or comes in its place where that is later. What each
     * instance would bring if it were twice as fast is estimated by it. Nothing, where one of them is empty. */
    void (*join)(struct cnnvp_host *host, uint32_t slot, uint32_t other);

    /* -- traces (any but init; since 3.3) -- the command (cnnvp_command.h) that the instance's spans with its sequence
     * as flow are from here on about: a trace shows its descriptor. The host does so by itself for what is drawn while
     * a command is answered. */
    void (*about)(struct cnnvp_host *host, const struct cnnvp_command *command);

    /* -- what was waited for (as keep and follow; since 3.5) -- the moment in `slot` is followed by work of the
     * instance for `tag`, which ends at the absolute time `at`: that is the moment in the slot from here on. Nothing,
     * where the slot is empty or `at` is not after its moment. */
    void (*extend)(struct cnnvp_host *host, uint32_t slot, uint32_t tag, cnnvp_time at);
};

#define CNNVP_PATH_SLOTS (1u << 22)
#define CNNVP_PATH_NOW UINT32_MAX
#define CNNVP_PATH_ANSWER (UINT32_MAX - 1u)

/* The index-th unit of a library, NULL after the last. `host_abi` is major << 16 | minor of the host. */
typedef const struct cnnvp_unit *(*cnnvp_model_query_fn)(uint32_t index, uint32_t host_abi);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct cnnvp_unit *
cnnvp_model_query(uint32_t index, uint32_t host_abi);

/* What a status says, for messages. */
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

/* Cycles that a delay from `now` on takes. Where a cycle is no whole number of picoseconds, only edges tell. */
static inline uint64_t cnnvp_delay_cycles(uint64_t mhz, cnnvp_time now, cnnvp_time delay)
{
    return cnnvp_edge_at_or_after(mhz, now + delay) - cnnvp_edge_at_or_after(mhz, now);
}

#ifdef __cplusplus
}
#endif

#endif
