/* The embedding and the layers of the encoder. */
#ifndef NMSPELLER_LAYERS_H
#define NMSPELLER_LAYERS_H

#include "pass.h"

/* The embedding of a character: four bytes of it lie together in a panel of the table. */
static void embed_word(const model *model, int32_t id, float *to) {
    const int8_t *column = model->table.panels + at(id / PANEL, model->hidden * PANEL) + id % PANEL * 4;
    float scale = model->word_scale[id];
    for (int input = 0; input < model->hidden; input += 4, column += 4 * PANEL)
        for (int i = 0; i < 4; i++) to[input + i] = (float)column[i] * scale;
}

static void embed(const pass *pass, int row) {
    const model *model = pass->model;
    int32_t id = pass->reading->ids[row];
    int position = row - pass->reading->edges[pass->row_window[row]];
    float *to = pass->hidden + at(row, pass->stride), *sum = pass->branch + at(row, pass->stride);
    const float *places = model->positions + at(position, model->hidden);
    embed_word(model, id, sum);
    for (int place = 0; place < model->hidden; place += LANES)
        store(sum + place, add(load(sum + place), load(places + place)));
    normalise(to, sum, &model->embedding_norm, model->epsilon);
    const dense *reader = &model->layer[0].qkv;
    quantise_row(pass->bytes + at(row, model->hidden), to, reader);
    const float *scale = model->layer[0].qkv_scale;
    for (int place = 0; scale && place < model->hidden; place += LANES)
        store(to + place, multiply(load(to + place), load(scale + place)));
}

/* A block's output, normalised: bytes for the reader, if any, and unscaled in `hidden`, where the next block adds to. */
static void norm_row(const pass *pass, int row, const norm *by, const dense *reader, const float *scale) {
    float *to = pass->hidden + at(row, pass->stride), mean, inverse;
    moments(to, by->width, pass->model->epsilon, &mean, &inverse);
    byte_range range = reader ? bytes_of(reader) : (byte_range){all(0), all(0), all_ints(0)};
    const float *multiplier = reader ? reader->input_multiplier : NULL;
    uint8_t *bytes = pass->bytes + at(row, by->width);
    for (int place = 0, width = by->width; place < width; place += LANES) {
        floats value = normalised(to, by, place, mean, inverse);
        if (reader) quantise(bytes + place, value, load(multiplier + place), range);
        store(to + place, scale ? multiply(value, load(scale + place)) : value);
    }
}

/* Attention of one head in one window, to bytes for the layer behind it. */
static void attend(const pass *pass, const layer *layer, int window, int head, float *scratch) {
    const model *model = pass->model;
    int first = pass->reading->edges[window], length = pass->reading->edges[window + 1] - first;
    int size = model->hidden / model->heads, stride = layer->qkv.padded_outputs;
    int keys = padded(length), wide = padded(size);
    float *key = scratch, *score = key + at(size, keys), *out = score + at(length, keys), *value = out + at(length, wide);
    const float *query = pass->qkv + at(first, stride) + head * size, *own_value = query + 2 * model->hidden;
    size_t value_stride = (size_t)stride;
    for (int i = 0; i < size; i++) {
        float *to = key + at(i, keys);
        for (int row = 0; row < length; row++) to[row] = query[at(row, stride) + (size_t)(model->hidden + i)];
        for (int row = length; row < keys; row++) to[row] = 0.0f;
    }
    if (size < wide) {
        for (int row = 0; row < length; row++) {
            memcpy(value + at(row, wide), own_value + at(row, stride), (size_t)size * sizeof *value);
            for (int i = size; i < wide; i++) value[at(row, wide) + (size_t)i] = 0.0f;
        }
        own_value = value;
        value_stride = (size_t)wide;
    }
    multiply_floats(query, (size_t)stride, plain(key, (size_t)keys), size, score, (size_t)keys, length, keys, FROM_ZEROS,
                    NULL);
    float scale = 1.0f / __builtin_sqrtf((float)size);
    const float *multiplier = layer->out.input_multiplier + head * size;
    byte_range range = bytes_of(&layer->out);
    for (int row = 0; row < length; row++) softmax(score + at(row, keys), length, scale);
    multiply_floats(score, (size_t)keys, plain(own_value, value_stride), length, out, (size_t)wide, length, wide,
                    FROM_ZEROS, NULL);
    for (int row = 0; row < length; row++) {
        const float *from = out + at(row, wide);
        uint8_t *bytes = pass->bytes + at(first + row, model->hidden) + head * size;
        /* Heads that are no whole lanes are put side by side first. */
        if (size < wide) memcpy(pass->branch + at(first + row, pass->stride) + head * size, from, (size_t)size * sizeof *from);
        else
            for (int place = 0; place < size; place += LANES)
                quantise(bytes + place, load(from + place), load(multiplier + place), range);
    }
}

static size_t attention_scratch(const model *model, int length) {
    int size = model->hidden / model->heads;
    return at(size, padded(length)) + at(length, padded(length)) + 2 * at(length, padded(size));
}

static void share_layer(pass *pass, sharer *own, int number, float *scratch) {
    const model *model = pass->model;
    const layer *layer = &model->layer[number], *next = number + 1 < model->layers ? layer + 1 : NULL;
    int pieces = pieces_of(pass->rows);
    product qkv = {.by = &layer->qkv, .next = &layer->out, .from = pass->bytes, .to = pass->qkv,
                   .stride = (size_t)layer->qkv.padded_outputs, .finish = STORE};
    share_product(own, &qkv, pass->rows);
    FOR_EACH_PIECE(own, piece, pass->reading->windows * model->heads)
    attend(pass, layer, piece / model->heads, piece % model->heads, scratch);
    meet(own);
    if (model->hidden / model->heads % LANES) {
        FOR_EACH_PIECE(own, piece, pieces)
        FOR_ROWS_OF_PIECE(row, piece, pass->rows)
        quantise_row(pass->bytes + at(row, model->hidden), pass->branch + at(row, pass->stride), &layer->out);
        meet(own);
    }
    product out = {.by = &layer->out, .next = &layer->up, .from = pass->bytes, .to = pass->hidden, .stride = (size_t)pass->stride,
                   .finish = ADD_RESIDUAL};
    share_product(own, &out, pass->rows);
    FOR_EACH_PIECE(own, piece, pieces)
    FOR_ROWS_OF_PIECE(row, piece, pass->rows)
    norm_row(pass, row, &layer->attention_norm, &layer->up, layer->up_scale);
    meet(own);
    product up = {.by = &layer->up, .next = &layer->down, .from = pass->bytes, .finish = GELU_BYTES, .reader = &layer->down,
                  .bytes = pass->up_bytes};
    share_product(own, &up, pass->rows);
    product down = {.by = &layer->down, .next = next ? &next->qkv : NULL, .from = pass->up_bytes, .to = pass->hidden, .stride = (size_t)pass->stride,
                    .finish = ADD_RESIDUAL};
    share_product(own, &down, pass->rows);
    FOR_EACH_PIECE(own, piece, pieces)
    FOR_ROWS_OF_PIECE(row, piece, pass->rows)
    norm_row(pass, row, &layer->output_norm, next ? &next->qkv : NULL, next ? next->qkv_scale : NULL);
    meet(own);
}

#endif
