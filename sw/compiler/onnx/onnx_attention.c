/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of ONNX, operator sets 23 to 25: softmax(scale * Q * K' + mask) * V for each head, written as a rule
 * (onnx_rewrite.c). Keys and values of earlier positions, lengths, windows and the further outputs are nodes of it,
 * too.
 */
#include <math.h>

#include "onnx_text.h"

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

/* Inputs of Attention. */
enum { QUERIES, KEYS, VALUES, MASK, PAST_KEYS, PAST_VALUES, LENGTHS };

/* By the attribute qk_matmul_output_mode: what the fourth output is. */
enum { SCORES = 2 };
static const char *const stages[] = {"product", "capped", "scores", "shares"};

struct attention {
    size_t rank;           /* of the first three inputs: 4, or 3 with heads side by side in the last dimension */
    int64_t heads, few;    /* of queries; of keys and values */
    int64_t size;          /* words of a query's head */
    int64_t past;          /* earlier positions */
    int64_t rows, columns; /* queries; keys, earlier ones included */
    int chooses;           /* 1: the mask is boolean */
};

static cnnvp_result read_shapes(struct cnnvp_import *import, struct attention *attention)
{
    int64_t q[CNNVP_ONNX_RANK], k[CNNVP_ONNX_RANK], v[CNNVP_ONNX_RANK], past[CNNVP_ONNX_RANK] = {0};
    size_t rank, other;
    const int cached = cnnvp_import_has(import, PAST_KEYS);
    CNNVP_TRY(cnnvp_import_dims_of(import, QUERIES, &rank, q));
    CNNVP_TRY(cnnvp_import_dims_of(import, KEYS, &other, k));
    CNNVP_TRY(cnnvp_import_dims_of(import, VALUES, &other, v));
    const int64_t heads = rank == 4 ? q[1] : cnnvp_onnx_int(import->node, "q_num_heads", 0);
    const int64_t few = rank == 4 ? k[1] : cnnvp_onnx_int(import->node, "kv_num_heads", 0);
    if (rank != other || rank < 3 || rank > 4 || heads < 1 || few < 1 || heads % few != 0 ||
        q[rank - 1] % heads * (rank == 3) != 0)
        return cnnvp_import_error(
            import, "queries of %zu dimensions with %lld heads, keys of %zu with %lld are not supported", rank,
            (long long)heads, other, (long long)few);
    if (cached != cnnvp_import_has(import, PAST_VALUES) || (cached && cnnvp_import_has(import, LENGTHS)))
        return cnnvp_import_error(import, "past keys need past values, and no lengths");
    if (cached) {
        CNNVP_TRY(cnnvp_import_dims_of(import, PAST_KEYS, &other, past));
        if (other != 4)
            return cnnvp_import_error(import, "past keys of %zu dimensions; 4 are needed", other);
    }
    *attention = (struct attention){
        .rank = rank,
        .heads = heads,
        .few = few,
        .size = rank == 4 ? q[3] : q[2] / heads,
        .past = past[2],
        .rows = q[rank - 2],
        .columns = k[rank - 2] + past[2]};
    return CNNVP_DONE;
}

static cnnvp_result read_mask(struct cnnvp_import *import, struct attention *attention)
{
    struct cnnvp_onnx_value mask = {.tensor = CNNVP_GRAPH_NONE};
    if (!cnnvp_import_has(import, MASK))
        return CNNVP_DONE;
    CNNVP_TRY(cnnvp_import_value(import, MASK, &mask));
    const Onnx__TypeProto *type = mask.constant == NULL ? cnnvp_import_type(import, import->node->input[MASK]) : NULL;
    if (mask.constant == NULL && (type == NULL || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE))
        return cnnvp_import_error(
            import, "the file does not say the type of the mask \"%s\"", import->node->input[MASK]);
    attention->chooses = (mask.constant != NULL ? mask.constant->data_type : type->tensor_type->elem_type) ==
                         ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
    return CNNVP_DONE;
}

/* Moves heads in front of positions: `all`, behind those of the input `past` ('\0': none). With fewer heads than the
 * queries have, each of them is repeated. */
static void say_heads(struct cnnvp_text *text, const struct attention *attention, const char *name, char input,
                      char past, const char *all, int64_t heads)
{
    const int64_t times = attention->heads / heads;
    if (attention->rank == 3)
        say(text, "%sw = Reshape(%c, [0, 0, %lld, -1]); %sown = Transpose <perm = [0, 2, 1, 3]> (%sw);", name, input,
            (long long)heads, name, name);
    else
        say(text, "%sown = Identity(%c);", name, input);
    if (past != '\0')
        say(text, "%s = Concat <axis = 2> (%c, %sown);", all, past, name);
    else
        say(text, "%s = Identity(%sown);", all, name);
    if (times > 1)
        say(text,
            "%ss = Shape(%s); %sn = Slice(%ss, [2], [4]); %sb = Concat <axis = 0> ([0, %lld], %sn);"
            "%su = Unsqueeze(%s, [2]); %so = Concat <axis = 0> ([1, 1, %lld, 1, 1]); %se = Expand(%su, %so);"
            "%s = Reshape(%se, %sb);",
            name, all, name, name, name, (long long)attention->heads, name, name, all, name, (long long)times, name,
            name, name, name, name, name);
    else
        say(text, "%s = Identity(%s);", name, all);
}

/* Which keys each query sees: seen0, seen1, ... The queries stand behind the earlier positions, or are the last ones of
 * the length that an input gives. Returns how many conditions there are. */
static unsigned say_conditions(struct cnnvp_import *import, struct cnnvp_text *text, const struct attention *attention)
{
    const int64_t left = cnnvp_onnx_int(import->node, "left_window_size", -1),
                  right = cnnvp_onnx_int(import->node, "right_window_size", -1);
    const int causal = cnnvp_onnx_int(import->node, "is_causal", 0) != 0, ends = cnnvp_import_has(import, LENGTHS);
    const int64_t end = attention->past + attention->rows;
    unsigned count = 0;
    if (!causal && !ends && left < 0 && right < 0)
        return 0;
    say(text, "number = Range(0, %lld, 1); row = Range(%lld, %lld, 1); column = Unsqueeze(row, [1]);",
        (long long)attention->columns, (long long)attention->past, (long long)end);
    if (ends)
        say(text,
            "end = Unsqueeze(g, [1, 2, 3]); first = Sub(end, %lld); place = Add(column, first);"
            "seen%u = Less(number, end);",
            (long long)attention->rows, count++);
    else
        say(text, "place = Identity(column);");
    if (causal)
        say(text, "seen%u = LessOrEqual(number, place);", count++);
    if (left >= 0)
        say(text, "least = Sub(place, %lld); seen%u = GreaterOrEqual(number, least);", (long long)left, count++);
    if (right >= 0)
        say(text, "most = Add(place, %lld); seen%u = LessOrEqual(number, most);", (long long)right, count++);
    return count;
}

cnnvp_result cnnvp_operator_attention(struct cnnvp_import *import)
{
    struct cnnvp_text text = {.used = 0};
    struct attention attention;
    const Onnx__AttributeProto *scale = cnnvp_onnx_attribute(import->node, "scale");
    const float cap = cnnvp_onnx_float(import->node, "softcap", 0.0f);
    const int64_t stage = cnnvp_onnx_int(import->node, "qk_matmul_output_mode", 0);
    CNNVP_TRY(read_shapes(import, &attention));
    CNNVP_TRY(read_mask(import, &attention));
    const int cached = cnnvp_import_has(import, PAST_KEYS);
    say_heads(&text, &attention, "query", 'a', '\0', "queries", attention.heads);
    say_heads(&text, &attention, "key", 'b', cached ? 'e' : '\0', "z", attention.few);
    say_heads(&text, &attention, "value", 'c', cached ? 'f' : '\0', "w", attention.few);
    say(&text,
        "scaled = Mul(query, %.9f); turned = Transpose <perm = [0, 1, 3, 2]> (key);"
        "product = MatMul(scaled, turned);",
        scale != NULL && scale->has_f ? (double)scale->f : 1.0 / sqrt((double)attention.size));
    if (cap > 0.0f)
        say(&text, "parts = Mul(product, %.9f); bent = Tanh(parts); capped = Mul(bent, %.9f);", 1.0 / (double)cap,
            (double)cap);
    else
        say(&text, "capped = Identity(product);");
    say(&text,
        cnnvp_import_has(import, MASK) && !attention.chooses ? "added = Add(capped, d);" : "added = Identity(capped);");
    unsigned count = say_conditions(import, &text, &attention);
    if (attention.chooses)
        say(&text, "seen%u = Identity(d);", count++);
    for (unsigned i = 1; i < count; ++i)
        say(&text, "%s%u = And(seen%u, %s%u);", "kept", i, i, i > 1 ? "kept" : "seen", i - 1);
    if (count != 0) /* a query that sees nothing gets zeros */
        say(&text,
            "masked = Where(%s%u, 0.0, -1000000000.0); scores = Add(added, masked);"
            "weights = Softmax <axis = -1> (scores); hidden = IsNaN(weights);"
            "shares = Where(hidden, 0.0, weights);",
            count > 1 ? "kept" : "seen", count - 1);
    else
        say(&text, "scores = Identity(added); shares = Softmax <axis = -1> (scores);");
    if (stage < 0 || stage >= (int64_t)(sizeof stages / sizeof stages[0]))
        return cnnvp_import_error(import, "qk_matmul_output_mode is %lld; 0 to 3 are possible", (long long)stage);
    if (stage == SCORES && count != 0 && import->node->n_output > 3)
        return cnnvp_import_error(import, "its fourth output would have scores and masks, which no word holds both");
    say(&text, "x = Identity(%s);", stages[stage]);
    say(&text, attention.rank == 4 ? "y = MatMul(shares, value)"
                                   : "out = MatMul(shares, value); moved = Transpose <perm = [0, 2, 1, 3]> (out);"
                                     "y = Reshape(moved, [0, 0, -1])");
    return rewrite(import, &text);
}
