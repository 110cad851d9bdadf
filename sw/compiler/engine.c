/* SPDX-License-Identifier: Apache-2.0 */
#include "engine.h"

#include <stdio.h>
#include <string.h>

#define LARGEST_NUMBER 65535u
#define BANK_ROWS 3u /* of windows, which the buffer delivers at once if each lies in a bank of its own */

/* The engines that the compiler knows. */
static const struct cnnvp_engine_kind *const kinds[] = {
    &cnnvp_engine_nfu,
    &cnnvp_engine_window,
};

uint32_t cnnvp_engine_inputs(const struct cnnvp_image_layer *layer)
{
    return layer->op == CNNVP_OP_FC ? layer->in.channels * layer->in.height * layer->in.width : layer->in.channels;
}

uint64_t cnnvp_engine_cycles(const struct cnnvp_engine *engine, const struct cnnvp_image_layer *layer,
                             const struct cnnvp_engine_slice *slice)
{
    const struct cnnvp_engine_work work = engine->kind->work(engine, layer, slice);
    uint64_t cycles = work.cycles;
    for (int port = 0; port < CNNVP_ENGINE_PORTS; ++port) {
        const int windows = port == CNNVP_ENGINE_INPUT && layer->op != CNNVP_OP_FC;
        const uint32_t width = windows ? engine->window_width : engine->width[port];
        /* An access that is not spread over cycles waits for none (models/buffer). */
        if (width == 0 || work.port[port].cycles == 0)
            continue;
        const uint64_t needed = cnnvp_divide_up(work.port[port].words, width);
        cycles += needed > work.port[port].cycles ? needed - work.port[port].cycles : 0;
    }
    return cycles;
}

static uint32_t number(const cnnvp_config *config, const char *name)
{
    uint64_t value = 0;
    const char *text = NULL;
    return config != NULL && cnnvp_config_get(config, name, &value, &text) == CNNVP_DONE ? (uint32_t)value : 0;
}

uint32_t cnnvp_engine_width(const cnnvp_config *config, enum cnnvp_engine_port port)
{
    static const char *const names[CNNVP_ENGINE_PORTS] = {"input_buffer.width_words", "weight_buffer.width_words",
                                                          "output_buffer.width_words"};
    return number(config, names[port]);
}

static void read_ports(const cnnvp_config *config, struct cnnvp_engine *engine)
{
    const uint32_t banks = number(config, "input_buffer.banks");
    for (int port = 0; port < CNNVP_ENGINE_PORTS; ++port)
        engine->width[port] = cnnvp_engine_width(config, (enum cnnvp_engine_port)port);
    engine->window_width = engine->width[CNNVP_ENGINE_INPUT];
    if (banks != 0 && banks < BANK_ROWS && engine->window_width != 0) {
        const uint32_t shared = engine->window_width * banks / BANK_ROWS;
        engine->window_width = shared != 0 ? shared : 1u;
    }
}

/* Reads the parameters of a kind. DONE, BAD_INPUT without a message where one is missing, FAILED with one. */
static cnnvp_result read_kind(const cnnvp_config *config, const struct cnnvp_engine_kind *kind,
                              struct cnnvp_engine *engine, struct cnnvp_error *error)
{
    *engine = (struct cnnvp_engine){.kind = kind};
    for (size_t i = 0; kind->parameters[i] != NULL; ++i) {
        char name[64];
        uint64_t value = 0;
        const char *text = NULL;
        snprintf(name, sizeof name, "pe_array.%s", kind->parameters[i]);
        if (cnnvp_config_get(config, name, &value, &text) != CNNVP_DONE)
            return CNNVP_BAD_INPUT;
        if (value < 1u || value > LARGEST_NUMBER) {
            (void)cnnvp_compiler_error(error, "%s: %llu is out of range: 1 to %u", name, (unsigned long long)value,
                                       LARGEST_NUMBER);
            return CNNVP_FAILED;
        }
        engine->number[i] = (uint32_t)value;
    }
    if (kind->more != NULL)
        kind->more(config, engine);
    read_ports(config, engine);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_engine_read(const cnnvp_config *config, struct cnnvp_engine *engine, struct cnnvp_error *error)
{
    char known[256] = "";
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        const cnnvp_result result = read_kind(config, kinds[k], engine, error);
        if (result == CNNVP_DONE)
            return CNNVP_DONE;
        if (result == CNNVP_FAILED)
            return CNNVP_BAD_INPUT;
        for (size_t i = 0; kinds[k]->parameters[i] != NULL; ++i) {
            const size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", i != 0 ? ", " : k != 0 ? "; " : "",
                     kinds[k]->parameters[i]);
        }
    }
    return cnnvp_compiler_error(
        error, "pe_array: networks need an array with the parameters of one of these engines: %s", known);
}
