/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that only rename or reshape a tensor; its words are not moved. */
#include <string.h>

#include "onnx_constant.h"

/* The output is the input. */
cnnvp_result cnnvp_operator_identity(struct cnnvp_import *import)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    return cnnvp_import_define(import, import->node->output[0], value);
}

/* Dropout is the identity without training_mode. With it and a ratio above 0 it is refused, by the training engine,
 * too, which cannot drop. */
cnnvp_result cnnvp_operator_dropout(struct cnnvp_import *import)
{
    float numbers[2] = {0.5f, 0.0f}; /* ratio, training_mode */
    for (size_t i = 0; i < 2; ++i)
        if (cnnvp_import_has(import, i + 1))
            CNNVP_TRY(cnnvp_import_number(import, i + 1, "input", 0, &numbers[i]));
    if ((numbers[0] < 0.0f || numbers[0] > 0.0f) && (numbers[1] < 0.0f || numbers[1] > 0.0f))
        return cnnvp_import_error(
            import, "training_mode drops at random; a ratio of 0 or training_mode=false is needed");
    return cnnvp_operator_identity(import);
}

/* ---- shapes ---- */

cnnvp_result cnnvp_words_read(struct cnnvp_import *import, struct cnnvp_words *words)
{
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    *words = (struct cnnvp_words){.tensor = CNNVP_GRAPH_NONE, .front = import->single != 0};
    if (value.constant == NULL) {
        CNNVP_TRY(cnnvp_import_any_rank(import, 0, &words->tensor));
        words->rank = cnnvp_import_all_dims(import, words->tensor, words->dims);
        return CNNVP_DONE;
    }
    CNNVP_TRY(cnnvp_constant_read(import, 0, &words->constant));
    words->front = 1;
    words->rank = (uint32_t)words->constant.rank + 1u;
    words->dims[0] = 1;
    memcpy(words->dims + 1, words->constant.dims, sizeof words->constant.dims);
    return CNNVP_DONE;
}

/* Defines the node's output as the same words with these dimensions; dims[0] is not used. */
static cnnvp_result give_view(struct cnnvp_import *import, const struct cnnvp_words *words, uint32_t rank,
                              const int64_t *dims)
{
    struct cnnvp_constant made = words->constant;
    if (words->tensor != CNNVP_GRAPH_NONE)
        return cnnvp_import_view(import, words->tensor, rank, dims);
    made.rank = rank - 1u;
    memcpy(made.dims, dims + 1, made.rank * sizeof *dims);
    return cnnvp_constant_define(import, &made);
}

cnnvp_result cnnvp_operator_flatten(struct cnnvp_import *import)
{
    struct cnnvp_words words;
    CNNVP_TRY(cnnvp_words_read(import, &words));
    const int64_t rank = words.rank, front = words.front;
    const int64_t named = cnnvp_onnx_int(import->node, "axis", 1);
    const int64_t axis = named + (named < 0 ? rank : front);
    if (axis < front || axis > rank)
        return cnnvp_import_error(
            import, "axis %lld is outside of %lld dimensions", (long long)named, (long long)(rank - front));
    if (front == 0 && axis != 1)
        return cnnvp_import_mixes(import, "an axis that is not 1");
    int64_t dims[3] = {0, 1, 1};
    for (int64_t i = 1; i < rank; ++i)
        dims[i < axis ? 1 : front + 1] *= words.dims[i];
    return give_view(import, &words, 2 + (uint32_t)front, dims);
}

/* Fills in 0 and -1 in the target shape of Reshape. dims[0] stands for the batch. */
static cnnvp_result resolve_shape(struct cnnvp_import *import, const struct cnnvp_words *words, size_t rank,
                                  int64_t *dims)
{
    const int constant = words->tensor == CNNVP_GRAPH_NONE;
    const int64_t count =
        (int64_t)(constant ? words->constant.count : cnnvp_graph_words(&import->graph->tensors[words->tensor]));
    const int zeros = constant && cnnvp_onnx_int(import->node, "allowzero", 0) != 0;
    const int batch_known = dims[0] == 0 || (import->batch != 0 ? dims[0] == import->batch : dims[0] == 1);
    if (dims[0] != -1 && !batch_known)
        return cnnvp_import_mixes(import, "a shape whose first number is neither the batch's nor 0 or -1");
    int64_t known = 1;
    size_t open = 0;
    for (size_t i = 1; i < rank; ++i) {
        if (i < words->rank && dims[i] == 0 && !zeros)
            dims[i] = words->dims[i];
        /* A size of 0 is accepted only if the input has no elements. */
        if (dims[i] == -1 && open == 0 && dims[0] != -1)
            open = i;
        else if (dims[i] < (count == 0 ? 0 : 1) || (known != 0 && dims[i] > INT32_MAX / known))
            return cnnvp_import_error(import, "number %zu of the shape is %lld", i, (long long)dims[i]);
        else
            known *= dims[i];
    }
    if (open != 0 && (known == 0 || count % known == 0)) {
        dims[open] = known != 0 ? count / known : 0;
        known *= dims[open];
    }
    if (known == count)
        return CNNVP_DONE;
    return cnnvp_import_error(import, "the shape holds %lld elements%s, the input has %lld", (long long)known,
                              constant ? "" : " an image", (long long)count);
}

cnnvp_result cnnvp_operator_reshape(struct cnnvp_import *import)
{
    struct cnnvp_words words;
    const Onnx__TensorProto *shape;
    CNNVP_TRY(cnnvp_words_read(import, &words));
    CNNVP_TRY(cnnvp_import_constant(import, 1, &shape));
    const size_t front = words.front;
    const size_t most = CNNVP_ONNX_RANK + (words.tensor == CNNVP_GRAPH_NONE);
    const size_t count = shape->n_dims == 1 && shape->dims[0] == 0 ? 0 : cnnvp_onnx_elements(shape);
    const size_t rank = count + front;
    int64_t dims[CNNVP_ONNX_RANK + 1] = {0, 1, 1, 1};
    struct cnnvp_error why;
    if (shape->n_dims == 1 && count == 1 && front == 0)
        return cnnvp_import_mixes(import, "a shape of one number");
    if (shape->n_dims != 1 || rank < 1 || rank > most)
        return cnnvp_import_error(import,
                                  "the shape has %zu dimensions; 2 to %zu are possible: (N, features), (N, C, W), "
                                  "(N, C, H, W), or more",
                                  count, most - front);
    if (count != 0 && cnnvp_onnx_ints(&import->onnx, shape, dims + front, count, &why) != CNNVP_DONE)
        return cnnvp_import_error(import, "%.900s", why.text);
    if (words.tensor != CNNVP_GRAPH_NONE && front == 0)
        CNNVP_TRY(cnnvp_import_check_shape(import, dims, count));
    CNNVP_TRY(resolve_shape(import, &words, rank, dims));
    return give_view(import, &words, (uint32_t)rank, dims);
}

cnnvp_result cnnvp_operator_squeeze(struct cnnvp_import *import)
{
    const int adds = import->kind;
    struct cnnvp_words words;
    int64_t axes[CNNVP_ONNX_RANK];
    int marked[2 * CNNVP_ONNX_RANK + 1] = {0};
    size_t count = 0;
    CNNVP_TRY(cnnvp_words_read(import, &words));
    CNNVP_TRY(cnnvp_import_list(import, "axes", 1, CNNVP_ONNX_RANK, axes, &count));
    const uint32_t rank = words.rank + (adds ? (uint32_t)count : 0);
    if (rank > CNNVP_ONNX_RANK + (words.tensor == CNNVP_GRAPH_NONE))
        return cnnvp_import_error(
            import, "the result has %u dimensions; up to %u are supported", rank - words.front, CNNVP_ONNX_RANK);
    if (!adds && count == 0 && words.front == 0 && import->batch == 1)
        return cnnvp_import_mixes(import, "a batch of 1 and no axes");
    for (size_t i = 0; i < count; ++i) {
        int64_t axis;
        CNNVP_TRY(cnnvp_words_axis(import, &words, rank, axes[i], &axis));
        if (adds && marked[axis])
            return cnnvp_import_error(import, "an axis is named twice");
        marked[axis] = 1;
    }
    int64_t dims[CNNVP_ONNX_RANK + 1] = {0, 1, 1, 1};
    uint32_t made = 1, next = 1;
    for (uint32_t i = 1; i < rank; ++i) {
        if (adds) {
            dims[made++] = marked[i] ? 1 : words.dims[next++];
            continue;
        }
        if (marked[i] && words.dims[i] != 1)
            return cnnvp_import_error(
                import, "dimension %u is %lld; only 1 can be squeezed", i - words.front, (long long)words.dims[i]);
        if (count != 0 ? !marked[i] : words.dims[i] != 1)
            dims[made++] = words.dims[i];
    }
    return give_view(import, &words, made, dims);
}

cnnvp_result cnnvp_operator_constant(struct cnnvp_import *import)
{
    const Onnx__AttributeProto *value = cnnvp_onnx_attribute(import->node, "value");
    const Onnx__TensorProto *tensor = value != NULL ? value->t : NULL;
    if (tensor == NULL) {
        /* since operator set 12: plain numbers */
        static const char *const names[] = {"value_float", "value_floats", "value_int", "value_ints"};
        size_t kind = 0;
        while (kind < 4 && (value = cnnvp_onnx_attribute(import->node, names[kind])) == NULL)
            ++kind;
        const int whole = kind >= 2;
        const int list = kind % 2 != 0;
        if (value == NULL || (!list && !(whole ? value->has_i : value->has_f)))
            return cnnvp_import_error(import, "the constant has no supported value: value, value_float(s) or "
                                              "value_int(s)");
        Onnx__TensorProto *made;
        Onnx__AttributeProto *numbers = (Onnx__AttributeProto *)(uintptr_t)value;
        const int64_t count = (int64_t)(whole ? value->n_ints : value->n_floats);
        CNNVP_TRY(cnnvp_import_new_constant(
            import, import->node->output[0],
            whole ? ONNX__TENSOR_PROTO__DATA_TYPE__INT64 : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, list ? 1 : 0, &count,
            &made));
        made->n_int64_data = whole ? (list ? value->n_ints : 1) : 0;
        made->int64_data = list ? numbers->ints : &numbers->i;
        made->n_float_data = whole ? 0 : (list ? value->n_floats : 1);
        made->float_data = list ? numbers->floats : &numbers->f;
        tensor = made;
    }
    return cnnvp_import_define_constant(import, import->node->output[0], tensor);
}
