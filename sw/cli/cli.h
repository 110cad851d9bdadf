/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of `cnnvp` share. A command is one file, cmd_<name>.c, that exports a struct cli_command; it is
 * entered in main.c. Commands use the headers in c_api, runs and their options (sw/run, command_options.h), and of
 * the platform what ends functions and writes files (try.h, output_file.h, input_file.h).
 */
#ifndef CNNVP_CLI_H
#define CNNVP_CLI_H

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
    const char *args_doc, *doc;  /* as argp has them */
    const char *what, *argument; /* what it works on, for messages: "network", "NETWORK"; NULL: it may be missing */
    size_t most;                 /* words that it may be given, 0: one */
    error_t (*parse)(int key, char *arg, struct argp_state *state); /* NULL: cli_parse_words */
    /* Returns the exit status; that of `exec` is the program's own. */
    cnnvp_result (*run)(struct cli_options *options);
    cnnvp_result (*task)(const char *file); /* `--task FILE`, which is not for people; NULL: there is none */
};

extern const struct cli_command cli_asm, cli_check, cli_compile, cli_diff, cli_disasm, cli_exec, cli_memory, cli_models;
extern const struct cli_command cli_new_guest, cli_new_unit, cli_report_page, cli_run, cli_sweep, cli_train;

/* ---- messages (cli.c) ---- */

/* Writes "cnnvp: message" to standard error. */
void cli_message(const char *format, ...) CNNVP_PRINTF(1, 2);
/* The same for bad usage; returns CNNVP_BAD_INPUT. */
cnnvp_result cli_bad(const char *format, ...) CNNVP_PRINTF(1, 2);
/* Says that memory ran out; returns CNNVP_FAILED. */
cnnvp_result cli_no_memory(void);
/* Ends the program with status 2 after the message and a hint at --help: for argp parsers. */
void cli_usage(struct argp_state *state, const char *format, ...) CNNVP_PRINTF(2, 3);
/* Prints the error if `result` is not DONE; returns `result`. */
cnnvp_result cli_report(cnnvp_result result, const struct cnnvp_error *error);
/* argp_parse with the conventions of this program; `command` is for usage lines. */
void cli_parse(const struct argp *argp, const char *command, unsigned flags, int argc, char **argv, void *input);

/* ---- files (cli_file.c) ---- */

/* 0 if a file of this name can be made; otherwise says why it cannot. NULL is fine. */
CNNVP_MUST_USE cnnvp_result cli_check_output(const char *option, const char *file);
/* One file that an option, or "" for an argument, names. */
struct cli_named_file {
    const char *option;
    const char *file; /* NULL: not given */
    int is_output;
};
/* cli_check_output for each output; refuses one that is an input or another output as well: it would be lost. */
CNNVP_MUST_USE cnnvp_result cli_check_files(const struct cli_named_file *files, size_t count);
CNNVP_MUST_USE cnnvp_result cli_write_file(const char *file, const void *data, size_t size);
/* Reads a whole file of at most `limit` bytes; a zero byte is added. Free with free(). */
CNNVP_MUST_USE cnnvp_result cli_read_file(const char *file, size_t limit, char **data, size_t *size);

/* ---- options (cli_options.c) ---- */

/* What a command was given, and what follows from it; the input of its parser. */
struct cli_options {
    const struct cli_command *command;
    struct cnnvp_options all;
    char **words; /* without the options */
    size_t word_count;
    const char *file;   /* the first of them; NULL: none */
    int report_made;    /* the folder of --report, by this command */
    char *report_stats; /* in it; NULL: no --report */
    char *report_series;
    char *report_advice;
};

/* Parses what follows the command's name, and runs it. argv[0] is "cnnvp". Returns the exit status. */
int cli_run_command(const struct cli_command *command, int argc, char **argv);
/* Parsers: cli_parse_option takes options alone, cli_parse_words also what the command works on. At the end all options
 * are checked. */
error_t cli_parse_option(int key, char *arg, struct argp_state *state);
error_t cli_parse_words(int key, char *arg, struct argp_state *state);
/* cli_check_files of all files that they name. Makes the folder of --report. */
CNNVP_MUST_USE cnnvp_result cli_check_command_files(struct cli_options *options);

/* The configuration that the options name, resolved. */
CNNVP_MUST_USE cnnvp_result cli_configure(const struct cli_options *options, cnnvp_config **config);

/* ---- running (cli_session.c) ---- */

/* Makes SIGINT, SIGTERM, SIGHUP and SIGPIPE end a run at its next safe point, so that it leaves nothing half-written; a
 * file that has reached its limit of size fails like a full disk. SIGHUP stays ignored where it is (nohup). */
void cli_catch_signals(void);
/* From here on a crash says in which unit it is. */
void cli_name_crashes(void);
/* From a signal handler: text on standard error; "cnnvp: INSTANCE: its unit WHAT CALLBACK" of the callback that runs
 * now, 0 where none does. */
void cli_say(const char *text);
int cli_name_running(const char *what);
/* 1 once one of them has come. */
int cli_was_interrupted(void);
/* 1 once it was SIGPIPE: standard output has no reader, and no message is printed. */
int cli_reader_gone(void);
/* The platform's options that they say. */
struct cnnvp_platform_options cli_platform_options_of(const struct cli_options *options);
/* Puts the text of statistics, which is NULL where `made` says so, into the files that the options name. */
CNNVP_MUST_USE cnnvp_result cli_write_statistics(const struct cli_options *options, cnnvp_result made,
                                                 char *const *json);
/* Says on standard error how a run ended that did not end well. */
void cli_report_end(const struct cnnvp_run_result *result);

/* Closes the trace; the result is that of the run unless that was DONE. NULL is fine. */
CNNVP_MUST_USE cnnvp_result cli_close_trace(cnnvp_platform *platform, cnnvp_result result);

/* Says what --check-results has found; the result is that of the run, or FAILED if that was DONE and a command was
 * wrong. NULL is fine. */
CNNVP_MUST_USE cnnvp_result cli_report_results(const struct cli_options *options, const cnnvp_platform *platform,
                                               cnnvp_result result);

/* ---- progress (cli_progress.c) ---- */

/* A line on standard error: on a terminal, unless `quiet`, from two seconds on. */
struct cli_progress {
    int on;
    double began;
    double shown; /* 0: not yet */
    double share;
};
void cli_progress_begin(struct cli_progress *progress, int quiet);
/* `share` of all that is done, 0 to 1, and what else to say; the time left follows from it. */
void cli_progress_show(struct cli_progress *progress, double share, const char *text);
/* Takes the line away, before anything else is printed; `end` for good. */
void cli_progress_clear(struct cli_progress *progress);
void cli_progress_end(struct cli_progress *progress);
/* Seconds since some time in the past. */
double cli_clock(void);
/* "1:02:03" or "2:03"; returns `text`. */
const char *cli_duration_text(char text[32], double seconds);
/* cnnvp_platform_run with such a line. */
CNNVP_MUST_USE cnnvp_result cli_platform_run(const struct cli_options *options, cnnvp_platform *platform,
                                             struct cnnvp_run_result *end);

/* ---- tables (cli_table.c) ---- */

/* Layers and totals of a stats.json text. */
CNNVP_MUST_USE cnnvp_result cli_print_layers(const char *json, FILE *stream);
CNNVP_MUST_USE cnnvp_result cli_print_totals(const char *json, int verbose, FILE *stream);
/* The functions of the core's program with most cycles; nothing where there is no profile. */
void cli_print_profile(cnnvp_platform *platform, FILE *stream);

/* So many pico-units, "s" or "J", with the prefix that suits; returns `text`. */
const char *cli_pico_text(char text[32], int digits, double value, const char *unit);
/* Picoseconds so. */
const char *cli_time_text(char text[32], double ps);
/* A number with commas, and bytes in B, kB, MB, ... of 1000. */
const char *cli_grouped(char text[32], int64_t value);
const char *cli_bytes_text(char text[32], int64_t bytes);
/* What begins a style on standard output: nothing where that is no terminal, unless --color says so (cli_options.c). */
enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM };
const char *cli_style(enum cli_style style);
/* Says that images were smaller than the network's input; nothing where they were not. */
void cli_print_centred(size_t height, size_t width, size_t network_height, size_t network_width, FILE *stream);

/* ---- parts of the off-chip memory (models_parts.c) ---- */

void cli_print_parts(FILE *stream);

/* ---- text for a terminal (cli_fold.c) ---- */

/* Lines of more than 100 columns go on below where their last column begins; columns have a gap of two spaces. */
void cli_print_folded(const char *text, FILE *stream);
/* The same in sections: what begins in the first column is a title. */
void cli_print_sections(const char *text, FILE *stream);

/* ---- advice on a run (advise.c): which single change of the platform or of the options would help it most, by its
 * objective: each parameter is doubled and halved, memories take each other part, and the network runs again, timing
 * only ---- */

/* `config` is resolved; the run has been planned with it. Prints a table of what helps, and writes it into `file`, for
 * the run's page; NULL: it has none. */
CNNVP_MUST_USE cnnvp_result advise(const struct cnnvp_run *run, const cnnvp_config *config, const char *file,
                                   FILE *stream, struct cnnvp_error *error);
/* Of a run with these statistics that was short: batches and maps on chip are tried, timing only. A line says which of
 * them is best by the objective, and what it gains; none, if nothing does. */
CNNVP_MUST_USE cnnvp_result advise_way(const struct cnnvp_run *run, const cnnvp_config *config, const char *statistics,
                                       FILE *stream, struct cnnvp_error *error);

/* ---- outputs beside labels and beside the float model's (accuracy.c) ---- */

/* Top-1 of the output and of the float model. */
void accuracy_print(const struct cnnvp_accuracy *accuracy, FILE *stream);
/* In words: SQNR, the largest difference relative to the largest magnitude, agreement of a classifier's top-1. `name`,
 * of one of several outputs, may be NULL. */
void accuracy_print_difference(const char *name, const struct cnnvp_difference *difference, FILE *stream);

/* An output with less than this is warned of. */
enum { ACCURACY_DECIBELS = 20 };
/* To standard error, where there is reason to. */
void accuracy_warn(const char *name, const struct cnnvp_difference *difference);

#endif
