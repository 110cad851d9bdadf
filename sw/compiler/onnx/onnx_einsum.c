/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum of one or two operands, as a rule. */
#include <ctype.h>
#include <string.h>

#include "onnx_text.h"

enum { LABELS = 2 * CNNVP_ONNX_RANK };

/* Letters of the operands and of the result, and the size of each letter. */
struct einsum {
    char operands[2][LABELS + 1], result[LABELS + 1];
    size_t count;
    int64_t sizes[256];
};

static cnnvp_result read_einsum(struct cnnvp_import *import, struct einsum *einsum)
{
    const Onnx__AttributeProto *equation = cnnvp_onnx_attribute(import->node, "equation");
    const size_t length = equation != NULL && equation->has_s ? equation->s.len : 0;
    size_t used = 0;
    *einsum = (struct einsum){.count = import->node->n_input};
    char *to = einsum->operands[0];
    for (size_t i = 0; i < length; ++i) {
        const char sign = (char)equation->s.data[i];
        if (sign == ' ')
            continue;
        if (sign == ',' || sign == '-') {
            to = sign == ',' && to == einsum->operands[0] ? einsum->operands[1] : einsum->result;
            i += sign == '-';
            used = 0;
            continue;
        }
        if (!isalpha((unsigned char)sign) || used == LABELS || strchr(to, sign) != NULL)
            return cnnvp_import_error(
                import, "its equation has \"%c\" where a letter that its operand has not is supported", sign);
        to[used++] = sign;
    }
    if (to != einsum->result || einsum->count > 2)
        return cnnvp_import_error(import, "an equation with \"->\" and one or two operands is supported");
    for (size_t k = 0; k < einsum->count; ++k) {
        int64_t dims[CNNVP_ONNX_RANK];
        size_t rank = 0;
        CNNVP_TRY(cnnvp_import_dims_of(import, k, &rank, dims));
        if (rank != strlen(einsum->operands[k]))
            return cnnvp_import_error(
                import, "operand %zu has %zu dimensions, \"%s\" letters", k, rank, einsum->operands[k]);
        for (size_t i = 0; i < rank; ++i)
            einsum->sizes[(unsigned char)einsum->operands[k][i]] = dims[i];
    }
    return CNNVP_DONE;
}

/* Appends "MADE = Transpose(FROM)", which changes the order of dimensions from `letters` to `wanted`. */
static void say_order(struct cnnvp_text *text, const char *made, const char *from, const char *letters,
                      const char *wanted)
{
    say(text, "%s = Transpose <perm = [", made);
    for (size_t i = 0; wanted[i] != '\0'; ++i)
        say(text, "%s%d", i != 0 ? ", " : "", (int)(strchr(letters, wanted[i]) - letters));
    say(text, "]> (%s);", from);
}

/* Copies to `to` the letters of `of` whose presence in `in` equals `is` and whose presence in `and_in` equals
 * `and_is`. */
static void pick(const char *of, const char *in, int is, const char *and_in, int and_is, char *to)
{
    for (; *of != '\0'; ++of)
        if ((strchr(in, *of) != NULL) == is && (strchr(and_in, *of) != NULL) == and_is)
            *to++ = *of;
    *to = '\0';
}

/* Sums over the letters that only operand k has and the result does not. */
static void say_sum(struct cnnvp_text *text, struct einsum *einsum, size_t k)
{
    char left[LABELS + 1], gone[LABELS + 1];
    pick(einsum->operands[k], einsum->operands[1 - k], 0, einsum->result, 0, gone);
    say(text, gone[0] != '\0' ? "sum%zu = ReduceSum <keepdims = 0, axes = [" : "sum%zu = Identity(", k);
    for (size_t i = 0; gone[i] != '\0'; ++i)
        say(text, "%s%d", i != 0 ? ", " : "", (int)(strchr(einsum->operands[k], gone[i]) - einsum->operands[k]));
    say(text, gone[0] != '\0' ? "]> (%c);" : "%c);", (int)('a' + (int)k));
    pick(einsum->operands[k], gone, 0, "", 0, left);
    memcpy(einsum->operands[k], left, sizeof left);
}

static void say_sizes(struct cnnvp_text *text, const struct einsum *einsum, const char *letters, int single)
{
    for (; *letters != '\0'; ++letters) /* 0 keeps the batch */
        say(text, "%lld, ",
            *letters == einsum->result[0] && !single ? 0LL : (long long)einsum->sizes[(unsigned char)*letters]);
}

static long long product_of(const struct einsum *einsum, const char *letters)
{
    long long product = 1;
    for (; *letters != '\0'; ++letters)
        product *= (long long)einsum->sizes[(unsigned char)*letters];
    return product;
}

/* Two operands become a matrix product. Letters of both operands count the matrices if the result has them, and are
 * summed over if not. The batch, as the first dimension, stays apart. */
cnnvp_result cnnvp_operator_einsum(struct cnnvp_import *import)
{
    struct einsum einsum;
    struct cnnvp_text text = {.used = 0};
    char shared[LABELS + 1], inner[LABELS + 1], own[2][LABELS + 1], order[2 * LABELS + 1];
    CNNVP_TRY(read_einsum(import, &einsum));
    say_sum(&text, &einsum, 0);
    if (einsum.count == 1) {
        say_order(&text, "y", "sum0", einsum.operands[0], einsum.result);
        return rewrite(import, &text);
    }
    say_sum(&text, &einsum, 1);
    struct cnnvp_onnx_value value = {.tensor = CNNVP_GRAPH_NONE};
    CNNVP_TRY(cnnvp_import_value(import, 0, &value));
    const size_t first = value.constant != NULL; /* the operand that is a tensor */
    const char *a = einsum.operands[first];
    const char *b = einsum.operands[1 - first];
    pick(a, b, 1, einsum.result, 1, shared);
    pick(a, b, 1, einsum.result, 0, inner);
    pick(a, b, 0, "", 0, own[0]);
    pick(b, a, 0, "", 0, own[1]);
    const char *apart = !import->single && own[0][0] == a[0] ? (char[]){a[0], '\0'} : "";
    const char *rows = own[0] + strlen(apart);
    (void)snprintf(order, sizeof order, "%s%s%s%s", apart, shared, rows, inner);
    say_order(&text, "a2", first ? "sum1" : "sum0", a, order);
    say(&text, "a3 = Reshape(a2, [");
    say_sizes(&text, &einsum, apart, 0);
    say_sizes(&text, &einsum, shared, import->single);
    say(&text, "%lld, %lld]);", product_of(&einsum, rows), product_of(&einsum, inner));
    (void)snprintf(order, sizeof order, "%s%s%s", shared, inner, own[1]);
    say_order(&text, "b2", first ? "sum0" : "sum1", b, order);
    say(&text, "b3 = Reshape(b2, [");
    say_sizes(&text, &einsum, shared, import->single);
    say(&text, "%lld, %lld]); made = MatMul(a3, b3); made2 = Reshape(made, [", product_of(&einsum, inner),
        product_of(&einsum, own[1]));
    (void)snprintf(order, sizeof order, "%s%s%s%s", apart, shared, rows, own[1]);
    say_sizes(&text, &einsum, order, import->single);
    text.used -= order[0] != '\0' ? 2 : 0;
    say(&text, "]);");
    say_order(&text, "y", "made2", order, einsum.result);
    return rewrite(import, &text);
}
