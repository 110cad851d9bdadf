/* SPDX-License-Identifier: Apache-2.0 */
/* Attention and rotary embeddings, as rules that depend on shapes. */
#include <math.h>

#include "onnx_text.h"

/* Moves heads in front of positions; a tensor of 3 dimensions has them side by side in the last one. With fewer key and
 * value heads than query heads, each of them is repeated `times` times. */
static void say_heads(struct cnnvp_text *text, const char *name, char input, size_t rank, int64_t heads, int64_t times)
{
    const char *last = times > 1 ? "few" : "";
    if (rank == 3)
        say(text, "%sw = Reshape(%c, [0, 0, %lld, -1]); %s%s = Transpose <perm = [0, 2, 1, 3]> (%sw);", name, input,
            (long long)heads, name, last, name);
    else
        say(text, "%s%s = Identity(%c);", name, last, input);
    if (times > 1) /* repeats each head */
        say(text,
            "%ss = Shape(%sfew); %sn = Slice(%ss, [2], [4]); %sb = Concat <axis = 0> ([0, %lld], %sn);"
            "%su = Unsqueeze(%sfew, [2]); %so = Concat <axis = 0> ([1, 1, %lld, 1, 1]); %se = Expand(%su, %so);"
            "%s = Reshape(%se, %sb);",
            name, name, name, name, name, (long long)heads * times, name, name, name, name, (long long)times, name,
            name, name, name, name, name);
}

/* Turns pairs of a head's words by the angles of their position: x * cosine + (the other one of the pair) * (-sine for
 * the first, sine for the second). kind 1: onnxruntime's operator, whose positions come before the cosines. */
cnnvp_result cnnvp_operator_rotary(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    int64_t dims[CNNVP_ONNX_RANK], places[CNNVP_ONNX_RANK] = {0};
    size_t rank, place_rank = 2;
    const int vendor = import->kind != 0;
    const int has_places = cnnvp_import_has(import, vendor ? 1 : 3);
    const int64_t heads = cnnvp_onnx_int(import->node, "num_heads", 0);
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, dims));
    if (has_places)
        CNNVP_TRY(cnnvp_import_dims_of(import, vendor ? 1 : 3, &place_rank, places));
    if (rank < 3 || rank > 4 || (rank == 3 && (heads < 1 || dims[2] % heads != 0)))
        return cnnvp_import_error(import,
                                  "%zu dimensions with num_heads=%lld are not supported; 4, or 3 with a number "
                                  "of heads that divides the last one, are",
                                  rank, (long long)heads);
    const int64_t size = rank == 4 ? dims[3] : dims[2] / heads;
    const int64_t given = cnnvp_onnx_int(import->node, "rotary_embedding_dim", 0);
    const int64_t turned = given != 0 ? given : size;
    const float scale = cnnvp_onnx_float(import->node, "scale", 1.0f);
    if (turned < 2 || turned > size || turned % 2 != 0 || scale < 1.0f || scale > 1.0f ||
        cnnvp_onnx_int(import->node, "is_packed_batching", 0) != 0)
        return cnnvp_import_error(import,
                                  "rotary_embedding_dim=%lld of %lld words, a scale other than 1 or packed "
                                  "batches are not supported",
                                  (long long)given, (long long)size);
    if (rank == 3)
        say(&text, "whole = Reshape(a, [0, 0, %lld, -1]);", (long long)heads);
    else
        say(&text, "whole = Identity(a);");
    if (has_places && place_rank == 1) /* of the first position */
        say(&text, "count = Range(0, %lld, 1); flat = Add(count, b); place = Unsqueeze(flat, [0]);",
            (long long)dims[rank - 2]);
    else if (has_places)
        say(&text, "place = Identity(%c);", vendor ? 'b' : 'd');
    for (int i = 0; i < 2; ++i)
        say(&text, has_places ? "rows%d = Gather <axis = 0> (%c, place);" : "rows%d = Identity(%c);", i,
            (vendor ? 'c' : 'b') + i);
    say(&text, "cos = Unsqueeze(rows0, [%d]); sin = Unsqueeze(rows1, [%d]); minus = Neg(sin);", rank == 3 ? 2 : 1,
        rank == 3 ? 2 : 1);
    if (cnnvp_onnx_int(import->node, "interleaved", 0) != 0)
        say(&text,
            "first = Slice(whole, [0], [%lld], [3], [2]); second = Slice(whole, [1], [%lld], [3], [2]);"
            "first1 = Unsqueeze(first, [4]); second1 = Unsqueeze(second, [4]); cos1 = Unsqueeze(cos, [4]);"
            "minus1 = Unsqueeze(minus, [4]); sin1 = Unsqueeze(sin, [4]); other1 = Concat <axis = 4> (second1, first1);"
            "cos2 = Concat <axis = 4> (cos1, cos1); sin2 = Concat <axis = 4> (minus1, sin1);"
            "other = Reshape(other1, [0, 0, 0, -1]); cosine = Reshape(cos2, [0, 0, 0, -1]);"
            "sine = Reshape(sin2, [0, 0, 0, -1]);",
            (long long)turned, (long long)turned);
    else
        say(&text,
            "first = Slice(whole, [0], [%lld], [3]); second = Slice(whole, [%lld], [%lld], [3]);"
            "other = Concat <axis = 3> (second, first); cosine = Concat <axis = 3> (cos, cos);"
            "sine = Concat <axis = 3> (minus, sin);",
            (long long)turned / 2, (long long)turned / 2, (long long)turned);
    say(&text, turned < size ? "part = Slice(whole, [0], [%lld], [3]);" : "part = Identity(whole);", (long long)turned);
    say(&text, "own = Mul(part, cosine); moved = Mul(other, sine); made = Add(own, moved);");
    if (turned < size)
        say(&text, "rest = Slice(whole, [%lld], [%lld], [3]); all = Concat <axis = 3> (made, rest);", (long long)turned,
            (long long)size);
    else
        say(&text, "all = Identity(made);");
    say(&text, rank == 3 ? "y = Reshape(all, [0, 0, -1])" : "y = Identity(all)");
    return rewrite(import, &text);
}

/* softmax(scale * Q * K' + mask) * V for each head. */
cnnvp_result cnnvp_operator_attention(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    int64_t q[CNNVP_ONNX_RANK], k[CNNVP_ONNX_RANK], v[CNNVP_ONNX_RANK];
    size_t rank, other;
    struct cnnvp_onnx_value mask = {.tensor = CNNVP_GRAPH_NONE};
    const Onnx__AttributeProto *scale = cnnvp_onnx_attribute(import->node, "scale");
    const float cap = cnnvp_onnx_float(import->node, "softcap", 0.0f);
    CNNVP_TRY(cnnvp_import_dims_of(import, 0, &rank, q));
    CNNVP_TRY(cnnvp_import_dims_of(import, 1, &other, k));
    CNNVP_TRY(cnnvp_import_dims_of(import, 2, &other, v));
    const int64_t heads = rank == 4 ? q[1] : cnnvp_onnx_int(import->node, "q_num_heads", 0);
    const int64_t few = rank == 4 ? k[1] : cnnvp_onnx_int(import->node, "kv_num_heads", 0);
    if (rank != other || rank < 3 || rank > 4 || heads < 1 || few < 1 || heads % few != 0 ||
        q[rank - 1] % heads * (rank == 3) != 0)
        return cnnvp_import_error(
            import, "queries of %zu dimensions with %lld heads, keys of %zu with %lld are not supported", rank,
            (long long)heads, other, (long long)few);
    if (import->node->n_output > 1 || cnnvp_import_has(import, 4) || cnnvp_import_has(import, 6))
        return cnnvp_import_error(import, "past or present keys, lengths and further outputs are not supported");
    if (cnnvp_import_has(import, 3))
        CNNVP_TRY(cnnvp_import_value(import, 3, &mask));
    const int64_t size = rank == 4 ? q[3] : q[2] / heads;
    say_heads(&text, "query", 'a', rank, heads, 1);
    say_heads(&text, "key", 'b', rank, few, heads / few);
    say_heads(&text, "value", 'c', rank, few, heads / few);
    say(&text, "scaled = Mul(query, %.9f); turned = Transpose <perm = [0, 1, 3, 2]> (key);",
        scale != NULL && scale->has_f ? (double)scale->f : 1.0 / sqrt((double)size));
    say(&text,
        cap > 0.0f ? "sums = MatMul(scaled, turned); parts = Mul(sums, %.9f); bent = Tanh(parts);"
                     "scores0 = Mul(bent, %.9f);"
                   : "scores0 = MatMul(scaled, turned);",
        1.0 / (double)cap, (double)cap);
    int steps = 0;
    const Onnx__TypeProto *type =
        mask.constant == NULL && cnnvp_import_has(import, 3) ? cnnvp_import_type(import, import->node->input[3]) : NULL;
    if (mask.tensor != CNNVP_GRAPH_NONE && (type == NULL || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE))
        return cnnvp_import_error(import, "the file does not say the type of the mask \"%s\"", import->node->input[3]);
    const int kind = mask.constant != NULL ? mask.constant->data_type : type != NULL ? type->tensor_type->elem_type : 0;
    if (kind == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL)
        say(&text, "masked = Where(d, 0.0, -1000000000.0); scores%d = Add(scores0, masked);", ++steps);
    else if (cnnvp_import_has(import, 3))
        say(&text, "scores%d = Add(scores0, d);", ++steps);
    if (cnnvp_onnx_int(import->node, "is_causal", 0) != 0) {
        say(&text,
            "rows = Range(0, %lld, 1); column = Unsqueeze(rows, [1]); all = Range(0, %lld, 1);"
            "seen = LessOrEqual(all, column); later = Where(seen, 0.0, -1000000000.0);",
            (long long)q[rank - 2], (long long)k[rank - 2]);
        say(&text, "scores%d = Add(scores%d, later);", steps + 1, steps);
        ++steps;
    }
    say(&text, "shares = Softmax <axis = -1> (scores%d);", steps);
    say(&text, rank == 4 ? "y = MatMul(shares, value)"
                         : "out = MatMul(shares, value); moved = Transpose <perm = [0, 2, 1, 3]> (out);"
                           "y = Reshape(moved, [0, 0, -1])");
    return rewrite(import, &text);
}
