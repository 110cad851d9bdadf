/* SPDX-License-Identifier: Apache-2.0 */
/* Finds networks by name: a file, or a network that is installed with the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cnnvp_network.h"
#include "compiler.h"
#include "network_data.h"
#include "onnx.h"
#include "plan_data.h"

#define SUFFIX ".onnx"

static const struct cnnvp_installed networks = {"networks", SUFFIX, "CNNVP_NETWORKS"};

static cnnvp_result take(const char *found, char *path, size_t room, struct cnnvp_error *error)
{
    const int size = snprintf(path, room, "%s", found);
    if (size >= 0 && (size_t)size < room)
        return CNNVP_DONE;
    return cnnvp_compiler_error(error, "%s: %s", cnnvp_config_show(found).text, strerror(ENAMETOOLONG));
}

/* Refuses a file that does not exist. If the file is NAME.onnx and a network NAME is installed, the message says so. */
static cnnvp_result refuse_file(struct cnnvp_arena *arena, const char *name, struct cnnvp_error *error)
{
    const char *reason = strerror(errno);
    const size_t length = cnnvp_before_ending(name, SUFFIX);
    const char *word = length != 0 ? cnnvp_arena_copy(arena, name, length) : NULL;
    const int installed = word != NULL && cnnvp_installed_find(arena, &networks, word) != NULL;
    return cnnvp_compiler_error(
        error, "%s: %s%s%s%s", name, reason, installed ? "; the installed one is called \"" : "", installed ? word : "",
        installed ? "\"" : "");
}

static cnnvp_result refuse_word(struct cnnvp_arena *arena, const char *word, struct cnnvp_error *error)
{
    struct cnnvp_suggest suggest;
    cnnvp_suggest_begin(&suggest, word);
    cnnvp_installed_offer(arena, &networks, &suggest);
    return cnnvp_compiler_error(error, "there is no file and no installed network %s%s", cnnvp_config_show(word).text,
                                cnnvp_suggest_text(&suggest, "installed are"));
}

cnnvp_result cnnvp_network_find(const char *name, char *path, size_t room, struct cnnvp_error *error)
{
    CNNVP_SCOPED(cnnvp_arena_free) struct cnnvp_arena arena = {0};
    struct stat status;
    const int bare = cnnvp_is_bare_name(name);
    const int there = stat(name, &status) == 0;
    if (there && !(bare && S_ISDIR(status.st_mode)))
        return take(name, path, room, error);
    if (!bare && *name != '\0')
        return refuse_file(&arena, name, error);
    const char *installed = bare ? cnnvp_installed_find(&arena, &networks, name) : NULL;
    return installed != NULL ? take(installed, path, room, error) : refuse_word(&arena, name, error);
}

uint64_t cnnvp_network_data_hash(const char *file)
{
    return cnnvp_onnx_data_hash(file);
}

const char *cnnvp_network_order_file(struct cnnvp_arena *arena, const char *plan)
{
    return cnnvp_plan_order_file(arena, plan);
}
