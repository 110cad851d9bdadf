/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp platform API: build a platform from a configuration, load a program, run it, read what came out. Networks have
 * a header of their own, cnnvp_network.h.
 *
 * - C11 and C++17; opaque handles; a function that can fail returns a cnnvp_result and says why in struct cnnvp_error.
 * - Several platforms may live in a process, also beside a SystemC simulation of the program's own, which goes on
 *   undisturbed between the calls, and from whose threads they may be called; each has its own time.
 * - Not thread-safe: one thread uses the API at a time. All platforms that are alive belong to the thread that made the
 *   first of them; calls in another one return CNNVP_FAILED and change nothing.
 * - Memory that a function returns through a pointer belongs to the caller and is given back by the named function.
 *   What is given to a function need not outlive the call, unless it says so.
 * - A struct cnnvp_error * may be NULL.
 * - Files and texts have decimal points, whatever locale the program has set.
 * - A struct that begins with struct_size may be that of an older or a newer header: members that it does not have are
 *   0, and those that the library does not have must be 0.
 */
#ifndef CNNVP_H
#define CNNVP_H

#include <stddef.h>
#include <stdint.h>

#include "cnnvp_model.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define CNNVP_VERSION "0.1.0"

/* Also the exit status of the command. */
typedef enum cnnvp_result {
    CNNVP_DONE = 0,
    CNNVP_FAILED = 1,   /* the run failed: see the message */
    CNNVP_BAD_INPUT = 2 /* a file, an option or a configuration is wrong: see the message */
} cnnvp_result;

/* What went wrong: "FILE:LINE:COLUMN: message" where there is a place, "message" otherwise. Never ends in a newline. */
struct cnnvp_error {
    char text[2048];
};

/* ---- versions and units ---- */

/* CNNVP_VERSION as the library has it. */
const char *cnnvp_version(void);
/* "2.3.4", of the SystemC library in use. */
const char *cnnvp_systemc_version(void);

/* What decides results, of this library: 16 hexadecimal digits, a hash of the bytes that are loaded of the file that it
 * is part of (a program, or libcnnvp.so) and of SystemC's library, and of these files' lengths. Equal bytes have one
 * name wherever they lie. It is made when it is first asked for, and lives as long as the process. */
const char *cnnvp_build(void);

/* The index-th built-in unit, NULL after the last. Tables live as long as the process. */
const struct cnnvp_unit *cnnvp_unit_at(size_t index);

/* The unit of a kind, built in ("uart") or in a library ("./libmine.so:mine", relative to the current folder). */
CNNVP_MUST_USE cnnvp_result cnnvp_unit_find(const char *model, const struct cnnvp_unit **unit,
                                            struct cnnvp_error *error);
/* The index-th unit of a library, "./libmine.so" relative to the current folder; NULL after the last. BAD_INPUT: it
 * cannot be loaded, or that unit's table is wrong. */
CNNVP_MUST_USE cnnvp_result cnnvp_library_unit(const char *library, size_t index, const struct cnnvp_unit **unit,
                                               struct cnnvp_error *error);

/* Of a list that ends with NULL the name that `wanted` probably misspells, NULL if it is like none. */
const char *cnnvp_did_you_mean(const char *wanted, const char *const *names);

/* Path of share/cnnvp/`name` of the installed copy, or the build, that this library is of, or the program that it is
 * linked into; whether it exists is not looked at. Returns 0, or -1 where the path of neither is known or `room` bytes
 * are too few. */
int cnnvp_installed_file(const char *name, char *path, size_t room);

/* What a cause of stall_cycles means; NULL: there is no such cause. */
const char *cnnvp_stall_help(const char *cause);

/* The built-in energy tables, for a person. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_energy_text(char **text);
/* What parts of units take in area and static power, with sources and ranges. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_area_text(char **text);
/* What the members of the statistics mean, for a person. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_text(char **text);

/* ---- configuration ---- */

typedef struct cnnvp_config cnnvp_config;

/*
 * Reads a platform: the name of a preset (nfu, trainer, window) or a YAML file. Presets are looked for in
 * $CNNVP_PRESETS, then in the copy that the library is of (share/cnnvp/presets), then where they were to be installed,
 * then where the build left them; so is the guest program, $CNNVP_GUEST. The result is checked completely by
 * cnnvp_config_resolve. Free with cnnvp_config_free.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_config_new(const char *file_or_preset, cnnvp_config **config,
                                             struct cnnvp_error *error);
/* An independent copy, resolved if this one is (shares the libraries that were loaded). NULL: out of memory. */
cnnvp_config *cnnvp_config_copy(const cnnvp_config *config);
void cnnvp_config_free(cnnvp_config *config);

/* The instance that takes an accelerator's instructions. Further accelerators' instances have its name and those of the
 * first one's units with a suffix. */
#define CNNVP_INSTRUCTION_ELEMENT "instruction"
/* Before the name of a unit: that of all accelerators. */
#define CNNVP_ALL_ACCELERATORS "accelerators."

/* Sets one parameter from text of the form "instance.parameter=value", as --set does; of an instance of every
 * accelerator with "accelerators.instance.parameter=value". */
CNNVP_MUST_USE cnnvp_result cnnvp_config_set(cnnvp_config *config, const char *assignment, struct cnnvp_error *error);

/* Checks everything: models found and loaded, names, types, ranges, ports, addresses, interrupts. Needed once before
 * the functions below; a later cnnvp_config_set needs it again. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_resolve(cnnvp_config *config, struct cnnvp_error *error);

/* Value of "instance.parameter" after resolution; BAD_INPUT if there is no such parameter. Text belongs to the
 * configuration. "instance.irq" is the instance's line at the interrupt controller (text ""). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_get(const cnnvp_config *config, const char *name, uint64_t *value,
                                             const char **text);

/* An instance of a resolved configuration. Texts belong to the configuration. */
struct cnnvp_config_instance {
    const char *name;
    const char *model;             /* as a platform file says it: a kind, or LIBRARY:KIND */
    const struct cnnvp_unit *unit; /* its tables; NULL: the bus, which the platform itself provides */
    int idle;                      /* 1: nothing needs to drive it, by `idle: true` */
};
/* The index-th instance, in the order of the files. BAD_INPUT: there are fewer. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_instance(const cnnvp_config *config, size_t index,
                                                  struct cnnvp_config_instance *instance);

/* Base address and size of an instance's window on the bus; BAD_INPUT if it has none. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_window(const cnnvp_config *config, const char *instance, uint64_t *base,
                                                uint64_t *size);

/* Where an instance ("dma"), a parameter ("dma.burst_bytes") or a connection ("dma.mem") is written, as errors say it.
 * *target: of a connection the port that it leads to, as platform files say it, "" if it is not connected; NULL
 * otherwise. BAD_INPUT if there is nothing of that name. Texts belong to the configuration. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_place(const cnnvp_config *config, const char *name, const char **place,
                                               const char **target);

/* The resolved configuration as YAML that cnnvp_config_new reads back, and the memory map as text. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_text(const cnnvp_config *config, char **yaml, char **memory_map);

/* The reference of the instruction set: opcodes, status bits, descriptors, what each waits for; with what the units of
 * the resolved configuration bring, unless that is NULL. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_isa_text(const cnnvp_config *config, char **text);

/* A C header for programs that run on the platform: windows on the bus, interrupts, registers, instructions of units of
 * one's own. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_header(const cnnvp_config *config, char **header);
/* The registers of what is on the bus as a CMSIS-SVD file. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_svd(const cnnvp_config *config, char **svd);

/* The instructions that units of the resolved platform bring, each once, NULL after the last one. Free with free(); the
 * instructions are the units'. NULL: out of memory. */
const struct cnnvp_instruction **cnnvp_config_instructions(const cnnvp_config *config);

/* ---- units without a simulation ---- */

/*
 * The units of a resolved configuration, made and connected, but in no simulation: they are asked what commands and
 * transfers take, which they answer by their own models, buffers' ports and memories behind them included. Any number
 * of these may exist, also beside a platform.
 */
typedef struct cnnvp_units cnnvp_units;

struct cnnvp_cost {
    int status;         /* enum cnnvp_status: what the unit answers */
    uint64_t ps;        /* until the command is done, if it were alone; 0 where it is refused */
    const char *reason; /* the unit's own words where it is refused, "" without; valid until the next question */
};

CNNVP_MUST_USE cnnvp_result cnnvp_units_new(const cnnvp_config *config, cnnvp_units **units, struct cnnvp_error *error);
/* NULL is allowed. */
void cnnvp_units_free(cnnvp_units *units);

struct cnnvp_command; /* cnnvp_command.h */

/* The instance that a port of `instance` leads to; NULL where the port is open or nothing has that name. */
const char *cnnvp_units_at(const cnnvp_units *units, const char *instance, const char *port);

/* What a command of the instruction element takes on an instance ("pe_array", "vector", "dma"): a `receive` or `store`
 * with the whole transfer, from the request to the last word. BAD_INPUT: there is no such instance, or it takes no
 * commands. A refusal is an answer: DONE, and its status in *cost. */
CNNVP_MUST_USE cnnvp_result cnnvp_units_command(cnnvp_units *units, const char *instance,
                                                const struct cnnvp_command *command, struct cnnvp_cost *cost,
                                                struct cnnvp_error *error);
/* How an instance wants the tiles of a layer to be cut, see `tiling` in cnnvp_model.h. FAILED, with its reason as the
 * message: it takes no command of this layer. BAD_INPUT: it says nothing of tiles, or its answer is none. */
CNNVP_MUST_USE cnnvp_result cnnvp_units_tiling(cnnvp_units *units, const char *instance,
                                               const struct cnnvp_command *layer, struct cnnvp_tiling *tiling,
                                               struct cnnvp_error *error);

/* ---- platform ---- */

typedef struct cnnvp_platform cnnvp_platform;

struct cnnvp_platform_options {
    uint32_t struct_size; /* sizeof(struct cnnvp_platform_options) */
    int timing_only;      /* 1: no arithmetic, data pointers are NULL */
    int verbosity;        /* 0 errors and warnings, 1 information, 2 debug; -1 errors only */
    const char *trace;    /* NULL, or a file name: .pftrace, .vcd, .fst */
    const char *series;   /* NULL, or one more trace of the same run, such as the .series of cnnvp_report */
    /* NULL, or a file with a line for each burst of the off-chip memories: as cnnvp_memory_replay reads it, or, by its
     * name, for Ramulator 2 (.ramulator2, its load-store trace) or DRAMsim3 (.dramsim3). */
    const char *memory_trace;
    /* NULL, or a file with the core's cycles by function, line and instruction, in callgrind's format (KCachegrind,
     * callgrind_annotate). */
    const char *profile;
    /* NULL, or a port of this machine for a debugger that speaks GDB's remote protocol ("0": any that is free). The
     * program waits for it before its first instruction; standard error says how to connect. */
    const char *gdb;
    uint64_t max_time_ps; /* simulated time after which a run fails; 0: no limit */
    /* Where console output goes; NULL: standard output. */
    void (*console)(void *context, const void *data, size_t size);
    void *console_context;
    /* 1: of every command that a unit answers at once, what it took is compared with what cnnvp_units_command says and
     * with the cycles that it counted for a layer; a difference ends the run (CNNVP_END_FATAL) and is said in full.
     * 0: the same for units of libraries ("./libmine.so:mine"), whose first difference is a warning. */
    int check_costs;
    /* 1: what is in a calculation unit's buffers after each command is compared with what reference arithmetic makes of
     * what was in them before: plain loops, many times slower than the units. The first wrong command is said in full
     * (an error among the messages); cnnvp_platform_results counts. Changes no result. Not with timing_only. */
    int check_results;
    /* 1: a call of a unit's that the host refuses ends the run (CNNVP_END_FATAL); 0: it is a warning, once for each
     * unit, callback and fault. */
    int strict;
    /* Called with each line of the log that `verbosity` shows, without its end, and its enum cnnvp_log_level; NULL:
     * lines go to standard error. It may call nothing of a platform but cnnvp_platform_interrupt. */
    void (*log)(void *context, int level, const char *line);
    void *log_context;
    /* Called when the first work of a layer is counted: the layer, from 0, and when that work began. NULL: nothing. It
     * may call nothing of a platform but cnnvp_platform_interrupt, which runs it up to there: cnnvp_platform_run ends
     * (CNNVP_END_INTERRUPTED), and goes on when it is called again. */
    void (*layer)(void *context, size_t layer, uint64_t time_ps);
    void *layer_context;
};

/* The instance and the callback of its unit that run now, in a platform or when units are asked; 0: none does. May be
 * called from a signal handler, to say where a program has crashed. */
int cnnvp_running_unit(const char **instance, const char **callback);

/* How a run ended. */
enum cnnvp_end {
    CNNVP_END_EXIT = 0,     /* the guest ended it; see exit_code */
    CNNVP_END_MAX_TIME = 1, /* max_time_ps was reached */
    CNNVP_END_NO_PROGRESS =
        2,                    /* nothing is left that could happen, or time stands still, and the guest has not ended */
    CNNVP_END_FATAL = 3,      /* a unit called for the end: guest trapped in its own trap handler, broken state */
    CNNVP_END_INTERRUPTED = 4 /* cnnvp_platform_interrupt was called */
};

struct cnnvp_run_result {
    enum cnnvp_end end;
    int exit_code;    /* for CNNVP_END_EXIT */
    char reason[512]; /* one line for a person, may be empty: what it was, or who waits for what */
    uint64_t time_ps; /* simulated */
};

/* What there is to say of a run's end other than CNNVP_END_EXIT with code 0. */
const char *cnnvp_end_text(enum cnnvp_end end);

/* Builds the platform from a resolved configuration, which it copies. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_new(const cnnvp_config *config, const struct cnnvp_platform_options *options,
                                               cnnvp_platform **platform, struct cnnvp_error *error);
/* What the units themselves say of their parameters: makes them as cnnvp_platform_new does, and frees them.
 * A third-party memory is not asked. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_check(const cnnvp_config *config, struct cnnvp_error *error);
/* Closes the traces and the profile: their files appear now if the platform has run, complete. What happens afterwards
 * is not recorded. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_close_trace(cnnvp_platform *platform, struct cnnvp_error *error);

/* Closes the trace too if that has not been done, and prints what goes wrong there. NULL is allowed. */
void cnnvp_platform_free(cnnvp_platform *platform);

/* The program that is loaded next reads [address, address + size) in every step: a core that runs from a tightly
 * coupled memory has it there, beside the program itself, as far as there is room; the rest is read in off-chip
 * memory, and a warning says so. Both below 4 GiB. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_hold(cnnvp_platform *platform, uint64_t address, uint64_t size);

/* The program that is loaded next only reads [address, address + size), and in one step of its work alone. Its work
 * goes from step to step, after the last one to the first one again. A tightly coupled memory that does not hold all of
 * its tables has those of the step at work, and reads those of the next ones meanwhile. `user`: of several that work
 * side by side, each in its own step. Calls are in the order of users, and of each in that of steps; of a step the
 * tables that are needed most come first. Both below 4 GiB. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_hold_step(cnnvp_platform *platform, uint32_t user, uint32_t step,
                                                     uint64_t address, uint64_t size);

/* Loads an RV32 ELF into memory and sets the core's start address and tohost. `args` (argc strings, without
 * the program's name) become what the guest's semihosting command line says; may be NULL. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_load_elf(cnnvp_platform *platform, const char *file, int argc,
                                                    char *const *args, struct cnnvp_error *error);

/* Memory as the core sees it, by addresses of the bus, without side effects or time. BAD_INPUT where there is none. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_read(cnnvp_platform *platform, uint64_t address, void *data, size_t size);
CNNVP_MUST_USE cnnvp_result cnnvp_platform_write(cnnvp_platform *platform, uint64_t address, const void *data,
                                                 size_t size);
/* Direct pointer to [address, address + size) of the bus if it lies in one memory; lives as long as the platform. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_map(cnnvp_platform *platform, uint64_t address, size_t size, void **data);

/* A register of 32 bits as the core reads and writes it, with its side effects, at no time; by addresses of the bus. In
 * a simulation of the program's, from its processes. BAD_INPUT where nothing takes it. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_read_register(cnnvp_platform *platform, uint64_t address, uint32_t *value);
CNNVP_MUST_USE cnnvp_result cnnvp_platform_write_register(cnnvp_platform *platform, uint64_t address, uint32_t value);
/* The level, 0 or 1, of the interrupt of an instance of model external: `button: {model: external, irq: 4}`. BAD_INPUT
 * where there is none. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_set_irq(cnnvp_platform *platform, const char *instance, int level);

/* Runs until the guest ends it or something of enum cnnvp_end happens. DONE only for CNNVP_END_EXIT with code 0. After
 * CNNVP_END_MAX_TIME and CNNVP_END_INTERRUPTED another call goes on, with the same results as a run in one piece. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_run(cnnvp_platform *platform, struct cnnvp_run_result *result);

/* Resets all units, also in mid-work, as at their start: the core waits for a program, which is loaded next. Memory
 * keeps what it has, time and statistics go on. FAILED: nothing can be reset any more, or it is a module
 * (cnnvp_systemc.h).
 */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_reset(cnnvp_platform *platform);

/* What check_results has found. */
struct cnnvp_results_check {
    uint64_t compared; /* commands */
    uint64_t wrong;    /* of them */
    uint64_t without;  /* commands that are not compared: there is no reference for them */
    char first[512];   /* the first wrong one: who, which, where, what was expected; "" if none is */
    char kinds[256];   /* those without, by instruction: "12 tforward, 4 tpost" */
};
/* BAD_INPUT: nothing is compared. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_results(const cnnvp_platform *platform, struct cnnvp_results_check *results);

/* How far a run is, estimated from what it has done; 0: nothing says what there is to do. */
struct cnnvp_progress {
    double share;     /* of the described work, 0 to 1 */
    uint64_t layers;  /* that have had work */
    uint64_t time_ps; /* simulated */
};
/* The same run, with the same results, which calls `watch` some five times a second of real time. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_run_watched(cnnvp_platform *platform,
                                                       void (*watch)(void *context, const struct cnnvp_progress *now),
                                                       void *context, struct cnnvp_run_result *result);

/* Moves max_time_ps for the next run, to step through simulated time. 0: no limit. */
void cnnvp_platform_set_max_time(cnnvp_platform *platform, uint64_t max_time_ps);

/* Asks a run to end at the next safe point; the one function that a signal handler may call. */
void cnnvp_platform_interrupt(void);

/* A function of the core's program, and what its own instructions cost. */
struct cnnvp_profile_function {
    const char *name; /* its address where the program has no symbols */
    const char *file; /* NULL: not known */
    uint32_t line;    /* where it begins, 0: not known */
    uint64_t calls;
    uint64_t cycles;       /* of the core, all of its time: the sum over functions is units.cpu.cycles */
    uint64_t instructions; /* retired */
    uint64_t stall_cycles; /* of the cycles: what device accesses took beyond their own */
    uint64_t sleep_cycles; /* of the cycles: asleep, waiting for an interrupt */
};
/* After the run of a platform with `profile`, which ends with this call: up to `room` functions, those with most cycles
 * first. How many there are; *all is their sum. Names live as long as the platform. */
size_t cnnvp_platform_profile(cnnvp_platform *platform, struct cnnvp_profile_function *functions, size_t room,
                              struct cnnvp_profile_function *all);

/* What a layer has taken so far; layers count from 0; SIZE_MAX: what belongs to none. BAD_INPUT: there is no such. */
struct cnnvp_layer_result {
    uint64_t cycles; /* compute and stall cycles */
    uint64_t dram_read_bytes;
    uint64_t dram_write_bytes;
    uint64_t dram_burst_bytes; /* of whole bursts */
    double energy_pj;          /* as `energy_pj` of the statistics' layers */
};
CNNVP_MUST_USE cnnvp_result cnnvp_platform_layer(cnnvp_platform *platform, size_t layer,
                                                 struct cnnvp_layer_result *result);

/* What the statistics should know of the work that was run. All pointers are copied. */
struct cnnvp_layer_info {
    const char *name;
    const char *op;    /* conv, pool, fc, norm, activation, add, concat, softmax */
    const char *phase; /* forward, backward, gradient */
    uint64_t macs;     /* for one image */
    uint64_t pes;      /* processing elements of the unit that runs it; 0: those of the work */
    /* What any way to run the layer by itself moves off chip, of all images; 0: not known. */
    uint64_t least_dram_bytes;
};

/* A row of layers that runs depth first, block by block. Layers count from 0. */
struct cnnvp_chain_info {
    size_t first_layer;
    size_t last_layer;
    size_t layer_count;
    uint64_t blocks;                /* of the first layer's input */
    uint64_t weight_bytes;          /* of all its layers, biases and tables included */
    int scheduled;                  /* 1: the scheduler issues its instructions, 0: the guest software */
    const char *issue_reason;       /* why; static text */
    uint64_t resident_weight_bytes; /* of these stay on chip while it runs; the others are loaded for each block */
};

/* Layers that go tile by tile, from the first to the last one. Layers count from 0. */
struct cnnvp_group_info {
    size_t first_layer;
    size_t layer_count;
    uint32_t tile_rows, tile_columns; /* how many tiles */
    uint32_t tile_h, tile_w;          /* of what the last layer gives */
    const char *halo;                 /* recompute, row, full; static text */
    uint64_t slot_bytes;              /* of the input buffer, for what lies between the layers */
    uint64_t weight_bytes;
    uint64_t resident_weight_bytes; /* of these stay while the group runs */
};

/* A tensor that stays on chip, from the layer that makes it to its last reader. Layers count from 0. */
struct cnnvp_resident_info {
    const char *tensor;
    size_t first_layer;
    size_t last_layer;
    uint32_t half; /* of the input buffer */
    uint64_t bytes;
};

/*
 * A tensor's place in off-chip memory: what the accelerator moves from and to there counts for it. Border and all
 * images included. The least that has to cross: weights once, words of maps that outputs depend on once an image.
 */
struct cnnvp_tensor_info {
    const char *name;
    const char *kind; /* input, output, feature, weights */
    uint64_t address; /* of the bus */
    uint64_t size;    /* bytes */
    uint64_t least_read_bytes;
    uint64_t least_write_bytes;
};

/*
 * What lies where in off-chip memory, for traces: of which tensor, image and channel the bytes are that a transfer
 * begins with.
 */
struct cnnvp_place_info {
    const char *tensor;      /* its name; of a training that of the layer */
    const char *kind;        /* as a tensor's; of a training what of the layer it is */
    uint64_t address;        /* of the bus */
    uint64_t size;           /* bytes */
    uint64_t offset;         /* of its first byte in the tensor */
    uint64_t image_stride;   /* bytes from one image to the next; 0: it is of none, or all images use it in turn */
    uint64_t channel_stride; /* bytes from one channel to the next; 0: all is of one */
    uint64_t channel;        /* of its first byte; of weights: the output channel */
};

struct cnnvp_work_info {
    uint32_t struct_size;
    const char *command;   /* run, train, exec */
    const char *network;   /* file name without folders; NULL for exec */
    uint64_t network_hash; /* xxh3 of the network file without the raw data of tensors above 4096 bytes */
    uint64_t seed;
    uint64_t images;
    uint64_t pes;                          /* processing elements of the PE array */
    const struct cnnvp_layer_info *layers; /* tag t is layers[t - 1] */
    size_t layer_count;
    const uint64_t *layer_images; /* images that each layer worked on; NULL: `images` for all */
    /* Depth first; 0 and NULL: layer by layer. */
    uint32_t block;    /* side of a block */
    const char *order; /* morton, table */
    const struct cnnvp_chain_info *chains;
    size_t chain_count;
    /* Padding by blocks against ordinary padding in the float model: largest difference of the network's outputs, and
     * its largest magnitude. Not with timing alone. */
    double block_difference;
    double block_magnitude;
    /* A plan with groups, or with tensors that stay on chip whole; NULL: layer by layer, or depth first. */
    const char *schedule;
    const struct cnnvp_group_info *groups;
    size_t group_count;
    const struct cnnvp_resident_info *residents;
    size_t resident_count;
    const struct cnnvp_tensor_info *tensors; /* by address, none reaches into the next one; may be NULL */
    size_t tensor_count;
    uint64_t least_dram_bytes;             /* what any schedule moves off chip, of all images; 0: not known */
    const struct cnnvp_place_info *places; /* by address, none reaches into the next one; may be NULL */
    size_t place_count;
};

/* May be called again: what was said before is forgotten. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_describe_work(cnnvp_platform *platform, const struct cnnvp_work_info *work);

/* Statistics in the form of schema cnnvp-stats/2. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_stats(cnnvp_platform *platform, char **json);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
