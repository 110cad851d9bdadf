/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cnnvp platform API: build a platform from a configuration, load a program, run it, and read its results. Networks
 * have their own header, cnnvp_network.h.
 *
 * - C11 and C++17. Handles are opaque. A function that can fail returns a cnnvp_result and puts the reason into struct
 *   cnnvp_error.
 * - Several platforms may exist in one process, each with its own simulated time. They may also exist beside the
 *   program's own SystemC simulation, which stays undisturbed between the calls and whose threads may call these
 *   functions.
 * - Not thread-safe: one thread uses the API at a time. All live platforms belong to the thread that created the first
 *   of them. Calls from another thread return CNNVP_FAILED and change nothing.
 * - Memory that a function returns through a pointer belongs to the caller, who frees it with the named function.
 *   Arguments need not outlive the call unless the comment says so.
 * - A struct cnnvp_error * may be NULL.
 * - Files and texts use decimal points, whatever locale the program has set.
 * - A struct that begins with struct_size may come from an older or a newer header. Members that the caller's struct
 *   lacks are taken as 0. Members that the library does not know must be 0.
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

/* Also the exit status of the cnnvp command. */
typedef enum cnnvp_result {
    CNNVP_DONE = 0,
    CNNVP_FAILED = 1,   /* the run failed: see the message */
    CNNVP_BAD_INPUT = 2 /* a file, an option or a configuration is wrong: see the message */
} cnnvp_result;

/* What went wrong: "FILE:LINE:COLUMN: message" if a place is known, otherwise "message". Never ends in a newline. */
struct cnnvp_error {
    char text[2048];
};

/* ---- versions and units ---- */

/* CNNVP_VERSION of the library itself. */
const char *cnnvp_version(void);
/* Version of the SystemC library in use, such as "2.3.4". */
const char *cnnvp_systemc_version(void);

/* Identifies the code that decides results: 16 hexadecimal digits, a hash of the loaded bytes and the lengths of two
 * files. These are the file that contains this library (a program, or libcnnvp.so) and SystemC's library. Equal bytes
 * give equal names wherever the files lie. The first call computes the text, which lives as long as the process. */
const char *cnnvp_build(void);

/* The index-th built-in unit, NULL after the last. The tables live as long as the process. */
const struct cnnvp_unit *cnnvp_unit_at(size_t index);

/* The unit of a kind: built in ("uart") or from a library ("./libmine.so:mine", relative to the current folder). */
CNNVP_MUST_USE cnnvp_result cnnvp_unit_find(const char *model, const struct cnnvp_unit **unit,
                                            struct cnnvp_error *error);
/* The index-th unit of a library ("./libmine.so", relative to the current folder); NULL after the last. BAD_INPUT: the
 * library cannot be loaded, or that unit's table is wrong. */
CNNVP_MUST_USE cnnvp_result cnnvp_library_unit(const char *library, size_t index, const struct cnnvp_unit **unit,
                                               struct cnnvp_error *error);

/* The name in the NULL-terminated list that `wanted` probably misspells; NULL if none is similar. */
const char *cnnvp_did_you_mean(const char *wanted, const char *const *names);

/* Path of share/cnnvp/`name` in the installation or build that this library, or the program it is linked into, belongs
 * to. Does not check whether the file exists. Returns 0, or -1 if that location is unknown or the path needs more than
 * `room` bytes. */
int cnnvp_installed_file(const char *name, char *path, size_t room);

/* Explains a cause of stall_cycles; NULL if there is no such cause. */
const char *cnnvp_stall_help(const char *cause);

/* The built-in energy tables as readable text. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_energy_text(char **text);
/* Area and static power of the parts of units, with sources and ranges. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_area_text(char **text);
/* Explains the members of the statistics. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_stats_text(char **text);

/* ---- configuration ---- */

typedef struct cnnvp_config cnnvp_config;

/*
 * Reads a platform: the name of a preset, such as nfu, or a YAML file. Presets are searched first in
 * $CNNVP_PRESETS, then in the installed copy that the library belongs to (share/cnnvp/presets), then in the configured
 * installation folder, then in the build folder. The guest program is found in the same way, with $CNNVP_GUEST. Only
 * cnnvp_config_resolve checks the result completely. Free with cnnvp_config_free.
 */
CNNVP_MUST_USE cnnvp_result cnnvp_config_new(const char *file_or_preset, cnnvp_config **config,
                                             struct cnnvp_error *error);
/* An independent copy; resolved if the original is. Shares the loaded libraries. NULL: out of memory. */
cnnvp_config *cnnvp_config_copy(const cnnvp_config *config);
void cnnvp_config_free(cnnvp_config *config);

/* The instance that takes an accelerator's instructions. The instances of further accelerators have the names of the
 * first one's instances with a suffix. */
#define CNNVP_INSTRUCTION_ELEMENT "instruction"
/* Prefix of an instance name that selects this instance in every accelerator. */
#define CNNVP_ALL_ACCELERATORS "accelerators."

/* Sets one parameter from a text "instance.parameter=value", as --set does. "accelerators.instance.parameter=value"
 * sets it in every accelerator. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_set(cnnvp_config *config, const char *assignment, struct cnnvp_error *error);

/* Checks everything: models found and loaded, names, types, ranges, ports, addresses, interrupts. Required once before
 * the functions below, and again after a cnnvp_config_set. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_resolve(cnnvp_config *config, struct cnnvp_error *error);

/* Value of "instance.parameter" after resolution; BAD_INPUT if there is no such parameter. The text belongs to the
 * configuration; `value` and `text` may be NULL. "instance.irq" gives the instance's line at the interrupt controller
 * (text ""). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_get(const cnnvp_config *config, const char *name, uint64_t *value,
                                             const char **text);

/* An instance of a resolved configuration. Texts belong to the configuration. */
struct cnnvp_config_instance {
    const char *name;
    const char *model;             /* as in a platform file: KIND, or LIBRARY:KIND */
    const struct cnnvp_unit *unit; /* its tables; NULL for the bus, which the platform itself provides */
    int idle;                      /* 1: the platform file says `idle: true`, so that nothing needs to drive it */
};
/* The index-th instance, in the order of the files. BAD_INPUT: there are fewer instances. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_instance(const cnnvp_config *config, size_t index,
                                                  struct cnnvp_config_instance *instance);

/* Base address and size of an instance's window on the bus; BAD_INPUT if it has none. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_window(const cnnvp_config *config, const char *instance, uint64_t *base,
                                                uint64_t *size);

/* Where an instance ("dma"), a parameter ("dma.burst_bytes") or a connection ("dma.mem") is written, in the form that
 * errors use. For a connection, *target is the port that it leads to, as in a platform file, or "" if it is open;
 * otherwise *target is NULL. BAD_INPUT if nothing has that name. The texts belong to the configuration. */
CNNVP_MUST_USE cnnvp_result cnnvp_config_place(const cnnvp_config *config, const char *name, const char **place,
                                               const char **target);

/* The resolved configuration as YAML that cnnvp_config_new can read, and the memory map as text. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_text(const cnnvp_config *config, char **yaml, char **memory_map);

/* The reference of the instruction set: opcodes, status bits, descriptors, and what each instruction waits for.
 * Includes the instructions of the units of `config`, which is resolved or NULL. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_isa_text(const cnnvp_config *config, char **text);

/* A C header for programs that run on the platform: bus windows, interrupts, registers, and instructions of custom
 * units. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_header(const cnnvp_config *config, char **header);
/* The registers of all units on the bus as a CMSIS-SVD file. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_config_svd(const cnnvp_config *config, char **svd);

/* The instructions that units of the resolved platform add, each once, ended by NULL. Free the array with free(); the
 * instructions belong to the units. NULL: out of memory. */
const struct cnnvp_instruction **cnnvp_config_instructions(const cnnvp_config *config);

/* ---- units without a simulation ---- */

/*
 * The units of a resolved configuration, created and connected, but not simulated. They tell how long commands and
 * transfers take. They answer with their own models, including buffer ports and memories. Any number of these objects
 * may exist, also beside a platform.
 */
typedef struct cnnvp_units cnnvp_units;

struct cnnvp_cost {
    int status;         /* enum cnnvp_status: the unit's answer */
    uint64_t ps;        /* time until the command is done on an otherwise idle platform; 0 if it is refused */
    const char *reason; /* the unit's message if it refuses, otherwise ""; valid until the next question */
};

CNNVP_MUST_USE cnnvp_result cnnvp_units_new(const cnnvp_config *config, cnnvp_units **units, struct cnnvp_error *error);
/* NULL is allowed. */
void cnnvp_units_free(cnnvp_units *units);

struct cnnvp_command; /* cnnvp_command.h */

/* The instance that a port of `instance` leads to; NULL if the port is open or nothing has that name. */
const char *cnnvp_units_at(const cnnvp_units *units, const char *instance, const char *port);

/* Cost of a command of the instruction element on an instance ("pe_array", "vector", "dma"). A `receive` or `store`
 * includes the whole transfer, from the request to the last word. BAD_INPUT: there is no such instance, or it takes no
 * commands. A refusal is a valid answer: the function returns DONE and *cost holds the status. */
CNNVP_MUST_USE cnnvp_result cnnvp_units_command(cnnvp_units *units, const char *instance,
                                                const struct cnnvp_command *command, struct cnnvp_cost *cost,
                                                struct cnnvp_error *error);
/* How an instance wants the tiles of a layer to be cut; see `tiling` in cnnvp_model.h. FAILED: the unit takes no
 * command of this layer; the message is its reason. BAD_INPUT: the unit has no `tiling`, or gives an invalid answer. */
CNNVP_MUST_USE cnnvp_result cnnvp_units_tiling(cnnvp_units *units, const char *instance,
                                               const struct cnnvp_command *layer, struct cnnvp_tiling *tiling,
                                               struct cnnvp_error *error);

/* ---- platform ---- */

typedef struct cnnvp_platform cnnvp_platform;

struct cnnvp_platform_options {
    uint32_t struct_size; /* sizeof(struct cnnvp_platform_options) */
    int timing_only;      /* 1: no arithmetic; data pointers are NULL */
    int verbosity;        /* 0 errors and warnings, 1 information, 2 debug; -1 errors only */
    const char *trace;    /* NULL, or a file name: .pftrace, .vcd, .fst */
    const char *series;   /* NULL, or a second trace file of the same run, such as the .series file of cnnvp_report */
    /* NULL, or a file with one line for each burst of the off-chip memories. The default format is that of
     * cnnvp_memory_replay. A file name ending in .ramulator2 selects Ramulator 2's load-store trace, .dramsim3 selects
     * DRAMsim3. */
    const char *memory_trace;
    /* NULL, or a file for the core's cycles by function, line and instruction, in callgrind's format (for KCachegrind
     * and callgrind_annotate). */
    const char *profile;
    /* NULL, or a TCP port of this machine for a debugger that speaks GDB's remote protocol ("0": any free port). The
     * program waits for the debugger before its first instruction; standard error says how to connect. */
    const char *gdb;
    uint64_t max_time_ps; /* simulated time after which a run ends; 0: no limit */
    /* Receives the console output; NULL: standard output. Of the platform functions it may call
     * cnnvp_platform_interrupt, and those that read and write memory. */
    void (*console)(void *context, const void *data, size_t size);
    void *console_context;
    /* 1: for every command that a unit answers at once, compares its time with the answer of cnnvp_units_command and
     * with the cycles that the unit counted for the layer. The first difference is reported in full and ends the run
     * (CNNVP_END_FATAL). 0: compares only units of libraries ("./libmine.so:mine"); the first difference of each is a
     * warning. */
    int check_costs;
    /* 1: after each command, compares the contents of a calculation unit's buffers with the result of reference
     * arithmetic on the previous contents. The reference uses plain loops, many times slower than the units. The first
     * wrong command is reported in full as an error message; cnnvp_platform_results returns the counts. Changes no
     * result. Not allowed with timing_only. */
    int check_results;
    /* 1: a unit's call that the host refuses ends the run (CNNVP_END_FATAL). 0: it is a warning, once for each unit,
     * callback and fault. */
    int strict;
    /* Receives each log line that `verbosity` shows, without the newline, and its enum cnnvp_log_level. NULL: lines go
     * to standard error. Of the platform functions it may call only cnnvp_platform_interrupt. */
    void (*log)(void *context, int level, const char *line);
    void *log_context;
    /* Called when the first work of a layer since the last reset is counted, with the layer's index from 0 and the time
     * at which that work began. NULL: not called. Of the platform functions it may call only cnnvp_platform_interrupt.
     * That ends cnnvp_platform_run (CNNVP_END_INTERRUPTED), and a further call continues the run. */
    void (*layer)(void *context, size_t layer, uint64_t time_ps);
    void *layer_context;
};

/* The instance and the unit callback that is running in this process, in a platform or in a cnnvp_units question.
 * Returns 0 if none is running. A signal handler may call it to say where a program crashed. */
int cnnvp_running_unit(const char **instance, const char **callback);

/* How a run ended. */
enum cnnvp_end {
    CNNVP_END_EXIT = 0,     /* the guest ended the run; see exit_code */
    CNNVP_END_MAX_TIME = 1, /* max_time_ps was reached */
    CNNVP_END_NO_PROGRESS =
        2,                    /* nothing is left that could happen, or time stands still, and the guest has not ended */
    CNNVP_END_FATAL = 3,      /* a unit ended the run: trap inside the guest's trap handler, broken state */
    CNNVP_END_INTERRUPTED = 4 /* cnnvp_platform_interrupt was called */
};

struct cnnvp_run_result {
    enum cnnvp_end end;
    int exit_code;    /* for CNNVP_END_EXIT */
    char reason[512]; /* one readable line, may be empty: what happened, or who waits for what */
    uint64_t time_ps; /* simulated */
};

/* A text for a run's end; not meant for CNNVP_END_EXIT with code 0. */
const char *cnnvp_end_text(enum cnnvp_end end);

/* Builds the platform from a resolved configuration, which it copies. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_new(const cnnvp_config *config, const struct cnnvp_platform_options *options,
                                               cnnvp_platform **platform, struct cnnvp_error *error);
/* Checks parameters by the units' own rules: creates the units as cnnvp_platform_new does, and frees them. Does not ask
 * a third-party memory. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_check(const cnnvp_config *config, struct cnnvp_error *error);
/* Closes the traces and the profile. If the platform has run, their complete files appear now. Later work is not
 * recorded. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_close_trace(cnnvp_platform *platform, struct cnnvp_error *error);

/* Also closes the traces if that has not been done, and prints errors of closing. NULL is allowed. */
void cnnvp_platform_free(cnnvp_platform *platform);

/* Declares that the program loaded next reads [address, address + size) in every step. A core that runs from a tightly
 * coupled memory keeps this range there, beside the program itself, as far as there is room. The rest is read from
 * off-chip memory, and a warning says so. Address and size are below 4 GiB. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_hold(cnnvp_platform *platform, uint64_t address, uint64_t size);

/* Declares that the program loaded next only reads [address, address + size), and only in step `step` of its work. The
 * steps repeat in order. If the tightly coupled memory is too small for all tables, it holds those of the current step
 * and prefetches those of the next steps. `user` numbers the parts of the program that work side by side, each in its
 * own step. Calls come in the order of users, and for each user in the order of steps. Within a step the most needed
 * tables come first. Address and size are below 4 GiB. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_hold_step(cnnvp_platform *platform, uint32_t user, uint32_t step,
                                                     uint64_t address, uint64_t size);

/* Loads an RV32 ELF file into memory and sets the core's start address and tohost. `args` (argc strings, without the
 * program's name) become the guest's semihosting command line; may be NULL. FAILED: the core's program has ended, and
 * the platform has not been reset since. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_load_elf(cnnvp_platform *platform, const char *file, int argc,
                                                    char *const *args, struct cnnvp_error *error);

/* Memory as the core sees it, by bus addresses, without side effects or simulated time. Code that it has run it sees
 * changed after its next fence.i, as if another core had written it. BAD_INPUT: no memory there. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_read(cnnvp_platform *platform, uint64_t address, void *data, size_t size);
CNNVP_MUST_USE cnnvp_result cnnvp_platform_write(cnnvp_platform *platform, uint64_t address, const void *data,
                                                 size_t size);
/* Direct pointer to the bus addresses [address, address + size), if they lie in one memory. Valid as long as the
 * platform exists. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_map(cnnvp_platform *platform, uint64_t address, size_t size, void **data);

/* A 32-bit register at a bus address, as the core reads and writes it: with its side effects, but in no simulated time.
 * If the platform is part of the program's own simulation, call it from one of its processes. BAD_INPUT: no unit
 * accepts the access. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_read_register(cnnvp_platform *platform, uint64_t address, uint32_t *value);
CNNVP_MUST_USE cnnvp_result cnnvp_platform_write_register(cnnvp_platform *platform, uint64_t address, uint32_t value);
/* Sets the level, 0 or 1, of the interrupt of an instance of model external: `button: {model: external, irq: 4}`.
 * BAD_INPUT: there is no such instance. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_set_irq(cnnvp_platform *platform, const char *instance, int level);

/* Runs until the guest ends or another case of enum cnnvp_end happens. DONE only for CNNVP_END_EXIT with code 0. After
 * CNNVP_END_MAX_TIME and CNNVP_END_INTERRUPTED another call continues, with the same results as one uninterrupted
 * run. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_run(cnnvp_platform *platform, struct cnnvp_run_result *result);

/* Resets all units, also in the middle of work, to their initial state. The core then waits for a program to be loaded.
 * Memory contents stay; time and statistics continue. FAILED: the simulation cannot go on, or the platform is a module
 * (cnnvp_systemc.h). */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_reset(cnnvp_platform *platform);

/* Counts of the option check_results. */
struct cnnvp_results_check {
    uint64_t compared; /* commands that were compared */
    uint64_t wrong;    /* compared commands with a wrong result */
    uint64_t without;  /* commands that were not compared, because they have no reference */
    char first[512];   /* the first wrong command: instance, command, place, expected value; "" if none */
    char kinds[256];   /* commands without a reference, by instruction: "12 tforward, 4 tpost" */
};
/* BAD_INPUT: check_results is off. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_results(const cnnvp_platform *platform, struct cnnvp_results_check *results);

/* Estimated progress of a run. share is 0 if the amount of work is unknown. */
struct cnnvp_progress {
    double share;     /* of the described work, 0 to 1 */
    uint64_t layers;  /* layers that have begun */
    uint64_t time_ps; /* simulated */
};
/* As cnnvp_platform_run, with the same results, but calls `watch` about five times a second of real time. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_run_watched(cnnvp_platform *platform,
                                                       void (*watch)(void *context, const struct cnnvp_progress *now),
                                                       void *context, struct cnnvp_run_result *result);

/* Replaces max_time_ps for the next run, to step through simulated time. 0: no limit. */
void cnnvp_platform_set_max_time(cnnvp_platform *platform, uint64_t max_time_ps);

/* Asks a run to end at the next safe point. A signal handler may call it. */
void cnnvp_platform_interrupt(void);

/* A function of the core's program and the cost of its own instructions. */
struct cnnvp_profile_function {
    const char *name; /* the address as text if the program has no symbols */
    const char *file; /* NULL: not known */
    uint32_t line;    /* first line of the function; 0: not known */
    uint64_t calls;
    uint64_t cycles;       /* all core cycles, sleep included; summed over all functions: units.cpu.cycles */
    uint64_t instructions; /* retired */
    uint64_t stall_cycles; /* part of the cycles: waits for device accesses beyond their own cycles */
    uint64_t sleep_cycles; /* part of the cycles: asleep, waiting for an interrupt */
};
/* Up to `room` functions, those with most cycles first, after a run with the option `profile`. Profiling ends with this
 * call. Returns the number of functions of the program; *all is the sum over all of them. Names live as long as the
 * platform. */
size_t cnnvp_platform_profile(cnnvp_platform *platform, struct cnnvp_profile_function *functions, size_t room,
                              struct cnnvp_profile_function *all);

/* The totals of a layer so far. Layers count from 0; SIZE_MAX: work of no layer. BAD_INPUT: there is no such layer. */
struct cnnvp_layer_result {
    uint64_t cycles; /* compute and stall cycles */
    uint64_t dram_read_bytes;
    uint64_t dram_write_bytes;
    uint64_t dram_burst_bytes; /* off-chip bytes, counted in whole bursts */
    double energy_pj;          /* as `energy_pj` of a layer in the statistics */
};
CNNVP_MUST_USE cnnvp_result cnnvp_platform_layer(cnnvp_platform *platform, size_t layer,
                                                 struct cnnvp_layer_result *result);

/* Describes the work to the statistics. All pointed-to data are copied. */
struct cnnvp_layer_info {
    const char *name;
    const char *op;    /* conv, pool, fc, norm, activation, add, concat, softmax */
    const char *phase; /* forward, backward, gradient */
    uint64_t macs;     /* for one image */
    uint64_t pes;      /* processing elements of the unit that runs the layer; 0: as in struct cnnvp_work_info */
    /* Least off-chip bytes of all images if the layer runs by itself; 0: not known. */
    uint64_t least_dram_bytes;
};

/* A chain of layers that runs depth first, block by block. Layers count from 0. */
struct cnnvp_chain_info {
    size_t first_layer;
    size_t last_layer;
    size_t layer_count;
    uint64_t blocks;                /* blocks of the first layer's input */
    uint64_t weight_bytes;          /* weights of all layers, biases and tables included */
    int scheduled;                  /* 1: the scheduler issues its instructions, 0: the guest software */
    const char *issue_reason;       /* reason for `scheduled`; static text */
    uint64_t resident_weight_bytes; /* part of weight_bytes that stays on chip; the rest is loaded for each block */
};

/* A fused group of consecutive layers that runs tile by tile. Layers count from 0. */
struct cnnvp_group_info {
    size_t first_layer;
    size_t layer_count;
    uint32_t tile_rows, tile_columns; /* number of tiles */
    uint32_t tile_h, tile_w;          /* size of a tile of the last layer's output */
    const char *halo;                 /* recompute, row, full; static text */
    uint64_t slot_bytes;              /* bytes of the input buffer for the maps between the layers */
    uint64_t weight_bytes;
    uint64_t resident_weight_bytes; /* part of weight_bytes that stays on chip while the group runs */
};

/* A tensor that stays on chip from the layer that produces it to its last reader. Layers count from 0. */
struct cnnvp_resident_info {
    const char *tensor;
    size_t first_layer;
    size_t last_layer;
    uint32_t half; /* half of the input buffer */
    uint64_t bytes;
};

/*
 * A tensor's place in off-chip memory, its border and all images included. The statistics assign the accelerator's
 * traffic there to this tensor. Least bytes: weights are read once, and words of maps that outputs depend on cross once
 * for each image.
 */
struct cnnvp_tensor_info {
    const char *name;
    const char *kind; /* input, output, feature, weights */
    uint64_t address; /* bus address */
    uint64_t size;    /* bytes */
    uint64_t least_read_bytes;
    uint64_t least_write_bytes;
};

/*
 * A piece of off-chip memory, for traces: tells to which tensor, image and channel the first byte of a transfer
 * belongs.
 */
struct cnnvp_place_info {
    const char *tensor;      /* name of the tensor; for training, of the layer */
    const char *kind;        /* as in struct cnnvp_tensor_info; for training, the role in the layer */
    uint64_t address;        /* bus address */
    uint64_t size;           /* bytes */
    uint64_t offset;         /* offset of the first byte in the tensor */
    uint64_t image_stride;   /* bytes from one image to the next; 0: belongs to no image, or is shared by all */
    uint64_t channel_stride; /* bytes from one channel to the next; 0: one channel only */
    uint64_t channel;        /* channel of the first byte; for weights, the output channel */
};

/* An option that has not its default value, with its value as on a command line. */
struct cnnvp_option_info {
    const char *name;
    const char *value;
};

struct cnnvp_work_info {
    uint32_t struct_size;
    const char *command;   /* run, train, exec */
    const char *network;   /* file name without folders; NULL for exec */
    uint64_t network_hash; /* xxh3 of the network file, without the raw data of tensors above 4096 bytes */
    uint64_t seed;
    uint64_t images;
    uint64_t pes;                          /* processing elements of the PE array */
    const struct cnnvp_layer_info *layers; /* work with tag t belongs to layers[t - 1] */
    size_t layer_count;
    const uint64_t *layer_images; /* number of images of each layer; NULL: `images` for all */
    /* Depth-first schedule; 0 and NULL: layer by layer. */
    uint32_t block;    /* side of a block */
    const char *order; /* morton, table */
    const struct cnnvp_chain_info *chains;
    size_t chain_count;
    /* Largest difference between the network's outputs with padding by blocks and with ordinary padding, in the float
     * model, and the outputs' largest magnitude. Unset in timing-only runs. */
    double block_difference;
    double block_magnitude;
    /* For a plan with fused groups or with whole tensors on chip; NULL: layer by layer, or depth first. */
    const char *schedule;
    const struct cnnvp_group_info *groups;
    size_t group_count;
    const struct cnnvp_resident_info *residents;
    size_t resident_count;
    const struct cnnvp_tensor_info *tensors; /* sorted by address, without overlaps; may be NULL */
    size_t tensor_count;
    uint64_t least_dram_bytes;             /* least off-chip bytes of all images under any schedule; 0: not known */
    const struct cnnvp_place_info *places; /* sorted by address, without overlaps; may be NULL */
    size_t place_count;
    const struct cnnvp_option_info *options; /* those that decide what is done and are not the command's defaults */
    size_t option_count;
    /* Of each layer: instance of the unit that its plan should have named, by the planner's prices; NULL: none, or for
     * all. */
    const char *const *better_units;
};

/* Replaces earlier descriptions. After cnnvp_platform_reset, the same network's images and least bytes are added to
 * those that were done before, as counts continue. Of another network the images are added, and its work before is work
 * of no layer; least bytes are unknown then. */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_describe_work(cnnvp_platform *platform, const struct cnnvp_work_info *work);

/* Statistics as JSON, schema cnnvp-stats/2. Free with free(). */
CNNVP_MUST_USE cnnvp_result cnnvp_platform_stats(cnnvp_platform *platform, char **json);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
