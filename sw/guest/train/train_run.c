/* SPDX-License-Identifier: Apache-2.0 */
/* The training application: takes batches through forward, backward, gradient and update; runs evaluations and
 * inference. */
#include "train.h"

static const struct cnnvp_train_layer *last_layer(const struct cnnvp_guest *guest)
{
    return guest->train.layers + guest->train.binary->layer_count - 1u;
}

/* Clears the statistics, and loads batch norm's values from memory. */
static void prepare(struct cnnvp_guest *guest, const struct cnnvp_train_layer *layer)
{
    const uint32_t entries = layer->norm ? layer->co : cnnvp_train_exponents(guest, layer->out_block, layer->co);
    cnnvp_train_clear_held(guest, CNNVP_TRAIN_EXTREMES, 0, entries * CNNVP_TRAIN_EXTREME_BYTES);
    cnnvp_train_clear_held(guest, CNNVP_TRAIN_SUMS, 0, entries * CNNVP_TRAIN_SUM_BYTES);
    if (layer->norm)
        cnnvp_train_load_held(guest, CNNVP_TRAIN_NORMS, 0, layer->co * CNNVP_TRAIN_NORM_BYTES, layer->norm_entries);
}

static void forward(struct cnnvp_guest *guest)
{
    const struct cnnvp_train_layer *last = last_layer(guest);
    for (const struct cnnvp_train_layer *layer = guest->train.layers; layer <= last; ++layer) {
        cnnvp_element_layer(&guest->element, layer->tag_forward);
        prepare(guest, layer);
        cnnvp_train_forward(guest, layer);
        if (layer != last)
            cnnvp_train_post(guest, layer, &layer[1].in);
    }
    cnnvp_train_classify(guest, last);
}

static void backward(struct cnnvp_guest *guest)
{
    const struct cnnvp_train_layer *last = last_layer(guest);
    for (const struct cnnvp_train_layer *layer = last;; --layer) {
        cnnvp_element_layer(&guest->element, layer->tag_backward);
        cnnvp_train_post_back(guest, layer, layer == last);
        if (layer == guest->train.layers)
            break;
        cnnvp_train_error(guest, layer, layer - 1);
    }
}

static void learn(struct cnnvp_guest *guest)
{
    for (const struct cnnvp_train_layer *layer = last_layer(guest);; --layer) {
        cnnvp_element_layer(&guest->element, layer->tag_gradient);
        cnnvp_train_learn(guest, layer);
        if (layer == guest->train.layers)
            break;
    }
}

/* Sleeps until all that was pushed is done, then writes CNNVP_TRAIN_MARK. Returns -1 if the element has stopped. */
static int complete(struct cnnvp_guest *guest)
{
    cnnvp_element_layer(&guest->element, 0);
    cnnvp_element_irq(&guest->element, guest->train.step);
    if (cnnvp_element_finish(&guest->element) != 0)
        return -1;
    cnnvp_console(guest->machine, CNNVP_TRAIN_MARK);
    /* This accesses a device, so that whoever pauses the simulation at the mark does so before anything else
     * happens. */
    return cnnvp_element_finish(&guest->element);
}

static int run_step(struct cnnvp_guest *guest, uint32_t step)
{
    struct cnnvp_train *train = &guest->train;
    const struct cnnvp_train_binary *binary = train->binary;
    const uint32_t epoch = step / binary->steps_per_epoch;
    const uint32_t done = step % binary->steps_per_epoch * binary->batch;
    train->data = &binary->training;
    train->step = step;
    train->first = epoch * binary->training.count + done;
    train->images = cnnvp_minimum32(binary->batch, binary->training.count - done);
    forward(guest);
    backward(guest);
    learn(guest);
    return complete(guest);
}

/* Forward only; batch norm uses its running values. */
static int run_images(struct cnnvp_guest *guest)
{
    struct cnnvp_train *train = &guest->train;
    const struct cnnvp_train_binary *binary = train->binary;
    train->data = &binary->evaluation;
    train->step = CNNVP_TRAIN_NO_STEP;
    for (train->first = 0; train->first < binary->evaluation.count; train->first += binary->batch) {
        train->images = cnnvp_minimum32(binary->batch, binary->evaluation.count - train->first);
        forward(guest);
    }
    return complete(guest);
}

static int run(struct cnnvp_guest *guest)
{
    const struct cnnvp_train_binary *binary = guest->train.binary;
    if (cnnvp_train_has(guest, CNNVP_TRAIN_INFERENCE))
        return run_images(guest);
    for (uint32_t step = binary->first_step; step < binary->steps; ++step) {
        if (run_step(guest, step) != 0)
            return -1;
        const int ends_epoch = step % binary->steps_per_epoch == binary->steps_per_epoch - 1u;
        if (ends_epoch && binary->evaluation.count != 0 && run_images(guest) != 0)
            return -1;
    }
    return 0;
}

int cnnvp_train_run(struct cnnvp_guest *guest)
{
    if (run(guest) == 0)
        return 0;
    cnnvp_element_explain(&guest->element);
    return 1;
}
