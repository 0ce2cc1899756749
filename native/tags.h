/* The network of tags: see `nmspeller.lab.models.tag_network`. */
#ifndef NMSPELLER_TAGS_H
#define NMSPELLER_TAGS_H

#include "pass.h"

/* What the tags read of a layer is added to what they read of those before. */
static void share_states(pass *pass, sharer *own, int part) {
    const float_dense *states = &pass->model->states;
    matrix weights = weights_of(states, part * pass->model->hidden);
    /* The weights of floats are large: each member reads them once for all its rows. */
    FOR_EACH_PIECE(own, piece, own->members) {
        int row = run_begin(pass->rows, piece, own->members);
        int count = run_begin(pass->rows, piece + 1, own->members) - row;
        multiply_floats(pass->hidden + at(row, pass->stride), (size_t)pass->stride, weights, pass->model->hidden,
                        pass->tag + at(row, pass->tag_stride), (size_t)pass->tag_stride, count, states->padded_outputs,
                        part ? FROM_SUM : FROM_ROW, states->bias);
    }
    meet(own);
}

/* Some rows through a layer of floats. */
INLINE void through(const float_dense *by, const float *from, int from_stride, float *to, int to_stride, int rows,
                    beginning begin) {
    multiply_floats(from, (size_t)from_stride, weights_of(by, 0), by->width, to, (size_t)to_stride, rows,
                    by->padded_outputs, begin, by->bias);
}

/* A row of `around`: every window has NEIGHBOURS rows of zeros on both sides. */
INLINE float *around(const pass *pass, int row) {
    return pass->around + at(row + NEIGHBOURS + 2 * NEIGHBOURS * pass->row_window[row], pass->tag_width);
}

static void read_likelihoods(const pass *pass, int row) {
    const model *model = pass->model;
    float *values = pass->tag + at(row, pass->tag_stride), *read = pass->neighbour + at(row, pass->neighbour_stride);
    through(&model->likelihoods, pass->likelihood + at(row, LIKELIHOODS), LIKELIHOODS, read, pass->neighbour_stride, 1,
            FROM_ROW);
    for (int place = 0; place < pass->tag_width; place += LANES)
        store(values + place, add(load(values + place), load(read + place)));
    normalise(values, values, &model->tag_norm, model->epsilon);
}

/* A convolution of rows of one window, whose neighbours lie one behind the other. */
static void convolve(const pass *pass, const tag_block *block, int row, int count) {
    const float *from = around(pass, row) - NEIGHBOURS * pass->tag_width;
    float *wide = pass->neighbour + at(row, pass->neighbour_stride), *to = pass->tag + at(row, pass->tag_stride);
    through(&block->neighbours, from, pass->tag_width, wide, pass->neighbour_stride, count, FROM_ROW);
    for (int i = 0; i < count; i++) {
        float *own_wide = wide + at(i, pass->neighbour_stride), *own_to = to + at(i, pass->tag_stride);
        for (int place = 0; place < block->neighbours.padded_outputs; place += LANES)
            store(own_wide + place, gelu(load(own_wide + place)));
        for (int place = 0; place < block->out.padded_outputs; place += LANES)
            store(own_to + place, add(load(own_to + place), load(block->out.bias + place)));
    }
    through(&block->out, wide, pass->neighbour_stride, to, pass->tag_stride, count, FROM_SUM);
}

static void tag_row(const pass *pass, int row) {
    const model *model = pass->model;
    float *values = pass->tag + at(row, pass->tag_stride), *scores = pass->neighbour + at(row, pass->neighbour_stride);
    normalise(values, values, &model->tag_output_norm, model->epsilon);
    through(&model->tags, values, pass->tag_stride, scores, pass->neighbour_stride, 1, FROM_ROW);
    float *to = pass->reading->tags + at(row, KINDS);
    for (int kind = 0; kind < KINDS; kind++) to[kind] = sigmoid(scores[kind]);
}

static void share_tags(pass *pass, sharer *own) {
    int members = own->members;
    FOR_EACH_PIECE(own, piece, members)
    FOR_ROWS_OF_MEMBER(row, piece, members, pass->rows) read_likelihoods(pass, row);
    meet(own);
    for (int number = 0; number < pass->model->blocks; number++) {
        const tag_block *block = &pass->model->block[number];
        FOR_EACH_PIECE(own, piece, members)
        FOR_ROWS_OF_MEMBER(row, piece, members, pass->rows)
        normalise(around(pass, row), pass->tag + at(row, pass->tag_stride), &block->norm, pass->model->epsilon);
        meet(own);
        FOR_EACH_PIECE(own, piece, members) {
            int end = run_begin(pass->rows, piece + 1, members);
            for (int row = run_begin(pass->rows, piece, members), count; row < end; row += count) {
                int window_end = pass->reading->edges[pass->row_window[row] + 1];
                count = smaller(end, window_end) - row;
                convolve(pass, block, row, count);
            }
        }
        meet(own);
    }
    FOR_EACH_PIECE(own, piece, members)
    FOR_ROWS_OF_MEMBER(row, piece, members, pass->rows) tag_row(pass, row);
    meet(own);
}

#endif
