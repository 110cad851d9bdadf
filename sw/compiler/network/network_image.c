/* SPDX-License-Identifier: Apache-2.0 */
/* A network's image for cores that are not the platform's: the binary, a map of memory, and a C header. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "network.h"

#define NAME_BYTES 64

/* Makes a C name from the file's base name: letters, digits and _, in capitals. */
static void make_name(const char *file, char name[NAME_BYTES])
{
    const char *from = cnnvp_base_name(file);
    const size_t length = strcspn(from, ".");
    size_t used = 0;
    if (!isalpha((unsigned char)*from))
        name[used++] = 'N';
    for (size_t i = 0; i < length && used < NAME_BYTES - 1; ++i)
        name[used++] = (char)(isalnum((unsigned char)from[i]) ? toupper((unsigned char)from[i]) : '_');
    name[used] = '\0';
}

static void define(FILE *header, const char *name, const char *part, const char *what, unsigned long long value,
                   const char *help)
{
    (void)fprintf(header, value > 0xffff ? "#define %s%s_%s 0x%llxu" : "#define %s%s_%s %llu", name, part, what, value);
    (void)fprintf(header, *help ? " /* %s */\n" : "\n", help);
}

struct text {
    FILE *map, *header;
    const char *name;
};

/* Joined words have formats by their place in one dimension. */
static void define_fracs(const struct cnnvp_graph_tensor *of, const char *part, uint32_t bits, const struct text *to)
{
    static const char *const names[] = {"channel", "row", "column"};
    static const char *const kinds[] = {"", "_ROW", "_COLUMN"};
    const uint32_t sizes[] = {of->channels, of->height, of->width};
    (void)fprintf(to->header, "#define %s%s%s_FRACS {", to->name, part, kinds[of->fracs_by]);
    for (uint32_t i = 0; i < sizes[of->fracs_by]; ++i)
        (void)fprintf(to->header, "%s%d", i != 0 ? ", " : "", of->fracs[i]);
    (void)fprintf(to->header, "} /* by %s: a word, of %u bits in memory, is value * 2^FRACS[%s] */\n",
                  names[of->fracs_by], bits, names[of->fracs_by]);
}

/* Describes a tensor in memory, image after image: input or output number `index`. Names carry the number from the
 * second one on. */
static void describe(const struct cnnvp_network *network, int32_t number, const char *word, size_t index,
                     const struct text *to)
{
    char part[32];
    const int is_input = strcmp(word, "input") == 0;
    (void)snprintf(part, sizeof part, index == 0 ? "%s" : "%s_%zu", is_input ? "_INPUT" : "_OUTPUT", index + 1);
    const struct cnnvp_tensor *tensor = &network->build.tensors[number];
    const struct cnnvp_graph_tensor *of = &network->graph.tensors[number];
    const unsigned long long words = (unsigned long long)tensor->channels * tensor->height * tensor->width;
    (void)fprintf(to->map, "0x%08x 0x%08llx %s %s\n", tensor->address,
                  (unsigned long long)tensor->image_stride * network->images, word, of->name);
    (void)fputc('\n', to->header);
    define(to->header, to->name, part, "ADDRESS", tensor->address, "channel 0, row 0, column 0 of image 0");
    define(to->header, to->name, part, "CHANNELS", tensor->channels, "");
    define(to->header, to->name, part, "HEIGHT", tensor->height, "");
    define(to->header, to->name, part, "WIDTH", tensor->width, "");
    define(to->header, to->name, part, "WORDS", words * network->images, "of all images");
    if (of->fracs == NULL)
        (void)fprintf(to->header, "#define %s%s_FRAC %d /* a word, of %u bits in memory, is value * 2^FRAC */\n",
                      to->name, part, of->frac, 8u << tensor->word_shift);
    else
        define_fracs(of, part, 8u << tensor->word_shift, to);
    if (of->zero != 0)
        (void)fprintf(to->header, "#define %s%s_ZERO %d /* and its value is that of the file less this */\n", to->name,
                      part, of->zero);
    define(to->header, to->name, part, "ROW_STRIDE", tensor->row_stride, "words from a row to the next one");
    define(to->header, to->name, part, "CHANNEL_STRIDE", tensor->channel_stride, "words");
    define(to->header, to->name, part, "IMAGE_STRIDE", tensor->image_stride, "bytes");
}

/* Registers of units that the core must access. Address 0: there is no such unit. */
struct registers {
    const char *part, *of;
    uint32_t address;
};

enum { REGISTERS = 3 };

static void find_registers(const struct cnnvp_network *network, struct registers found[REGISTERS])
{
    const struct cnnvp_target_accelerator *accelerator = &network->target.accelerators[0];
    found[0] = (struct registers){"", "of the instruction element", accelerator->element};
    found[1] = (struct registers){"_SCHEDULER", "of the depth-first scheduler", accelerator->scheduler};
    found[2] = (struct registers){"_SCRATCHPAD", "of the scratchpad", accelerator->scratchpad};
}

/* Checks that no registers lie in the network's memory. On a foreign bus no platform checks that. */
static cnnvp_result check_registers(const struct cnnvp_network *network, struct cnnvp_error *error)
{
    const uint64_t begin = cnnvp_binary_begin(&network->build), end = cnnvp_binary_end(&network->build);
    struct registers found[REGISTERS];
    find_registers(network, found);
    for (size_t i = 0; i < REGISTERS; ++i)
        if (found[i].address != 0 && found[i].address >= begin && found[i].address < end)
            return cnnvp_compiler_error(
                error,
                "%s: the registers %s, at 0x%08x, lie in the network's memory, 0x%08llx to 0x%08llx: use another "
                "--base or -s UNIT.at=ADDRESS%s",
                network->file, found[i].of, (unsigned)found[i].address, (unsigned long long)begin,
                (unsigned long long)end,
                network->binary_options.issue == CNNVP_ISSUE_LIST
                    ? ", or a smaller dram.size, all of which --issue list takes"
                    : "");
    return CNNVP_DONE;
}

static void print(const struct cnnvp_network *network, const char *file, size_t size, const struct text *to)
{
    struct registers found[REGISTERS];
    const struct cnnvp_build *build = &network->build;
    const unsigned long long begin = cnnvp_binary_begin(build), zeros = begin + size;
    const unsigned long long end = cnnvp_binary_end(build);
    (void)fprintf(to->map, "# %s: address, bytes, what\n0x%08llx 0x%08zx load %s\n0x%08llx 0x%08llx zeros\n",
                  cnnvp_base_name(network->file), begin, size, cnnvp_base_name(file), zeros,
                  (unsigned long long)build->end - zeros);
    if (end > build->end)
        (void)fprintf(to->map, "0x%08llx 0x%08llx instructions, which stay for the next image\n",
                      (unsigned long long)build->end, end - (unsigned long long)build->end);
    (void)fprintf(to->header, "/* %s: %s, to be run by cnnvp_runtime_run. */\n", cnnvp_base_name(network->file),
                  cnnvp_base_name(file));
    define(to->header, to->name, "", "BASE", begin, "where the file lies in memory");
    define(to->header, to->name, "", "BYTES", size, "of the file; behind it memory is zero before the first run");
    define(to->header, to->name, "", "END", end, "memory from BASE to here is the network's");
    find_registers(network, found);
    for (size_t i = 0; i < REGISTERS; ++i)
        if (found[i].address != 0)
            define(to->header, to->name, found[i].part, "REGISTERS", found[i].address, found[i].of);
    define(to->header, to->name, "", "IMAGES", network->images, "");
    for (size_t i = 0; i < cnnvp_graph_inputs(&network->graph); ++i)
        describe(network, cnnvp_graph_input(&network->graph, i), "input", i, to);
    for (size_t i = 0; i < network->graph.output_count; ++i)
        describe(network, network->graph.outputs[i].tensor, "output", i, to);
}

static cnnvp_result print_texts(const struct cnnvp_network *network, const char *file,
                                struct cnnvp_network_image *image)
{
    char name[NAME_BYTES];
    struct cnnvp_printed map, header;
    make_name(file, name);
    const struct text to = {cnnvp_print_begin(&map), cnnvp_print_begin(&header), name};
    if (to.map != NULL && to.header != NULL)
        print(network, file, image->size, &to);
    image->map = cnnvp_print_end(&map);
    image->header = cnnvp_print_end(&header);
    return image->map != NULL && image->header != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

cnnvp_result cnnvp_network_make_image(const cnnvp_network *network, const char *file, struct cnnvp_network_image *image,
                                      struct cnnvp_error *error)
{
    *image = (struct cnnvp_network_image){NULL, 0, NULL, NULL};
    if (network->back_end != &cnnvp_inference)
        return cnnvp_compiler_error(
            error, "%s: the training engine's networks are for the platform's own core", network->file);
    if (network->target.accelerator_count > 1)
        return cnnvp_compiler_error(
            error,
            "%s: the platform has %u accelerators; a core of your own runs one with each binary: "
            "use a platform with one",
            network->file, network->target.accelerator_count);
    CNNVP_TRY(check_registers(network, error));
    image->size = cnnvp_binary_bytes(&network->graph, &network->build);
    image->binary = malloc(image->size);
    if (image->binary != NULL)
        cnnvp_binary_write(&network->graph, &network->build, image->binary);
    if (image->binary != NULL && print_texts(network, file, image) == CNNVP_DONE)
        return CNNVP_DONE;
    free(image->binary);
    free(image->map);
    free(image->header);
    *image = (struct cnnvp_network_image){NULL, 0, NULL, NULL};
    return cnnvp_compiler_no_memory(error);
}
