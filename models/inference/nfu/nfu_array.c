/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The array of the cycle-stepped NFU, see nfu_array.h (S002, NFU structure; Part B 2-4 to 2-6, 2-9).
 *
 * A clock has two halves. First, every PE selects its input from the FIFO heads that the clock before left. Then the
 * heads that were taken are popped, and the PEs execute and push. With the extended FIFO-V the right-most column has a
 * second data output, because its H and V heads are needed in the same cycle (2-6 holds for the literal array).
 */
#include "nfu_array.h"

#include <stdlib.h>

/* ---- set-up ---- */

static int reserve(struct cnnvp_nfu_array *array, uint64_t pes, uint64_t places)
{
    if (pes > array->pe_space) {
        free(array->pes);
        array->pes = calloc(pes, sizeof *array->pes);
        array->pe_space = array->pes != NULL ? pes : 0;
    }
    if (places > array->place_space) {
        free(array->places);
        array->places = calloc(places, sizeof *array->places);
        array->place_space = array->places != NULL ? places : 0;
    }
    return array->pe_space < pes || array->place_space < places ? CNNVP_E_NOMEM : CNNVP_OK;
}

/* Takes the next `count` places. NULL if `count` is 0. */
static struct cnnvp_nfu_value *take_places(struct cnnvp_nfu_value **next, uint32_t count)
{
    struct cnnvp_nfu_value *places = NULL;
    if (count != 0) {
        places = *next;
        *next += count;
    }
    return places;
}

int cnnvp_nfu_array_configure(struct cnnvp_nfu_array *array, const struct cnnvp_nfu_shape *shape, uint64_t depth_h,
                              uint64_t depth_v, uint64_t column_depth_v)
{
    const uint64_t pes = (uint64_t)shape->rows * shape->cols;
    const uint64_t row_places = (depth_h + depth_v) * (shape->cols - 1u) + depth_h + column_depth_v;
    if (depth_h > UINT32_MAX || depth_v > UINT32_MAX || column_depth_v > UINT32_MAX)
        return CNNVP_E_NOMEM;
    array->rows = shape->rows;
    array->cols = shape->cols;
    array->acc_bits = shape->acc_bits;
    array->fault = false;
    array->counts = (struct cnnvp_nfu_counts){0};
    const int status = reserve(array, pes, row_places * shape->rows);
    if (status != CNNVP_OK)
        return status;
    struct cnnvp_nfu_value *places = array->places;
    for (uint64_t i = 0; i < pes; ++i) {
        const bool column = i % shape->cols == shape->cols - 1u;
        const uint32_t v = (uint32_t)(column ? column_depth_v : depth_v);
        cnnvp_nfu_fifo_reset(&array->pes[i].h, take_places(&places, (uint32_t)depth_h), (uint32_t)depth_h);
        cnnvp_nfu_fifo_reset(&array->pes[i].v, take_places(&places, v), v);
    }
    return CNNVP_OK;
}

void cnnvp_nfu_array_free(struct cnnvp_nfu_array *array)
{
    free(array->pes);
    free(array->places);
    *array = (struct cnnvp_nfu_array){0};
}

/* ---- control ---- */

struct cnnvp_nfu_pe *cnnvp_nfu_array_pe(const struct cnnvp_nfu_array *array, uint32_t col, uint32_t row)
{
    return &array->pes[(uint64_t)(array->first_row + row) * array->cols + array->first_col + col];
}

void cnnvp_nfu_array_flush_h(struct cnnvp_nfu_array *array)
{
    for (uint64_t i = 0; i < (uint64_t)array->rows * array->cols; ++i)
        cnnvp_nfu_fifo_flush(&array->pes[i].h);
}

void cnnvp_nfu_array_flush_v(struct cnnvp_nfu_array *array)
{
    for (uint64_t i = 0; i < (uint64_t)array->rows * array->cols; ++i)
        cnnvp_nfu_fifo_flush(&array->pes[i].v);
}

void cnnvp_nfu_array_begin(struct cnnvp_nfu_array *array, uint32_t w, uint32_t h,
                           const struct cnnvp_fx16_operation *operation)
{
    array->first_row = array->rows - h;
    array->first_col = array->cols - w;
    cnnvp_nfu_array_flush_h(array);
    cnnvp_nfu_array_flush_v(array);
    for (uint64_t i = 0; i < (uint64_t)array->rows * array->cols; ++i)
        cnnvp_nfu_pe_clear(&array->pes[i], operation);
}

/* ---- one clock ---- */

static struct cnnvp_nfu_value port_word(struct cnnvp_nfu_array *array, cnnvp_nfu_read_fn read, const void *context,
                                        uint32_t col, uint32_t row)
{
    ++array->counts.input_words;
    return read(context, col, row);
}

static struct cnnvp_nfu_value select_input(struct cnnvp_nfu_array *array, const struct cnnvp_nfu_step *step,
                                           cnnvp_nfu_read_fn read, const void *context, uint32_t col, uint32_t row)
{
    const bool rightmost = array->first_col + col == array->cols - 1u;
    const bool bottom = array->first_row + row == array->rows - 1u;
    if (step->move == CNNVP_NFU_RIGHT && !rightmost)
        return cnnvp_nfu_fifo_head(&cnnvp_nfu_array_pe(array, col + 1u, row)->h);
    if ((step->move == CNNVP_NFU_DOWN || (step->move == CNNVP_NFU_RIGHT && step->column_from_below)) && !bottom)
        return cnnvp_nfu_fifo_head(&cnnvp_nfu_array_pe(array, col, row + 1u)->v);
    return port_word(array, read, context, col, row);
}

/* Pops the heads that neighbours could take in this cycle, then pushes A if the step says so. */
static void move_fifos(struct cnnvp_nfu_array *array, const struct cnnvp_nfu_step *step, struct cnnvp_nfu_pe *pe,
                       bool rightmost)
{
    const bool push_v = rightmost ? step->column_push_v : step->push_v;
    const bool pop_v = step->move == CNNVP_NFU_DOWN || (rightmost && step->column_from_below);
    bool good = true;
    if (step->move == CNNVP_NFU_RIGHT)
        good = cnnvp_nfu_fifo_pop(&pe->h) && good;
    if (pop_v)
        good = cnnvp_nfu_fifo_pop(&pe->v) && good;
    if (step->push_h) {
        good = cnnvp_nfu_fifo_push(&pe->h, pe->selected) && good;
        ++array->counts.fifo_h_pushes;
    }
    if (push_v) {
        good = cnnvp_nfu_fifo_push(&pe->v, pe->selected) && good;
        ++array->counts.fifo_v_pushes;
    }
    if (!good)
        array->fault = true;
}

void cnnvp_nfu_array_step(struct cnnvp_nfu_array *array, const struct cnnvp_nfu_step *step, cnnvp_nfu_read_fn read,
                          const void *context)
{
    const uint32_t w = array->cols - array->first_col;
    const uint32_t h = array->rows - array->first_row;
    const bool multiplies =
        step->execute && !step->operation.compare && step->operation.product != CNNVP_FX16_PRODUCT_A;
    for (uint32_t row = 0; row < h; ++row)
        for (uint32_t col = 0; col < w; ++col)
            cnnvp_nfu_array_pe(array, col, row)->selected = select_input(array, step, read, context, col, row);
    for (uint32_t row = 0; row < h; ++row) {
        for (uint32_t col = 0; col < w; ++col) {
            struct cnnvp_nfu_pe *pe = cnnvp_nfu_array_pe(array, col, row);
            if (step->execute)
                cnnvp_nfu_pe_execute(pe, &step->operation, step->k, array->acc_bits);
            move_fifos(array, step, pe, col == w - 1u);
        }
    }
    array->counts.macs += multiplies ? (uint64_t)w * h : 0;
    ++array->counts.cycles;
}
