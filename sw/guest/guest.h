/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of the guest software. There are no globals, so that the host build can run it anywhere. Layers of the
 * software, from below: machine.h, element.h (driver), pipeline.h (tiles in flight), layers.h (S000's layer functions),
 * schedule.h, inference.c, accelerators.h (several accelerators). The training engine has its own: train.h.
 */
#ifndef CNNVP_GUEST_H
#define CNNVP_GUEST_H

#include "element.h"
#include "binary/network_binary.h"
#include "binary/train_binary.h"
#include "binary/words_binary.h"

/* Most halves that a buffer has. */
#define CNNVP_HALVES 2u

/* A box of a tensor. Its rows and columns may reach into the frame. */
struct cnnvp_box {
    uint32_t channel;
    uint32_t channels;
    int32_t row;
    uint32_t rows;
    int32_t column;
    uint32_t columns;
};

/* An address at which no tile begins. */
#define CNNVP_NOWHERE UINT32_MAX

/* What a half of the input buffer holds after the instructions pushed so far. */
struct cnnvp_slot {
    uint32_t address;                 /* in memory; CNNVP_NOWHERE: the half holds no tile */
    uint32_t channels, rows, columns; /* size of an input tile; tiles of several sizes may begin at one address */
    uint32_t images;
};

/* Where a step's input tile lies on chip. */
struct cnnvp_input_tile {
    uint32_t half;
    uint32_t address;
    struct cnnvp_strides stride;
    uint32_t image_bytes; /* from image to image */
};

/* The rest of a step after its calculation; see pipeline.h. */
struct cnnvp_epilogue {
    const struct cnnvp_layer *layer;
    uint32_t output_half;
    uint32_t needs;         /* halves that it reads, by CNNVP_NEEDS; 0 once it has been pushed */
    uint32_t weight_half;   /* of the table of a TABLE post-operation, if there is one */
    uint32_t table_address; /* in that half */
    uint32_t channels;      /* results: channels x height x width, dense in the output half */
    uint32_t height;
    uint32_t width;
    int32_t row; /* first output row and column */
    int32_t column;
    uint32_t more_images;    /* images whose results follow, image_bytes apart */
    uint32_t result_address; /* address of the results in the output half */
    uint32_t address;        /* destination of channel 0, row 0, column 0: in memory, or in the input buffer */
    uint32_t seed;
    uint32_t store_at;               /* first register of the descriptor of the results' transfer */
    uint32_t again;                  /* 1: the registers hold the descriptor of a move, all but its address on chip */
    struct cnnvp_input_tile operand; /* other operand of `added` */
};

/* Bit of a half of the input or weight buffer, which holds a table or an operand that an epilogue reads. */
#define CNNVP_NEEDS(buffer, half) (1u << ((uint32_t)(buffer)*CNNVP_HALVES + (half)))

/* Number of live values of a tensor on chip. */
struct cnnvp_note {
    const struct cnnvp_tensor *tensor;
    uint32_t words;
};
#define CNNVP_NOTES 3u

/* Most epilogues that wait while the next step's calculation is pushed first; a power of two. */
#define CNNVP_EPILOGUES 2u

/* What a half holds: a part of a tensor in memory. */
struct cnnvp_train_slot {
    uint32_t valid;
    uint32_t address; /* address of its first value */
    uint32_t detail;  /* channels | rows << 16; of a matrix: rows | columns << 16 */
    uint32_t images;
};

/* A cut of maps: images x channels x rows. */
struct cnnvp_train_cut {
    uint32_t image, images;
    uint32_t channel, channels;
    uint32_t row, rows;
};

/* A computed tile of sums that awaits statistics and its store, which are pushed during the next tile
 * (train/train_product.c). */
struct cnnvp_train_pending {
    uint32_t steps; /* steps left: 2: statistics and store; 1: store; 0: none */
    uint32_t half;
    uint32_t address; /* address of the tensor in memory */
    uint32_t map_channels, map_height, map_width;
    struct cnnvp_train_cut cut;
    uint32_t integer; /* 1: the sums are integers; statistics may convert them to binary32 */
    const struct cnnvp_train_layer *layer;
};

/* State of training, see train.h. */
struct cnnvp_train {
    const struct cnnvp_train_binary *binary;
    const struct cnnvp_train_layer *layers;
    const struct cnnvp_train_images *data; /* data set of the batch in work */
    uint32_t step;                         /* CNNVP_TRAIN_NO_STEP: no learning */
    uint32_t first;                        /* index of the batch's first image, in `data` or in the order of training */
    uint32_t images;                       /* images of the batch */
    uint32_t next[3];                      /* half that each buffer used last */
    struct cnnvp_train_slot slots[2][CNNVP_HALVES]; /* input and weight buffer */
    struct cnnvp_train_pending pending;
};

/* Memory for the variants of a layer's instructions that the scheduler's table is made from (depth_scheduler.c). */
#define CNNVP_COLLECTED_WORDS 32768u

struct cnnvp_guest {
    const struct cnnvp_machine *machine;
    const struct cnnvp_binary *binary; /* NULL if the binary is train.binary or words */
    const struct cnnvp_words_binary *words;
    uint32_t plic;
    uint32_t element_irq;   /* line of the element at the interrupt controller */
    uint32_t scheduler_irq; /* line of the depth-first scheduler; 0: none */
    struct cnnvp_train train;
    const struct cnnvp_weight_tile *weight_tiles;
    struct cnnvp_binary_regions regions; /* regions of the scratchpad as set */
    struct cnnvp_element element;
    struct cnnvp_slot input[CNNVP_HALVES];
    uint32_t weight[CNNVP_HALVES]; /* address of the weight tile in each half, or CNNVP_NOWHERE */
    /* Whose descriptors the registers hold, all but addresses: those of the last load to the input buffer, of the last
     * convolution, and of the last store. NULL: not known. */
    const struct cnnvp_tensor *load_of;
    const struct cnnvp_layer *window_of, *store_of;
    struct cnnvp_window window;  /* of the last convolution */
    struct cnnvp_box window_box; /* its input */
    uint32_t window_outputs;     /* output channels of its step */
    uint32_t next_input;         /* half that each buffer used last */
    uint32_t next_weight;
    uint32_t next_output;
    uint32_t other_input; /* 1: the buffer has another half; 0: it has one */
    uint32_t other_weight;
    uint32_t other_output;
    struct cnnvp_epilogue waiting[CNNVP_EPILOGUES]; /* number n lies at n % CNNVP_EPILOGUES */
    uint32_t waiting_first, waiting_end;            /* number of the oldest, and of the next */
    uint32_t image_number;                          /* image in work, or the first of several in work */
    uint32_t batch_first;                           /* first image of the batch */
    uint32_t batch_images;
    uint32_t in_group;  /* 1: weight tiles that stay belong to a group (depth.h, fused.h) */
    uint32_t block;     /* block of the chain's layer, as window instructions name it; 0: none */
    uint32_t window_at; /* first registers of the descriptors of windows and of stores */
    uint32_t store_at;
    uint32_t windows; /* windows pushed, and the high half of the last one */
    uint32_t last_window;
    uint32_t scheduler_chain;        /* chain whose table the scheduler holds; 0: none */
    uint32_t scheduler_registers[8]; /* mask of the element registers that the chain's instructions assign */
    uint32_t group_weights;          /* group whose weight tiles that stay are in the weight buffer; 0: none */
    uint32_t
        group_loaded; /* weight tiles that stay are loaded below this number: layers meet their tiles in this order */
    struct cnnvp_note notes[CNNVP_NOTES]; /* live values to push when the layer is done */
    uint32_t note_count;
    uint32_t tile_half;               /* as in struct cnnvp_binary_member */
    struct cnnvp_binary_layer member; /* layer in work of a fused group, with the tile's addresses */
    struct cnnvp_word *collected;     /* CNNVP_COLLECTED_WORDS, for depth_scheduler.c */
};

/* Body of the interrupt handler: claims, serves and completes the pending interrupt. */
void cnnvp_guest_interrupt(struct cnnvp_guest *guest);

/* Initialises the context, the interrupt controller and the element. `collected` has CNNVP_COLLECTED_WORDS. Returns -1
 * if memory holds no valid binary for one accelerator. */
int cnnvp_guest_init(struct cnnvp_guest *guest, const struct cnnvp_machine *machine, struct cnnvp_word *collected);

/* Runs a program of words (words.c); see cnnvp_guest_run. */
int cnnvp_words_run(struct cnnvp_guest *guest);

/* Runs the binary's program. Returns the exit code: 0, or 1 after an explanation on the console. */
int cnnvp_guest_run(struct cnnvp_guest *guest);

#endif
