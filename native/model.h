/* What Python hands over, and what the passes of every instruction set share. `nmspeller/runtime/native/library.py`
 * mirrors the structs whose names end in _source.
 */
#ifndef NMSPELLER_MODEL_H
#define NMSPELLER_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "team.h"

#define BEST 5        /* candidates of a position */
#define KINDS 3       /* tags: extra, missing before, swapped with the next */
#define NEIGHBOURS 2  /* how far a convolution of the tags sees on either side */
#define LIKELIHOODS 4 /* what the tags read of a position's probabilities */
#define MOST_BLOCKS 8 /* convolutions of the tags, at most */

/* A product of bytes: weights (width, outputs), the input divided by scale before it is rounded to a byte. */
typedef struct {
    const int8_t *weights;
    const float *weight_scale;     /* (outputs,) what a sum is multiplied by */
    const float *bias;             /* (outputs,) */
    const float *input_multiplier; /* (width,), or none: what the input is multiplied by first */
    float scale;
    int32_t zero_point, width, outputs;
} dense_source;

/* A product of floats: weights (width, outputs). */
typedef struct {
    const float *weights, *bias;
    int32_t width, outputs;
} float_source;

typedef struct {
    const float *gain, *bias;
} norm_source;

typedef struct {
    dense_source qkv, out, up, down;
    norm_source attention_norm, output_norm;
    const float *qkv_scale, *up_scale; /* (hidden,) what undoes the scaling of a norm for its reader */
} layer_source;

typedef struct {
    norm_source norm;
    float_source neighbours, out;
} block_source;

typedef struct {
    int32_t vocabulary, hidden, intermediate, layers, heads, blocks, longest;
    int32_t scores_all; /* whether every character is scored, or, by a prefilter, the source character alone */
    float epsilon, table_scale;
    int32_t table_zero_point;
    const int8_t *table;      /* (vocabulary, hidden) */
    const float *table_scales; /* (vocabulary,) */
    const float *table_bias;   /* (vocabulary,) of the scores */
    const float *positions;    /* (longest, hidden) */
    norm_source embedding_norm;
    const layer_source *layer;
    dense_source head;
    norm_source head_norm;
    const int32_t *states_read; /* (4,) the layers, from 1, that the tags read */
    float_source states, likelihoods, tags;
    norm_source tag_norm, tag_output_norm;
    const block_source *block;
} model_source;

/* What a weight has beside what is in its panel. */
typedef struct {
    int32_t input;
    int16_t output; /* of the panel */
    int16_t weight;
} excess;

/* The same, arranged for the passes. Vectors are padded with zeros to whole panels. */
typedef struct {
    const int8_t *panels; /* outputs in panels, of a panel four inputs of each output together */
    const float *scale, *bias;
    const float *input_multiplier; /* (width,) what makes steps of a byte of an input */
    const int32_t *offset;         /* what the zero point adds to a sum */
    const excess *excesses;        /* of one panel after the other, where pairs of products overflow */
    const size_t *excesses_begin;  /* (panels + 1,) */
    int zero_point, width, outputs, padded_outputs;
} dense;

typedef struct {
    const float *panels; /* outputs in panels, of a panel the weights of one input after the other */
    const float *bias;
    int width, outputs, padded_outputs;
} float_dense;

typedef struct {
    const float *gain, *bias;
    int width;
} norm;

/* Of qkv, the outputs are those of the first head's query, key and value, each padded to whole panels, then those of the
 * next head. */
typedef struct {
    dense qkv, out, up, down;
    norm attention_norm, output_norm;
    const float *qkv_scale, *up_scale;
} layer;

typedef struct {
    norm norm;
    float_dense neighbours, out;
} tag_block;

typedef struct {
    int vocabulary, hidden, intermediate, layers, heads, blocks, scores_all;
    float epsilon;
    const float *positions;
    const float *word_scale; /* (vocabulary,) of the table's rows where they are embedded */
    norm embedding_norm;
    layer *layer;
    dense head, table;
    norm head_norm;
    int states_read[4];
    float_dense states, likelihoods, tags;
    norm tag_norm, tag_output_norm;
    tag_block block[MOST_BLOCKS];
} model;

/* Windows to read, one behind the other, and where the answers go. */
typedef struct {
    const int32_t *ids;   /* (rows,) each window with [CLS] before and [SEP] behind it */
    const int32_t *edges; /* (windows + 1,) where each begins */
    int windows, rows;
    int32_t *best;              /* (rows, BEST), most probable first */
    float *best_probabilities;  /* (rows, BEST) */
    float *source_probability;  /* (rows,) */
    float *tags;                /* (rows, KINDS) */
} reading;

/* What one instruction set offers. */
typedef struct {
    int panel;        /* outputs of a panel */
    int byte_shift;   /* what is subtracted from the bytes of activations, where products want signed ones */
    int pairs_overflow; /* whether two products of bytes are added in 16 bits */
    int (*read)(const model *, team *, const reading *); /* 0, or 1 where memory is short */
} kernels;

#endif
