/* SPDX-License-Identifier: Apache-2.0 */
/* What the layer functions share. */
#ifndef CNNVP_GUEST_LAYERS_INTERNAL_H
#define CNNVP_GUEST_LAYERS_INTERNAL_H

#include "binary/layer_blob.h"
#include "binary/layer_command.h"
#include "layers.h"

/* Loads the box of the image in work and of this many more (on chip: finds the one) and says where it is. */
struct cnnvp_input_tile cnnvp_bring_images(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                                           const struct cnnvp_box *box, uint32_t more_images);
struct cnnvp_input_tile cnnvp_bring_input(struct cnnvp_guest *guest, const struct cnnvp_binary_tensor *tensor,
                                          const struct cnnvp_box *box);

/* What the results of a step need after its calculation; results lie at the start of the output half. */
struct cnnvp_epilogue cnnvp_epilogue_of(struct cnnvp_guest *guest, const struct cnnvp_binary_layer *layer,
                                        const struct cnnvp_step *step, uint32_t output_half);

/* Tells the epilogue where the table of a TABLE post-operation is, if the layer has one. */
void cnnvp_use_table(struct cnnvp_epilogue *epilogue, const struct cnnvp_binary_layer *layer, uint32_t half,
                     uint32_t table_address);

#endif
