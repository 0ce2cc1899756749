/* The embedding and the layers of the encoder. */
#ifndef NMSPELLER_LAYERS_H
#define NMSPELLER_LAYERS_H

#include "pass.h"

/* The embedding of a character: four bytes of it lie together in a panel of the table. */
static void embed_word(const model *model, int32_t id, float *to) {
    const dense *table = &model->table;
    int number = id / PANEL, output = id % PANEL;
    const int8_t *column = panel_of(table, number) + output * 4;
    float scale = model->word_scale[id];
    for (int input = 0; input < model->hidden; input++)
        to[input] = (float)column[input / 4 * 4 * PANEL + input % 4] * scale;
    if (!PAIRS_OVERFLOW) return;
    for (size_t i = table->excesses_begin[number]; i < table->excesses_begin[number + 1]; i++) {
        const excess *each = table->excesses + i;
        const int8_t *rest = column + each->input / 4 * 4 * PANEL + each->input % 4;
        if (each->output == output) to[each->input] = (float)(*rest + each->weight) * scale;
    }
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

/* Attention of one head in one window, to bytes for the layer behind it; qkv: (rows, three times `wide`). */
static void attend(const pass *pass, const layer *layer, int window, int head, const float *qkv, float *scratch) {
    const model *model = pass->model;
    int first = pass->reading->edges[window], length = pass->reading->edges[window + 1] - first;
    int size = model->hidden / model->heads, wide = head_width(model), keys = padded(length);
    size_t stride = 3 * (size_t)wide;
    float *key = scratch, *score = key + at(size, keys), *out = score + at(length, keys);
    const float *query = qkv + (size_t)first * stride;
    for (int i = 0; i < size; i++) {
        float *to = key + at(i, keys);
        for (int row = 0; row < length; row++) to[row] = query[(size_t)row * stride + (size_t)(wide + i)];
        for (int row = length; row < keys; row++) to[row] = 0.0f;
    }
    multiply_floats(query, stride, plain(key, (size_t)keys), size, score, (size_t)keys, length, keys, FROM_ZEROS, NULL);
    float scale = 1.0f / __builtin_sqrtf((float)size);
    for (int row = 0; row < length; row++) softmax(score + at(row, keys), length, scale);
    int used = padded(size);
    multiply_floats(score, (size_t)keys, plain(query + 2 * wide, stride), length, out, (size_t)used, length, used,
                    FROM_ZEROS, NULL);
    byte_range range = bytes_of(&layer->out);
    for (int row = 0; row < length; row++) {
        uint8_t *bytes = pass->bytes_of_heads + at(first + row, model->hidden) + head * size;
        for (int place = 0; place < size; place += LANES) {
            floats value = load(out + at(row, used) + (size_t)place);
            const float *multiplier = layer->out.input_multiplier + head * size + place;
            if (size - place >= LANES) {
                quantise(bytes + place, value, load(multiplier), range);
            } else { /* behind the last channels of a head are those of another one */
                uint8_t some[LANES];
                quantise(some, value, load_some(multiplier, size - place), range);
                memcpy(bytes + place, some, (size_t)(size - place));
            }
        }
    }
}

/* What a member needs for a head: its queries, keys and values, and room for attention in one window. */
static size_t attention_scratch(const model *model, int rows, int length) {
    int size = model->hidden / model->heads;
    return 3 * at(rows, head_width(model)) + at(size, padded(length)) + at(length, padded(length)) +
           at(padded(length), padded(size));
}

/* A head's queries, keys and values are used where they have been computed, while they are in the cache. */
static void share_attention(const pass *pass, sharer *own, const layer *layer, float *scratch) {
    const model *model = pass->model;
    int wide = head_width(model), panels = 3 * wide / PANEL, rows = pass->rows;
    int last = run_begin(model->heads, own->member + 1, own->members) - 1;
    product qkv = {.by = &layer->qkv, .from = pass->bytes, .to = scratch, .stride = 3 * (size_t)wide, .finish = STORE};
    const int8_t *behind = first_panel_of(&layer->out, own);
    FOR_EACH_PIECE(own, head, model->heads) {
        qkv.first = head * 3 * wide;
        for (int panel = head * panels; panel < (head + 1) * panels; panel++)
            multiply_panel(&qkv, rows, panel,
                           head == last && panel == (head + 1) * panels - 1 ? behind : panel_of(qkv.by, panel + 1));
        for (int window = 0; window < pass->reading->windows; window++)
            attend(pass, layer, window, head, scratch, scratch + 3 * at(rows, wide));
    }
    meet(own);
}

static void share_layer(pass *pass, sharer *own, int number, float *scratch) {
    const model *model = pass->model;
    const layer *layer = &model->layer[number], *next = number + 1 < model->layers ? layer + 1 : NULL;
    int pieces = pieces_of(pass->rows);
    share_attention(pass, own, layer, scratch);
    product out = {.by = &layer->out, .next = &layer->up, .from = pass->bytes_of_heads, .to = pass->hidden, .stride = (size_t)pass->stride,
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
