/* The network of tags: see `nmspeller.lab.models.tag_network`. */
#ifndef NMSPELLER_TAGS_H
#define NMSPELLER_TAGS_H

#include "pass.h"

/* What the tags read of a layer is added to what they read of those before. */
static void share_states(pass *pass, sharer *own, int part) {
    const float_dense *states = &pass->model->states;
    const float *weights = states->rows + at(part * pass->model->hidden, states->padded_outputs);
    FOR_EACH_PIECE(own, piece, own->members) {
        int row = run_begin(pass->rows, piece, own->members);
        int count = run_begin(pass->rows, piece + 1, own->members) - row;
        multiply_floats(pass->hidden + at(row, pass->stride), (size_t)pass->stride, weights,
                        (size_t)states->padded_outputs, pass->model->hidden, pass->tag + at(row, pass->tag_stride),
                        (size_t)pass->tag_stride, count, states->padded_outputs, part ? FROM_SUM : FROM_ROW,
                        states->bias);
    }
    meet(own);
}

/* A row of `around`: every window has NEIGHBOURS rows of zeros on both sides. */
INLINE float *around(const pass *pass, int row) {
    return pass->around + at(row + NEIGHBOURS + 2 * NEIGHBOURS * pass->row_window[row], pass->tag_width);
}

static void share_tags(pass *pass, sharer *own) {
    const model *model = pass->model;
    /* The weights of floats are large: each member reads them once for all its rows. */
    int members = own->members;
    FOR_EACH_PIECE(own, piece, members)
    FOR_ROWS_OF_MEMBER(row, piece, members, pass->rows) {
        float *values = pass->tag + at(row, pass->tag_stride);
        multiply_floats(pass->likelihood + at(row, LIKELIHOODS), LIKELIHOODS, model->likelihoods.rows,
                        (size_t)model->likelihoods.padded_outputs, LIKELIHOODS, pass->neighbour + at(row, pass->neighbour_stride),
                        (size_t)pass->neighbour_stride, 1, model->likelihoods.padded_outputs, FROM_ROW,
                        model->likelihoods.bias);
        for (int place = 0; place < pass->tag_width; place += LANES)
            store(values + place, add(load(values + place),
                                      load(pass->neighbour + at(row, pass->neighbour_stride) + (size_t)place)));
        normalise(values, values, &model->tag_norm, model->epsilon);
    }
    meet(own);
    for (int number = 0; number < model->blocks; number++) {
        const tag_block *block = &model->block[number];
        FOR_EACH_PIECE(own, piece, members)
        FOR_ROWS_OF_MEMBER(row, piece, members, pass->rows)
            normalise(around(pass, row), pass->tag + at(row, pass->tag_stride), &block->norm, model->epsilon);
        meet(own);
        FOR_EACH_PIECE(own, piece, members) {
            for (int row = run_begin(pass->rows, piece, members), end = run_begin(pass->rows, piece + 1, members);
                 row < end;) {
                /* Rows of one window: its neighbours lie one behind the other. */
                int window = pass->row_window[row], count = 1;
                while (row + count < end && pass->row_window[row + count] == window) count++;
                const float *from = around(pass, row) - NEIGHBOURS * pass->tag_width;
                float *wide = pass->neighbour + at(row, pass->neighbour_stride);
                multiply_floats(from, (size_t)pass->tag_width, block->neighbours.rows,
                                (size_t)block->neighbours.padded_outputs, block->neighbours.width, wide,
                                (size_t)pass->neighbour_stride, count, block->neighbours.padded_outputs, FROM_ROW,
                                block->neighbours.bias);
                for (int i = 0; i < count; i++)
                    for (int place = 0; place < block->neighbours.padded_outputs; place += LANES) {
                        float *here = wide + at(i, pass->neighbour_stride) + place;
                        store(here, gelu(load(here)));
                    }
                for (int i = 0; i < count; i++)
                    for (int place = 0; place < block->out.padded_outputs; place += LANES) {
                        float *here = pass->tag + at(row + i, pass->tag_stride) + place;
                        store(here, add(load(here), load(block->out.bias + place)));
                    }
                multiply_floats(wide, (size_t)pass->neighbour_stride, block->out.rows,
                                (size_t)block->out.padded_outputs, block->out.width,
                                pass->tag + at(row, pass->tag_stride), (size_t)pass->tag_stride, count,
                                block->out.padded_outputs, FROM_SUM, NULL);
                row += count;
            }
        }
        meet(own);
    }
    FOR_EACH_PIECE(own, piece, members)
    FOR_ROWS_OF_MEMBER(row, piece, members, pass->rows) {
        float *values = pass->tag + at(row, pass->tag_stride), *wide = pass->neighbour + at(row, pass->neighbour_stride);
        normalise(values, values, &model->tag_output_norm, model->epsilon);
        multiply_floats(values, (size_t)pass->tag_stride, model->tags.rows, (size_t)model->tags.padded_outputs,
                        model->tags.width, wide, (size_t)pass->neighbour_stride, 1, model->tags.padded_outputs,
                        FROM_ROW, model->tags.bias);
        for (int kind = 0; kind < KINDS; kind++) pass->reading->tags[at(row, KINDS) + (size_t)kind] = sigmoid(wide[kind]);
    }
    meet(own);
}

#endif
