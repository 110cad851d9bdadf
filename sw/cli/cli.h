/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations shared by the commands of `cnnvp`. Each command is one file, cmd_<name>.c, which exports a struct
 * cli_command that main.c lists. Commands use the headers in c_api, runs and their options (sw/run, command_options.h),
 * and a few helpers of the platform for cleanup and files (try.h, output_file.h, input_file.h).
 */
#pragma once

#include <argp.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "run.h"
#include "try.h"

struct cli_options;
struct cli_command {
    const char *name;
    const char *summary;
    const char *args_doc, *doc;  /* as in struct argp */
    const char *what, *argument; /* its input, for messages: "network", "NETWORK"; NULL: optional */
    size_t most;                 /* maximum number of words (arguments that are no options); 0: one */
    error_t (*parse)(int key, char *arg, struct argp_state *state); /* NULL: cli_parse_words */
    /* Returns the exit status. For `exec` this is the program's own status. */
    cnnvp_result (*run)(struct cli_options *options);
    cnnvp_result (*task)(const char *file); /* runs the internal `--task FILE`; NULL: not supported */
};

extern const struct cli_command cli_asm, cli_check, cli_compile, cli_diff, cli_disasm, cli_exec, cli_memory, cli_models;
extern const struct cli_command cli_new_guest, cli_new_unit, cli_report_page, cli_run, cli_sweep, cli_train;

/* ---- messages (cli.c) ---- */

/* Writes "cnnvp: message" to standard error. */
void cli_message(const char *format, ...) CNNVP_PRINTF(1, 2);
/* The same for bad usage or input; returns CNNVP_BAD_INPUT. */
cnnvp_result cli_bad(const char *format, ...) CNNVP_PRINTF(1, 2);
/* Reports that memory ran out; returns CNNVP_FAILED. */
cnnvp_result cli_no_memory(void);
/* For argp parsers: prints the message and a hint at --help, then exits with status 2. */
void cli_usage(struct argp_state *state, const char *format, ...) CNNVP_PRINTF(2, 3);
/* Why the last call of the library failed. */
extern struct cnnvp_error cli_error;
/* Prints it if `result`, that of the call, is not CNNVP_DONE; returns `result`. */
cnnvp_result cli_report(cnnvp_result result);
/* argp_parse with the options that all commands have, such as --help; `command` is the name in usage lines. */
void cli_parse(const struct argp *argp, const char *command, unsigned flags, int argc, char **argv, void *input);

/* ---- files (cli_file.c) ---- */

/* Checks that a file can be created, and reports why not. NULL is accepted. */
CNNVP_MUST_USE cnnvp_result cli_check_output(const char *option, const char *file);
/* A file named by an option, or by an argument (`option` is then ""). */
struct cli_named_file {
    const char *option;
    const char *file; /* NULL: not given */
    int is_output;
};
/* Calls cli_check_output for each output, and refuses an output that is also an input or another output. */
CNNVP_MUST_USE cnnvp_result cli_check_files(const struct cli_named_file *files, size_t count);
CNNVP_MUST_USE cnnvp_result cli_write_file(const char *file, const void *data, size_t size);
/* Reads a whole file of at most `limit` bytes and appends a zero byte. Free with free(). */
CNNVP_MUST_USE cnnvp_result cli_read_file(const char *file, size_t limit, char **data, size_t *size);

/* ---- options (cli_options.c) ---- */

/* A command's options and arguments, and values derived from them. This is the input of its argp parser. */
struct cli_options {
    const struct cli_command *command;
    struct cnnvp_options all;
    char **words; /* arguments that are no options */
    size_t word_count;
    const char *file;   /* the first word; NULL: none */
    int report_made;    /* 1: this command has created the folder of --report */
    char *report_stats; /* file in that folder; NULL: no --report */
    char *report_series;
    char *report_advice;
};

/* Parses the arguments of a command, and runs it. argv[0] is "cnnvp". Returns the exit status. */
int cli_run_command(const struct cli_command *command, int argc, char **argv);
/* Parsers for argp: cli_parse_option accepts only options, cli_parse_words also words. At the end both check all
 * options together. */
error_t cli_parse_option(int key, char *arg, struct argp_state *state);
error_t cli_parse_words(int key, char *arg, struct argp_state *state);
/* Creates the folder of --report, then calls cli_check_files with all files that the options name. */
CNNVP_MUST_USE cnnvp_result cli_check_command_files(struct cli_options *options);

/* Makes and resolves the configuration that the options describe. */
CNNVP_MUST_USE cnnvp_result cli_configure(const struct cli_options *options, cnnvp_config **config);

/* ---- running (cli_session.c) ---- */

void cli_handle(int number, void (*handler)(int), int flags);
/* Makes SIGINT, SIGTERM, SIGHUP and SIGPIPE end a run at its next safe point, so that no file is left incomplete. A
 * file that reaches its size limit fails like a full disk. SIGHUP stays ignored if it already is (nohup). */
void cli_catch_signals(void);
/* Makes a crash in a unit report the unit's name. */
void cli_name_crashes(void);
/* For signal handlers. cli_say writes text to standard error. cli_name_running writes "cnnvp: INSTANCE: its unit",
 * `what` and the name of the running callback, and returns 0 if no callback is running. */
void cli_say(const char *text);
int cli_name_running(const char *what);
/* 1: one of the signals of cli_catch_signals has arrived. */
int cli_was_interrupted(void);
/* 1: the last signal was SIGPIPE. Standard output then has no reader, and no message is printed. */
int cli_reader_gone(void);
/* The platform options that follow from the command's options. */
struct cnnvp_platform_options cli_platform_options_of(const struct cli_options *options);
/* Writes the statistics to the files that the options name. `made` is the result of making them; *json is valid only if
 * it is CNNVP_DONE. */
CNNVP_MUST_USE cnnvp_result cli_write_statistics(const struct cli_options *options, cnnvp_result made,
                                                 char *const *json);
/* Reports on standard error how a run ended that did not succeed. */
void cli_report_end(const struct cnnvp_run_result *result);

/* Closes the trace. Returns `result`, or CNNVP_FAILED if only closing failed. `platform` may be NULL. */
CNNVP_MUST_USE cnnvp_result cli_close_trace(cnnvp_platform *platform, cnnvp_result result);

/* Reports what --check-results found. Returns `result`, or CNNVP_FAILED if that is CNNVP_DONE and a command was wrong.
 * `platform` may be NULL. */
CNNVP_MUST_USE cnnvp_result cli_report_results(const struct cli_options *options, const cnnvp_platform *platform,
                                               cnnvp_result result);

/* ---- progress (cli_progress.c) ---- */

/* A progress line on standard error. It is shown only on a terminal, without `quiet`, and after two seconds. */
struct cli_progress {
    int on;
    double began;
    double shown; /* time of the last update; 0: not shown yet */
    double share;
};
void cli_progress_begin(struct cli_progress *progress, int quiet);
/* Updates the line with the completed share, 0 to 1, and a text. It also shows the estimated time left. */
void cli_progress_show(struct cli_progress *progress, double share, const char *text);
/* Clears the line so that other output can be printed; `end` also stops it. */
void cli_progress_clear(struct cli_progress *progress);
void cli_progress_end(struct cli_progress *progress);
/* "1:02:03" or "2:03"; returns `text`. */
const char *cli_duration_text(char text[32], double seconds);
/* cnnvp_platform_run with a progress line. */
CNNVP_MUST_USE cnnvp_result cli_platform_run(const struct cli_options *options, cnnvp_platform *platform,
                                             struct cnnvp_run_result *end);

/* ---- tables (cli_table.c) ---- */

/* Prints the layers and the totals of a stats.json text. */
CNNVP_MUST_USE cnnvp_result cli_print_layers(const char *json, FILE *stream);
CNNVP_MUST_USE cnnvp_result cli_print_totals(const char *json, int verbose, FILE *stream);
/* Prints the functions of the core's program with the most cycles, or nothing without a profile. */
void cli_print_profile(cnnvp_platform *platform, FILE *stream);

/* Formats a value in ps or pJ (`unit` "s" or "J") with a suitable prefix; returns `text`. */
const char *cli_pico_text(char text[32], int digits, double value, const char *unit);
/* The same for a time in ps. */
const char *cli_time_text(char text[32], double ps);
/* The escape sequence that begins a style on standard output; "" if it is no terminal, unless --color decides
 * (cli_options.c). */
enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM };
const char *cli_style(enum cli_style style);
/* Reports images that are smaller than the network's input; prints nothing if the sizes are equal. */
void cli_print_centred(size_t height, size_t width, size_t network_height, size_t network_width, FILE *stream);

/* ---- parts of the off-chip memory (models_parts.c) ---- */

void cli_print_parts(FILE *stream);

/* ---- text for a terminal (cli_fold.c) ---- */

/* Folds lines of more than 100 columns. Continuation lines start below the last column; two spaces separate columns. */
void cli_print_folded(const char *text, FILE *stream);
/* The same for text in sections: a line that does not start with a space is a title. */
void cli_print_sections(const char *text, FILE *stream);

/* ---- advice on a run (advise.c) ---- */

/* Tries single changes of the platform and the options with timing-only runs. Prints a table of the changes that help
 * the run's objective most, and writes it to `file` for the run's page; NULL: no file. `config` is resolved, and the
 * run has been planned with it, best with a memory of its plan; it took `seconds`, and `statistics` are its own. */
CNNVP_MUST_USE cnnvp_result advise(const struct cnnvp_run *run, const cnnvp_config *config, const char *statistics,
                                   unsigned seconds, const char *file, FILE *stream, struct cnnvp_error *error);
/* For a short run: tries batches, instruction lists and maps on chip with timing-only runs. Prints one line with the
 * best by the objective and its gain, or nothing if none helps. `statistics` are those of the run. */
CNNVP_MUST_USE cnnvp_result advise_way(const struct cnnvp_run *run, const cnnvp_config *config, const char *statistics,
                                       FILE *stream, struct cnnvp_error *error);

/* ---- outputs compared with labels and with the float model (accuracy.c) ---- */

/* Prints the top-1 accuracy of the output and of the float model. */
void accuracy_print(const struct cnnvp_accuracy *accuracy, FILE *stream);
/* Prints the SQNR, the largest difference relative to the largest magnitude, and the top-1 agreement of a classifier.
 * `name` is that of one of several outputs, or NULL. */
void accuracy_print_difference(const char *name, const struct cnnvp_difference *difference, FILE *stream);

/* An SQNR below this, in dB, causes a warning. */
enum { ACCURACY_DECIBELS = 20 };
/* Warns on standard error if the output differs much from the float model. */
void accuracy_warn(const char *name, const struct cnnvp_difference *difference);
