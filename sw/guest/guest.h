/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest software's one context: no globals, so that the host build can run it anywhere. Layers, from below:
 * machine.h, element.h (driver), pipeline.h (tiles in flight), layers.h (S000's layer functions), schedule.h,
 * inference.c, accelerators.h (several of them). The training engine has its own: train.h.
 */
#ifndef CNNVP_GUEST_H
#define CNNVP_GUEST_H

#include "element.h"
#include "binary/network_binary.h"
#include "binary/train_binary.h"
#include "binary/words_binary.h"

/* Halves of a buffer at most. */
#define CNNVP_HALVES 2u

/* What a half of a buffer holds, as far as the pushed instructions go. */
struct cnnvp_slot {
    uint32_t valid;
    uint32_t address;                 /* in memory */
    uint32_t channels, rows, columns; /* of a tile of the input: several may begin at one address */
    uint32_t images;
};

/* Where a step's input tile is once it has been loaded. */
struct cnnvp_input_tile {
    uint32_t half;
    uint32_t address;
    struct cnnvp_strides stride;
    uint32_t image_bytes; /* from the tile of an image to that of the next one */
};

/* The rest of a step: what happens to its results after the calculation; see pipeline.h. */
struct cnnvp_epilogue {
    const struct cnnvp_layer *layer;
    uint32_t output_half;
    uint32_t needs;         /* halves, by CNNVP_NEEDS; 0 once it has been pushed */
    uint32_t weight_half;   /* that a TABLE post-operation reads, if there is one */
    uint32_t table_address; /* in that half */
    uint32_t channels;      /* results: channels x height x width, contiguous at 0 in the output half */
    uint32_t height;
    uint32_t width;
    int32_t row; /* first output row and column */
    int32_t column;
    uint32_t more_images;    /* their results follow, image_bytes apart */
    uint32_t result_address; /* where the results begin in the output half */
    uint32_t address; /* where channel 0, row 0, column 0 of the results goes: in memory, or in the input buffer */
    uint32_t seed;
    uint32_t store_at;               /* register where the descriptor of the results' transfer begins */
    uint32_t again;                  /* 1: of a move, which stands but for its place on chip */
    struct cnnvp_input_tile operand; /* of `added` */
};

/* Bit of a half of the input or the weight buffer: a table that is read there, or an operand that was loaded there. */
#define CNNVP_NEEDS(buffer, half) (1u << ((uint32_t)(buffer)*CNNVP_HALVES + (half)))

/* How many values of a tensor are live on chip. */
struct cnnvp_note {
    const struct cnnvp_tensor *tensor;
    uint32_t words;
};
#define CNNVP_NOTES 3u

/* Steps whose epilogue waits while the next step's calculation is pushed first; a power of two. */
#define CNNVP_EPILOGUES 2u

/* What a half holds: a cut of a tensor in memory. */
struct cnnvp_train_slot {
    uint32_t valid;
    uint32_t address; /* of its first value */
    uint32_t detail;  /* channels | rows << 16, or rows and columns of a matrix */
    uint32_t images;
};

/* A tile of complete sums that is still to be looked at and stored, while the next one is computed
 * (train/train_product.c). */
struct cnnvp_train_pending {
    uint32_t steps; /* left: 2 statistics and store, 1 store, 0 nothing */
    uint32_t half;
    uint32_t address; /* where the tensor lies in memory */
    uint32_t map_channels, map_height, map_width;
    uint32_t image, images, channel, channels, row, rows;
    uint32_t integer; /* 1: integer sums, which with statistics become binary32 */
    const struct cnnvp_train_layer *layer;
};

/* Training, see train.h. */
struct cnnvp_train {
    const struct cnnvp_train_binary *binary;
    const struct cnnvp_train_layer *layers;
    const struct cnnvp_train_images *data; /* that the batch in work is of */
    uint32_t step;                         /* CNNVP_TRAIN_NO_STEP: nothing is learned */
    uint32_t first;   /* place of the batch's first image in `data`, or in the order of a training's images */
    uint32_t images;  /* of the batch */
    uint32_t next[3]; /* half that each buffer used last */
    struct cnnvp_train_slot slots[2][CNNVP_HALVES]; /* input and weight buffer */
    struct cnnvp_train_pending pending;
};

/* Room for a layer's instructions in the ways in which the scheduler's table needs them. */
#define CNNVP_COLLECTED_WORDS 32768u

struct cnnvp_guest {
    const struct cnnvp_machine *machine;
    const struct cnnvp_binary *binary; /* or that of training, or: */
    const struct cnnvp_words_binary *words;
    uint32_t plic;          /* address of the interrupt controller */
    uint32_t element_irq;   /* the element's line there */
    uint32_t scheduler_irq; /* and that of the depth-first scheduler, 0: there is none */
    struct cnnvp_train train;
    const struct cnnvp_weight_tile *weight_tiles;
    struct cnnvp_binary_regions regions; /* of the scratchpad, as they are set */
    struct cnnvp_element element;
    struct cnnvp_slot input[CNNVP_HALVES];
    struct cnnvp_slot weight[CNNVP_HALVES];
    uint32_t next_input; /* half that the next tile goes to */
    uint32_t next_weight;
    uint32_t next_output;
    struct cnnvp_epilogue waiting[CNNVP_EPILOGUES]; /* number n is at n % CNNVP_EPILOGUES */
    uint32_t waiting_first, waiting_end;            /* numbers */
    uint32_t image_number;                          /* of the image in work, or the first one in hand together */
    uint32_t batch_first;                           /* and of the batch's first */
    uint32_t batch_images;                          /* images of the batch in work */
    uint32_t in_chain;  /* weight tiles that stay are the chain's or the group's (depth.h, fused.h) */
    uint32_t block;     /* of the chain's layer in work, as window instructions name it; 0: none */
    uint32_t window_at; /* registers where the descriptors of windows and of results begin */
    uint32_t store_at;
    uint32_t windows; /* pushed, and the high half of the last one */
    uint32_t last_window;
    uint32_t scheduler_chain;        /* the chain whose table the scheduler holds, 0: none */
    uint32_t scheduler_registers[8]; /* of the element, that the chain's instructions assign */
    uint32_t chain_weights;          /* the chain or group whose weight tiles are in the weight buffer, 0: none */
    uint32_t
        chain_loaded; /* of these, those below this number: layers, and their weight tiles, begin one after the other */
    struct cnnvp_note notes[CNNVP_NOTES]; /* pushed when the layer in work is done */
    uint32_t note_count;
    struct cnnvp_binary_layer member; /* of the fused group in work: its layer, with the addresses of the tile */
    uint32_t tile_half;               /* where its tiles go, as in struct cnnvp_binary_member */
    struct cnnvp_word *collected;     /* by depth_scheduler.c: CNNVP_COLLECTED_WORDS of them */
};

/* The interrupt handler's body: claims, serves and completes what the interrupt controller has. */
void cnnvp_guest_interrupt(struct cnnvp_guest *guest);

/* Makes the context ready and the interrupt controller and the element as well; `collected` is room for
 * CNNVP_COLLECTED_WORDS. Returns -1 if there is no valid binary for one accelerator. */
int cnnvp_guest_init(struct cnnvp_guest *guest, const struct cnnvp_machine *machine, struct cnnvp_word *collected);

/* Runs a program of words (words.c); see cnnvp_guest_run. */
int cnnvp_words_run(struct cnnvp_guest *guest);

/* Runs the image's network over all its images. Returns the exit code: 0, or 1 after an explanation on the console. */
int cnnvp_guest_run(struct cnnvp_guest *guest);

#endif
