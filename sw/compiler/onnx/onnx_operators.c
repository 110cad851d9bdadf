/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators and the import of one node: which function imports it, and how it treats tensors if the whole
 * input is one image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_constant.h"

/* Most images for which an operator is imported image by image. */
#define IMAGES_MAX 64

static const struct cnnvp_import_operator operators[] = {
#define CNNVP_OPERATOR(operator, domain, where, words, form, function, kind) \
    {#operator,                                                              \
     CNNVP_DOMAIN_##domain,                                                  \
     CNNVP_WHERE_##where,                                                    \
     CNNVP_WORDS_##words,                                                    \
     CNNVP_FORM_##form,                                                      \
     cnnvp_operator_##function,                                              \
     kind,                                                                   \
     NULL},
#define CNNVP_RULE(operator, domain, where, words, rule) \
    {#operator, CNNVP_DOMAIN_##domain, CNNVP_WHERE_##where, CNNVP_WORDS_##words, CNNVP_FORM_ALL, NULL, 0, rule},
#include "operators.def"
};
enum { OPERATORS = sizeof operators / sizeof operators[0] };

int cnnvp_import_is_one_of(const char *op_type, const char *names)
{
    const size_t length = strlen(op_type);
    for (const char *at = strstr(names, op_type); at != NULL && length != 0; at = strstr(at + 1, op_type))
        if (at != names && at[-1] == ' ' && at[length] == ' ')
            return 1;
    return 0;
}

/* Operators that are not accelerated, and the reason. */
static const struct {
    const char *op_type, *why;
} refused[] = {
    {"NonMaxSuppression", "how many boxes it leaves depends on the data"},
    {"NonZero", "how many elements it finds depends on the data"},
    {"Compress", "how many elements it leaves depends on the data"},
    {"Unique", "how many elements it leaves depends on the data"},
    {"TopK", "it sorts"},
    {"Loop", "it repeats as often as the data say"},
    {"Scan", "it repeats a graph"},
    {"LSTM", "it repeats with a state"},
    {"GRU", "it repeats with a state"},
    {"RNN", "it repeats with a state"},
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

/* The first of the node's outputs that another node reads; NULL: none. */
static const char *read_later(const struct cnnvp_import *import)
{
    const Onnx__GraphProto *graph = import->onnx.model->graph;
    for (size_t output = 0; output < import->node->n_output; ++output)
        for (size_t i = 0; i < graph->n_node; ++i)
            for (size_t input = 0; input < graph->node[i]->n_input; ++input)
                if (strcmp(graph->node[i]->input[input], import->node->output[output]) == 0)
                    return import->node->output[output];
    return NULL;
}

/* Text for an error message: the options that end a run before the node (" --until NAME" for each tensor that it
 * reads), and the option that starts a run after it. */
static const char *around_node(const struct cnnvp_import *import, char text[768])
{
    size_t used = (size_t)snprintf(text, 768, "; to run what comes before it:");
    const size_t begin = used;
    for (size_t i = 0; i < import->node->n_input && !import->training; ++i) {
        const char *name = import->node->input[i];
        const int32_t tensor = cnnvp_import_known_tensor(import, name);
        if (tensor != CNNVP_GRAPH_NONE && used + 160 < 512 && !cnnvp_graph_is_input(import->graph, tensor))
            used += (size_t)snprintf(text + used, 768 - used, " --until %.140s", name);
    }
    if (used == begin)
        used = 0;
    text[used] = '\0';
    const char *later = import->training ? NULL : read_later(import);
    if (later != NULL)
        (void)snprintf(text + used, 768 - used, "; what comes after it: --from %.140s", later);
    return text;
}

static const struct domain {
    const char *names; /* each with a space on both sides */
    const char *who;
} domains[CNNVP_DOMAINS] = {
    [CNNVP_DOMAIN_ONNX] = {" ai.onnx ", ""},
    [CNNVP_DOMAIN_ONNXRUNTIME] = {" com.microsoft ", " of onnxruntime"},
    [CNNVP_DOMAIN_QONNX] = {" onnx.brevitas qonnx.custom_op.general finn.custom_op.general ", " of QONNX"}};

/* CNNVP_DOMAINS: an unknown domain. */
static enum cnnvp_import_domain domain_of(const Onnx__NodeProto *node)
{
    unsigned domain = CNNVP_DOMAIN_ONNX;
    if (node->domain != NULL && node->domain[0] != '\0')
        while (domain < CNNVP_DOMAINS && !cnnvp_import_is_one_of(node->domain, domains[domain].names))
            ++domain;
    return (enum cnnvp_import_domain)domain;
}

const struct cnnvp_import_operator *cnnvp_import_operator_of(const Onnx__NodeProto *node)
{
    const enum cnnvp_import_domain domain = domain_of(node);
    for (size_t i = 0; i < OPERATORS; ++i)
        if (operators[i].domain == domain && strcmp(node->op_type, operators[i].op_type) == 0)
            return &operators[i];
    return NULL;
}

static cnnvp_result find_operator(struct cnnvp_import *import, enum cnnvp_import_domain domain,
                                  const struct cnnvp_import_operator **found)
{
    size_t known = 0;
    char around[768] = "";
    *found = cnnvp_import_operator_of(import->node);
    if (*found != NULL)
        return CNNVP_DONE;
    for (size_t i = 0; i < REFUSED && domain == CNNVP_DOMAIN_ONNX; ++i)
        if (strcmp(refused[i].op_type, import->node->op_type) == 0)
            return cnnvp_import_error(import, "%s: this operator is no accelerator's business%s", refused[i].why,
                                      around_node(import, around));
    for (size_t i = 0; i < OPERATORS; ++i)
        known += operators[i].domain == domain;
    return cnnvp_import_error(import, "this operator%s is not supported; `cnnvp models onnx` lists the %zu that are%s",
                              domains[domain].who, known, around_node(import, around));
}

/* ---- the table of operators ---- */

static const char *print_name(FILE *stream, const char *separator, const char *name)
{
    (void)fprintf(stream, "%s%s", separator, name);
    return ", ";
}

/* Lists the operators of one domain that run in one place; -1: in any place. */
static void list_names(FILE *stream, const char *title, enum cnnvp_import_domain domain, int where)
{
    const char *separator = "  ";
    (void)fprintf(stream, "%s\n", title);
    for (size_t i = 0; i < OPERATORS; ++i)
        if (operators[i].domain == domain && (where < 0 || (int)operators[i].where == where))
            separator = print_name(stream, separator, operators[i].op_type);
    (void)fprintf(stream, "\n");
}

static void list_folding(FILE *stream)
{
    const char *separator = "  ";
    (void)fprintf(stream, "\nof constants and sizes, computed while the file is read\n");
    for (size_t i = 0; i < CNNVP_FOLDING; ++i)
        for (size_t j = 0; j < cnnvp_constant_folding[i]->count; ++j)
            separator = print_name(stream, separator, cnnvp_constant_folding[i]->list[j].op_type);
    (void)fprintf(stream, "\n");
}

cnnvp_result cnnvp_operators_text(char **text)
{
    struct cnnvp_printed printed;
    *text = NULL;
    FILE *stream = cnnvp_print_begin(&printed);
    if (stream == NULL)
        return CNNVP_FAILED;
    list_names(
        stream,
        "ONNX operators with convolutions, products or pools: on a PE array, or on the vector unit where that is "
        "faster or no array takes them",
        CNNVP_DOMAIN_ONNX, CNNVP_WHERE_ARRAY);
    list_names(stream, "\non the vector unit", CNNVP_DOMAIN_ONNX, CNNVP_WHERE_VECTOR);
    list_names(stream, "\nwithout a layer: they say how words are read", CNNVP_DOMAIN_ONNX, CNNVP_WHERE_NOWHERE);
    list_names(stream, "\nof onnxruntime (domain com.microsoft)", CNNVP_DOMAIN_ONNXRUNTIME, -1);
    list_names(stream, "\nof QONNX (domains qonnx.custom_op.general, onnx.brevitas, finn.custom_op.general)",
               CNNVP_DOMAIN_QONNX, -1);
    list_folding(stream);
    (void)fprintf(stream, "\nnone runs on the core; no accelerator's business (--until and --from cut it off)\n");
    for (size_t i = 0; i < REFUSED; ++i)
        (void)fprintf(stream, "  %-20s %s\n", refused[i].op_type, refused[i].why);
    *text = cnnvp_print_end(&printed);
    return *text != NULL ? CNNVP_DONE : CNNVP_FAILED;
}

/* ---- the operators of a file ---- */

static int can_import(const Onnx__ModelProto *model, const Onnx__NodeProto *node)
{
    return cnnvp_import_function_of(model, node) != NULL || cnnvp_import_operator_of(node) != NULL ||
           (domain_of(node) == CNNVP_DOMAIN_ONNX && cnnvp_constant_find(node->op_type) != NULL);
}

static cnnvp_result count_node(const Onnx__ModelProto *model, const Onnx__NodeProto *node,
                               struct cnnvp_onnx_operators *operators, struct cnnvp_error *error)
{
    size_t at = 0;
    const int known = can_import(model, node); /* operators of other domains may have the same name */
    while (at < operators->count &&
           (operators->all[at].known != known || strcmp(operators->all[at].op_type, node->op_type) != 0))
        ++at;
    if (at == operators->count) {
        struct cnnvp_onnx_operator *grown = cnnvp_grow(operators->all, operators->count, sizeof *grown);
        const char *op_type = grown != NULL ? cnnvp_arena_text(&operators->arena, node->op_type) : NULL;
        operators->all = grown != NULL ? grown : operators->all;
        CNNVP_TRY_MEMORY(op_type != NULL, error);
        operators->all[operators->count++] = (struct cnnvp_onnx_operator){op_type, 0, known};
    }
    ++operators->all[at].nodes;
    return CNNVP_DONE;
}

cnnvp_result cnnvp_onnx_operators(const char *file, struct cnnvp_onnx_operators *operators, struct cnnvp_error *error)
{
    struct cnnvp_onnx onnx;
    *operators = (struct cnnvp_onnx_operators){.count = 0};
    CNNVP_TRY(cnnvp_onnx_open(file, &onnx, error));
    cnnvp_result result = CNNVP_DONE;
    const Onnx__GraphProto *graph = onnx.model->graph;
    for (size_t i = 0; i < graph->n_node && result == CNNVP_DONE; ++i)
        if (graph->node[i]->op_type != NULL)
            result = count_node(onnx.model, graph->node[i], operators, error);
    cnnvp_onnx_close(&onnx);
    if (result != CNNVP_DONE)
        cnnvp_onnx_operators_clear(operators);
    return result;
}

void cnnvp_onnx_operators_clear(struct cnnvp_onnx_operators *operators)
{
    free(operators->all);
    cnnvp_arena_free(&operators->arena);
    *operators = (struct cnnvp_onnx_operators){.count = 0};
}

/* ---- the whole input as one image ---- */

/* The node's inputs that are tensors: their indices in import->values, and the tensors. */
struct inputs {
    size_t count;
    uint32_t values[16];
    int32_t tensors[16];
};

static cnnvp_result find_inputs(struct cnnvp_import *import, struct inputs *inputs)
{
    inputs->count = 0;
    for (size_t i = 0; i < import->node->n_input; ++i) {
        uint32_t number;
        if (!cnnvp_import_has(import, i) || !cnnvp_names_get(&import->names, import->node->input[i], &number) ||
            import->values[number].tensor == CNNVP_GRAPH_NONE)
            continue;
        if (inputs->count == sizeof inputs->values / sizeof inputs->values[0])
            return cnnvp_import_error(import, "it has more than %zu inputs", inputs->count);
        inputs->values[inputs->count] = number;
        inputs->tensors[inputs->count] = import->values[number].tensor;
        CNNVP_TRY(cnnvp_import_expanded(import, &inputs->tensors[inputs->count++]));
    }
    return CNNVP_DONE;
}

/* The number of images, which is the first dimension in the file. It must be the same for all inputs, as must be the
 * rank; 0 if not. */
static int64_t count_images(const struct cnnvp_import *import, const struct inputs *inputs)
{
    int64_t images = 0;
    uint32_t rank = 0;
    for (size_t i = 0; i < inputs->count; ++i) {
        int64_t dims[CNNVP_ONNX_RANK];
        const uint32_t own = cnnvp_import_all_dims(import, inputs->tensors[i], dims);
        if (own < 3 || (i != 0 && (dims[1] != images || own != rank)))
            return 0;
        images = dims[1];
        rank = own;
    }
    return images;
}

/* 1: a constant has its own first dimension, so it would have to be cut to apply to images one by one. */
static int constants_have_images(const struct cnnvp_import *import, const struct inputs *inputs)
{
    const uint32_t rank = inputs->count != 0 ? import->graph->tensors[inputs->tensors[0]].rank : 0;
    for (size_t i = 0; i < import->node->n_input && inputs->count != 0; ++i) {
        const Onnx__TensorProto *constant = cnnvp_import_known_constant(import, import->node->input[i]);
        if (constant != NULL && constant->n_dims + 1 >= rank && constant->dims[0] != 1)
            return 1;
    }
    return 0;
}

static cnnvp_result run(struct cnnvp_import *import, const struct cnnvp_import_operator *found)
{
    import->kind = found->kind;
    if (found->rule == NULL)
        return found->function(import);
    if (cnnvp_onnx_int(import->node, "channels_last", 0) != 0)
        return cnnvp_import_error(import, "channels_last=1 is not supported; 0 is");
    return cnnvp_import_rewrite(import, found->rule);
}

/* Imports the node for one image, as a batch of one. The inputs lose the leading dimension of 1; the outputs get it
 * back. */
static cnnvp_result run_image(struct cnnvp_import *import, const struct cnnvp_import_operator *found,
                              const struct inputs *inputs, int64_t image)
{
    int64_t dims[CNNVP_ONNX_RANK];
    cnnvp_result result = CNNVP_DONE;
    for (size_t i = 0; i < inputs->count && result == CNNVP_DONE; ++i) {
        int32_t part;
        const char *name = import->graph->tensors[inputs->tensors[i]].name;
        const uint32_t rank = cnnvp_import_all_dims(import, inputs->tensors[i], dims);
        result = cnnvp_import_cut(import, inputs->tensors[i], 1, image, 1, &part);
        if (result == CNNVP_DONE)
            result = cnnvp_import_shaped(import, name, part, rank - 1, dims + 1, &part);
        import->values[inputs->values[i]].tensor = part;
    }
    import->single = 0;
    if (result == CNNVP_DONE)
        result = run(import, found);
    import->single = 1;
    for (size_t i = 0; i < inputs->count; ++i)
        import->values[inputs->values[i]].tensor = inputs->tensors[i];
    for (size_t i = 0; i < import->node->n_output && result == CNNVP_DONE; ++i) {
        const char *name = import->node->output[i];
        struct cnnvp_onnx_value *value = cnnvp_import_known(import, name);
        if (value == NULL || value->tensor == CNNVP_GRAPH_NONE)
            continue;
        const uint32_t rank = cnnvp_import_all_dims(import, value->tensor, dims);
        if (rank == CNNVP_ONNX_RANK)
            return cnnvp_import_error(import, "the result has more than %u dimensions", CNNVP_ONNX_RANK - 1);
        memmove(dims + 1, dims, rank * sizeof *dims);
        dims[1] = 1;
        result = cnnvp_import_shaped(import, name, value->tensor, rank + 1, dims, &value->tensor);
    }
    return result;
}

/* Appends the image's number to the names of its layers. */
static cnnvp_result name_layers(struct cnnvp_import *import, size_t first, int64_t image)
{
    char name[256];
    struct cnnvp_graph *graph = import->graph;
    for (size_t i = first; i < graph->layer_count; ++i) {
        struct cnnvp_graph_layer *layer = &graph->layers[i];
        struct cnnvp_graph_tensor *out = &graph->tensors[layer->out];
        (void)snprintf(name, sizeof name, "%.200s.%lld", layer->name, (long long)image);
        layer->name = cnnvp_arena_text(&graph->arena, name);
        (void)snprintf(name, sizeof name, "%.200s.%lld", out->name, (long long)image);
        out->name = cnnvp_arena_text(&graph->arena, name);
        CNNVP_TRY_MEMORY(layer->name != NULL && out->name != NULL, import->error);
    }
    return CNNVP_DONE;
}

static cnnvp_result run_images(struct cnnvp_import *import, const struct cnnvp_import_operator *found,
                               const struct inputs *inputs, int64_t images)
{
    int32_t out = CNNVP_GRAPH_NONE;
    int64_t at = 0;
    if (images < 1 || images > IMAGES_MAX)
        return cnnvp_import_error(import,
                                  "it takes images one by one, and the whole input of this network is one (a node "
                                  "counts its first dimension like the others): up to %d are possible here",
                                  IMAGES_MAX);
    import->images = images;
    for (int64_t image = 0; image < images; ++image) {
        int64_t dims[CNNVP_ONNX_RANK];
        const size_t first = import->graph->layer_count;
        CNNVP_TRY(run_image(import, found, inputs, image));
        if (images == 1)
            return CNNVP_DONE;
        CNNVP_TRY(name_layers(import, first, image));
        const int32_t made = cnnvp_import_known_tensor(import, import->node->output[0]);
        if (made == CNNVP_GRAPH_NONE)
            return CNNVP_DONE;
        const uint32_t rank = cnnvp_import_all_dims(import, made, dims);
        dims[1] = images;
        if (image == 0)
            CNNVP_TRY(cnnvp_import_new_tensor(import, import->node->output[0], rank, dims, &out));
        CNNVP_TRY(cnnvp_import_append(import, made, out, 1, &at));
    }
    return cnnvp_import_alias(import, import->node->output[0], out);
}

static cnnvp_result run_single(struct cnnvp_import *import, const struct cnnvp_import_operator *found)
{
    struct inputs inputs;
    if (found->form == CNNVP_FORM_ALL)
        return run(import, found);
    if (cnnvp_import_has_computed_weights(import))
        return cnnvp_import_convolve(import);
    CNNVP_TRY(find_inputs(import, &inputs));
    /* no tensor inputs: the network computes constants, for each image */
    const int64_t images = inputs.count != 0 ? count_images(import, &inputs) : 1;
    if (found->form == CNNVP_FORM_WORDS)
        return images == 1 && inputs.count != 0 && !constants_have_images(import, &inputs)
                   ? run_image(import, found, &inputs, 0)
                   : run(import, found);
    return run_images(import, found, &inputs, images);
}

/* Refuses an attribute of ONNX's operators whose value has another type than those of that name have. */
static cnnvp_result check_attributes(struct cnnvp_import *import)
{
    static const struct {
        Onnx__AttributeProto__AttributeType type;
        const char *text;
        const char *names;
    } types[] = {
        {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, "a float",
         " alpha beta gamma epsilon lambd bias cubic_coeff_a "},
        {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, "an integer",
         " axis keepdims group transA transB ceil_mode count_include_pad blocksize batch_dims num_groups exclusive "
         "reverse align_corners "},
        {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS, "a list of integers",
         " axes pads strides dilations kernel_shape perm output_padding "},
        {ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING, "a text",
         " auto_pad mode nearest_mode coordinate_transformation_mode padding_mode equation reduction approximate "},
    };
    for (size_t i = 0; i < import->node->n_attribute; ++i) {
        const Onnx__AttributeProto *attribute = import->node->attribute[i];
        for (size_t t = 0; t < sizeof types / sizeof types[0] && attribute->name != NULL; ++t)
            if (attribute->has_type && attribute->type != types[t].type &&
                cnnvp_import_is_one_of(attribute->name, types[t].names))
                return cnnvp_import_error(import, "attribute %s is not %s", attribute->name, types[t].text);
    }
    return CNNVP_DONE;
}

static cnnvp_result import_one(struct cnnvp_import *import, const Onnx__NodeProto *node)
{
    if (node->op_type == NULL || node->n_output == 0 || node->output[0][0] == '\0')
        return cnnvp_import_error(import, "a node needs an operator and an output");
    int done = 0;
    CNNVP_TRY(cnnvp_import_call(import, &done));
    if (done)
        return CNNVP_DONE;
    const enum cnnvp_import_domain domain = domain_of(node);
    if (domain == CNNVP_DOMAINS)
        return cnnvp_import_error(import,
                                  "operators of domain \"%s\" are not supported; those of ONNX itself, onnxruntime and "
                                  "QONNX are, and functions of the file",
                                  node->domain);
    struct cnnvp_graph_tensor like;
    const struct cnnvp_import_operator *found;
    if (domain == CNNVP_DOMAIN_ONNX)
        CNNVP_TRY(check_attributes(import));
    CNNVP_TRY(cnnvp_import_fold(import, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_check_counts(import));
    CNNVP_TRY(find_operator(import, domain, &found));
    CNNVP_TRY(cnnvp_import_without_elements(import, found, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_as_numbers(import, &done));
    if (done)
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_check_whole(import, &like));
    CNNVP_TRY(import->single ? run_single(import, found) : run(import, found));
    if (like.whole != 0)
        cnnvp_import_pass_whole(import, &like);
    return CNNVP_DONE;
}

cnnvp_result cnnvp_import_node(struct cnnvp_import *import, const Onnx__NodeProto *node)
{
    import->node = node;
    CNNVP_TRY(import_one(import, node));
    import->node = node;
    cnnvp_import_mark_kind(import);
    return CNNVP_DONE;
}
