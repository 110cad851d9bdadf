/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options of a command (options.def), and checks the files that they name. */
#include "cli.h"
#include "base.h"
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- styles ---- */

enum { AUTO, ALWAYS, NEVER }; /* as in options.def */

static int color;

const char *cli_style(enum cli_style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[2m"};
    const char *off = getenv("NO_COLOR");
    const int wanted = color == ALWAYS || (color == AUTO && isatty(STDOUT_FILENO) && (off == NULL || !*off));
    return wanted ? codes[style] : "";
}

/* ---- options ---- */

/* An option without a letter has this plus its table index as its key. */
enum { FIRST_KEY = 0x100 };

/* The argp options of a command; NULL: it has none (argp does not accept an empty table). */
static const struct argp_option *option_table(const char *command)
{
    enum { MOST = 100 };
    static struct argp_option table[MOST];
    static char words[MOST][64];
    size_t count = 0;
    for (size_t i = 0; i < cnnvp_command_option_count && count + 1u < MOST; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        if (!cnnvp_command_option_is_of(option, command, 0))
            continue;
        table[count] = (struct argp_option){
            .name = cnnvp_command_option_word(option, words[count]),
            .key = option->letter ? option->letter : FIRST_KEY + (int)i,
            .arg = option->argument != NULL ? option->argument : option->choices,
            .doc = option->help,
            .group = option->group};
        ++count;
    }
    table[count] = (struct argp_option){0};
    return count > 0 ? table : NULL;
}

static const struct cnnvp_command_option *option_of(const char *command, int key)
{
    for (size_t i = 0; i < cnnvp_command_option_count; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        if (key == (option->letter ? option->letter : FIRST_KEY + (int)i) &&
            cnnvp_command_option_is_of(option, command, 0))
            return option;
    }
    return NULL;
}

error_t cli_parse_option(int key, char *arg, struct argp_state *state)
{
    struct cli_options *options = state->input;
    if (options->all.command == NULL)
        return ARGP_ERR_UNKNOWN; /* the command has no options */
    if (key == ARGP_KEY_END && cnnvp_options_check(&options->all, &cli_error) != CNNVP_DONE)
        cli_usage(state, "%s", cli_error.text);
    color = options->all.color;
    const struct cnnvp_command_option *option = option_of(options->all.command, key);
    if (option == NULL)
        return ARGP_ERR_UNKNOWN;
    if (cnnvp_options_set(&options->all, option->name, arg != NULL ? arg : "true", &cli_error) != CNNVP_DONE)
        cli_usage(state, "%s", cli_error.text);
    return 0;
}

error_t cli_parse_words(int key, char *arg, struct argp_state *state)
{
    struct cli_options *options = state->input;
    const struct cli_command *command = options->command;
    if (key == ARGP_KEY_END && options->word_count == 0 && command->argument != NULL)
        cli_usage(state, "which %s? %s is missing", command->what, command->argument);
    if (key != ARGP_KEY_ARG)
        return cli_parse_option(key, arg, state);
    if (options->word_count > 0 && options->word_count >= command->most)
        cli_usage(state, "one %s is expected, not also %s", command->what, arg);
    options->words[options->word_count++] = arg;
    options->file = options->words[0];
    return 0;
}

static void clear(struct cli_options *options)
{
    free((void *)options->words);
    free(options->report_stats);
    free(options->report_series);
    free(options->report_advice);
    if (options->report_made)
        (void)rmdir(options->all.report); /* succeeds only if it is empty */
    cnnvp_options_clear(&options->all);
}

int cli_run_command(const struct cli_command *command, int argc, char **argv)
{
    static char name[32];
    const struct argp argp = {.options = option_table(command->name),
                              .parser = command->parse != NULL ? command->parse : cli_parse_words,
                              .args_doc = command->args_doc,
                              .doc = command->doc};
    CNNVP_SCOPED(clear) struct cli_options options = {.command = command};
    if (command->task != NULL && argc == 3 && strcmp(argv[1], "--task") == 0)
        return (int)command->task(argv[2]);
    options.words = calloc((size_t)argc + 1, sizeof *options.words);
    if (options.words == NULL)
        return (int)cli_no_memory();
    (void)snprintf(name, sizeof name, "cnnvp %s", command->name);
    cnnvp_options_init(&options.all, command->name);
    cli_parse(&argp, name, 0, argc, argv, &options);
    return (int)command->run(&options);
}

/* Creates a folder and its parents; *made: the folder did not exist. */
static int make_folders(const char *folder, int *made)
{
    CNNVP_FREED char *path = strdup(folder);
    struct stat status;
    if (path == NULL)
        return 0;
    for (size_t length = strlen(path); length > 1 && path[length - 1u] == '/'; --length)
        path[length - 1u] = '\0';
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
    *made = mkdir(folder, 0777) == 0;
    return *made || (errno == EEXIST && stat(folder, &status) == 0 && S_ISDIR(status.st_mode));
}

/* Creates the folder of --report, which gets statistics, a trace in .series form, and advice. */
static cnnvp_result open_report(struct cli_options *options)
{
    if (options->all.report == NULL)
        return CNNVP_DONE;
    if (!*options->all.report)
        return cli_bad("--report: the name of a folder is expected");
    if (!make_folders(options->all.report, &options->report_made))
        return cli_bad("--report: %s cannot be made: %s", options->all.report, strerror(errno));
    options->report_stats = cnnvp_text_printf("%s/stats.json", options->all.report);
    options->report_series = cnnvp_text_printf("%s/run.series", options->all.report);
    options->report_advice = cnnvp_text_printf("%s/advice.json", options->all.report);
    return options->report_stats != NULL && options->report_series != NULL && options->report_advice != NULL
               ? CNNVP_DONE
               : cli_no_memory();
}

/* A checkpoint may overwrite the one that training resumes from, since that has been read by then. */
static int is_replaced(const struct cnnvp_options *options, const char *file)
{
    return file == options->resume && options->checkpoint != NULL && strcmp(file, options->checkpoint) == 0;
}

/* Adds the files of a data set FORM:FILE,FILE... The function modifies `text`; NULL: no data set. */
static void add_dataset(const char *option, char *text, struct cli_named_file *files, size_t *count)
{
    char *rest = NULL, *first = text != NULL ? strchr(text, ':') : NULL;
    for (char *file = first != NULL ? strtok_r(first, ":,", &rest) : NULL; file != NULL;
         file = strtok_r(NULL, ",", &rest))
        files[(*count)++] = (struct cli_named_file){option, file, 0};
}

static size_t commas_in(const char *text)
{
    size_t count = 0;
    for (; text != NULL && (text = strchr(text, ',')) != NULL; ++text)
        ++count;
    return count;
}

cnnvp_result cli_check_command_files(struct cli_options *options)
{
    CNNVP_TRY(open_report(options));
    const char *const sets[] = {options->all.dataset, options->all.eval};
    CNNVP_FREED char *dataset = sets[0] != NULL ? strdup(sets[0]) : NULL;
    CNNVP_FREED char *evaluation = sets[1] != NULL ? strdup(sets[1]) : NULL;
    CNNVP_FREED struct cli_named_file *files =
        calloc(cnnvp_command_option_count + options->all.input.count + options->all.output.count + 3u +
                   commas_in(sets[0]) + commas_in(sets[1]),
               sizeof *files);
    CNNVP_FREED char(*words)[66] = calloc(cnnvp_command_option_count, sizeof *words);
    size_t count = 0, name;
    if (files == NULL || words == NULL)
        return cli_no_memory();
    for (size_t i = 0; i < cnnvp_command_option_count; ++i) {
        const struct cnnvp_command_option *option = &cnnvp_command_option_table[i];
        const int is_output = option->type == CNNVP_OPTION_OUT || option->type == CNNVP_OPTION_OUTS;
        const char *file;
        if ((!is_output && option->type != CNNVP_OPTION_FILE && option->type != CNNVP_OPTION_INPUTS) ||
            !cnnvp_command_option_is_of(option, options->all.command, 0))
            continue;
        memcpy(words[i], "--", 2);
        (void)cnnvp_command_option_word(option, words[i] + 2);
        for (size_t n = 0; (file = cnnvp_options_text(&options->all, option, n)) != NULL; ++n)
            if (!is_output && !*file && strchr(option->argument, '|') == NULL) /* presets have another message */
                return cli_bad("%s: the name of a file is expected", words[i]);
            else if (!is_replaced(&options->all, file))
                files[count++] = (struct cli_named_file){
                    words[i], option->type == CNNVP_OPTION_INPUTS ? cnnvp_input_file(file, &name) : file, is_output};
    }
    add_dataset("--dataset", dataset, files, &count);
    add_dataset("--eval", evaluation, files, &count);
    files[count++] = (struct cli_named_file){"", options->file, 0};
    files[count++] = (struct cli_named_file){"--report", options->report_stats, 1};
    files[count++] = (struct cli_named_file){"--report", options->report_series, 1};
    files[count++] = (struct cli_named_file){"--report", options->report_advice, 1};
    return cli_check_files(files, count);
}

cnnvp_result cli_configure(const struct cli_options *options, cnnvp_config **config)
{
    const struct cnnvp_options *all = &options->all;
    const char *platform = all->platform != NULL ? all->platform : cnnvp_command_platform(all->command);
    CNNVP_TRY(cli_report(cnnvp_config_new(platform, config, &cli_error)));
    for (size_t i = 0; i < all->set.count; ++i)
        CNNVP_TRY(cli_report(cnnvp_config_set(*config, all->set.texts[i], &cli_error)));
    CNNVP_TRY(cli_report(cnnvp_config_resolve(*config, &cli_error)));
    struct cnnvp_error warning;
    for (size_t i = 0; cnnvp_config_in_vain(*config, i, &warning); ++i)
        cli_message("warning: %s", warning.text);
    return CNNVP_DONE;
}
