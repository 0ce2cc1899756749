/* One pass of a BERT speller over windows of ids, as `nmspeller.lab.export.bert_graph` describes it. */
#ifndef NMSPELLER_FORWARD_H
#define NMSPELLER_FORWARD_H

#include <stdlib.h>

#include "memory.h"
#include "products.h"
#include "sharing.h"

#define ROWS_OF_PIECE 4
#define ROWS_OF_SCORES 32 /* rows whose scores of all characters are kept at once: they are many */
#define LEAST_PROBABILITY 1e-6f

/* A pass under way. Rows have a stride of whole panels. */
typedef struct {
    const model *model;
    const reading *reading;
    int rows, inner, wide, stride, longest;
    int *row_window;   /* (rows,) */
    int *inner_row;    /* (inner,) the rows of characters */
    float *hidden;     /* (rows, stride) */
    float *branch;     /* (rows, stride) what a block adds */
    float *qkv;        /* (rows, padded outputs) */
    float *word;       /* (inner, stride) of a prefilter: the embeddings of the characters */
    uint8_t *bytes;    /* (rows, hidden) */
    uint8_t *up_bytes; /* (rows, intermediate) */
    float *scores;     /* (ROWS_OF_SCORES, padded vocabulary) */
    float *likelihood; /* (rows, LIKELIHOODS) */
    int tag_width, tag_stride, neighbour_stride;
    float *tag;        /* (rows, tag_stride) */
    float *around;     /* (rows + 2 NEIGHBOURS for each window, tag_width): normalised, zeros between windows */
    float *neighbour;  /* (rows, neighbour_stride) */
    float *scratch;    /* of attention, for each member */
    int members;
    shared_steps shared;
} pass;

INLINE int pieces_of(int rows) { return (rows + ROWS_OF_PIECE - 1) / ROWS_OF_PIECE; }
#define FOR_ROWS_OF_PIECE(row, piece, rows)                                                            \
    for (int row = (piece) * ROWS_OF_PIECE, end_ = row + ROWS_OF_PIECE < (rows) ? row + ROWS_OF_PIECE : (rows); \
         row < end_; row++)

#define FOR_ROWS_OF_MEMBER(row, piece, members, rows)                                              \
    for (int row = run_begin(rows, piece, members), end_ = run_begin(rows, (piece) + 1, members); row < end_; row++)

INLINE int padded(int count) { return (count + LANES - 1) / LANES * LANES; }
INLINE size_t at(int row, int stride) { return (size_t)row * (size_t)stride; }

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
    multiply_floats(query, (size_t)stride, key, (size_t)keys, size, score, (size_t)keys, length, keys, FROM_ZEROS, NULL);
    float scale = 1.0f / __builtin_sqrtf((float)size);
    const float *multiplier = layer->out.input_multiplier + head * size;
    byte_range range = bytes_of(&layer->out);
    for (int row = 0; row < length; row++) softmax(score + at(row, keys), length, scale);
    multiply_floats(score, (size_t)keys, own_value, value_stride, length, out, (size_t)wide, length, wide, FROM_ZEROS,
                    NULL);
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

/* All panels of a product, over rows in groups that stay in a core's cache. */
static void share_product(sharer *own, const product *job, int rows) {
    int panels = job->by->padded_outputs / PANEL;
    FOR_EACH_PIECE(own, panel, panels) multiply_panel(job, rows, panel);
    meet(own);
}

static void share_layer(pass *pass, sharer *own, int number, float *scratch) {
    const model *model = pass->model;
    const layer *layer = &model->layer[number], *next = number + 1 < model->layers ? layer + 1 : NULL;
    int pieces = pieces_of(pass->rows);
    product qkv = {.by = &layer->qkv, .from = pass->bytes, .to = pass->qkv,
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
    product out = {.by = &layer->out, .from = pass->bytes, .to = pass->hidden, .stride = (size_t)pass->stride,
                   .finish = ADD_RESIDUAL};
    share_product(own, &out, pass->rows);
    FOR_EACH_PIECE(own, piece, pieces)
    FOR_ROWS_OF_PIECE(row, piece, pass->rows)
    norm_row(pass, row, &layer->attention_norm, &layer->up, layer->up_scale);
    meet(own);
    product up = {.by = &layer->up, .from = pass->bytes, .finish = GELU_BYTES, .reader = &layer->down,
                  .bytes = pass->up_bytes};
    share_product(own, &up, pass->rows);
    product down = {.by = &layer->down, .from = pass->up_bytes, .to = pass->hidden, .stride = (size_t)pass->stride,
                    .finish = ADD_RESIDUAL};
    share_product(own, &down, pass->rows);
    FOR_EACH_PIECE(own, piece, pieces)
    FOR_ROWS_OF_PIECE(row, piece, pass->rows)
    norm_row(pass, row, &layer->output_norm, next ? &next->qkv : NULL, next ? next->qkv_scale : NULL);
    meet(own);
}

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

/* The rows of characters, as the head has changed them, in `hidden`, one behind the other, and as bytes. */
static void share_head(pass *pass, sharer *own) {
    const model *model = pass->model;
    const dense *head = &model->head;
    int pieces = pieces_of(pass->inner);
    FOR_EACH_PIECE(own, piece, pieces)
    FOR_ROWS_OF_PIECE(row, piece, pass->inner) {
        const float *from = pass->hidden + at(pass->inner_row[row], pass->stride);
        if (head->panels) quantise_row(pass->bytes + at(row, model->hidden), from, head);
        else memcpy(pass->branch + at(row, pass->stride), from, (size_t)model->hidden * sizeof *from);
    }
    meet(own);
    if (head->panels) {
        product job = {.by = head, .from = pass->bytes, .to = pass->branch, .stride = (size_t)pass->stride,
                       .finish = GELU};
        share_product(own, &job, pass->inner);
    }
    FOR_EACH_PIECE(own, piece, pieces)
    FOR_ROWS_OF_PIECE(row, piece, pass->inner) {
        float *values = pass->branch + at(row, pass->stride);
        if (head->panels) normalise(values, values, &model->head_norm, model->epsilon);
        if (model->scores_all) quantise_row(pass->bytes + at(row, model->hidden), values, &model->table);
    }
    meet(own);
}

/* The best of a row's scores, in order; of equal ones the first. */
static void find_best(const float *scores, int count, int32_t best[BEST]) {
    float found[BEST];
    int used = 0;
    for (int place = 0; place < count; place += LANES) {
        if (used == BEST && !any_greater(load(scores + place), all(found[BEST - 1]))) continue;
        for (int i = place; i < place + LANES && i < count; i++) {
            if (used == BEST && scores[i] <= found[BEST - 1]) continue;
            int behind = used < BEST ? used++ : BEST - 1;
            for (; behind && found[behind - 1] < scores[i]; behind--) {
                found[behind] = found[behind - 1];
                best[behind] = best[behind - 1];
            }
            found[behind] = scores[i];
            best[behind] = i;
        }
    }
    for (; used < BEST; used++) best[used] = 0;
}

/* What becomes of a row's scores of all characters. */
static void answer(const pass *pass, int inner, float *scores) {
    const model *model = pass->model;
    const reading *reading = pass->reading;
    int row = pass->inner_row[inner];
    int32_t *best = reading->best + at(row, BEST);
    find_best(scores, model->vocabulary, best);
    softmax(scores, model->vocabulary, 1.0f);
    for (int i = 0; i < BEST; i++) reading->best_probabilities[at(row, BEST) + (size_t)i] = scores[best[i]];
    reading->source_probability[row] = scores[reading->ids[row]];
    if (!model->states.rows) return;
    const float read[LIKELIHOODS] = {scores[reading->ids[row]], scores[reading->ids[row + 1]],
                                     scores[reading->ids[row - 1]], scores[best[0]]};
    for (int i = 0; i < LIKELIHOODS; i++)
        pass->likelihood[at(row, LIKELIHOODS) + (size_t)i] =
            logarithm(read[i] > LEAST_PROBABILITY ? read[i] : LEAST_PROBABILITY);
}

static void share_scores(pass *pass, sharer *own) {
    const model *model = pass->model;
    for (int first = 0; first < pass->inner; first += ROWS_OF_SCORES) {
        int count = pass->inner - first < ROWS_OF_SCORES ? pass->inner - first : ROWS_OF_SCORES;
        product job = {.by = &model->table, .from = pass->bytes + at(first, model->hidden), .to = pass->scores,
                       .stride = (size_t)model->table.padded_outputs, .finish = STORE};
        share_product(own, &job, count);
        FOR_EACH_PIECE(own, piece, count)
        answer(pass, first + piece, pass->scores + at(piece, model->table.padded_outputs));
        meet(own);
    }
}

/* A prefilter's answer: how likely the source character is by its own score alone. */
static void share_source_scores(pass *pass, sharer *own) {
    const model *model = pass->model;
    FOR_EACH_PIECE(own, piece, pieces_of(pass->inner))
    FOR_ROWS_OF_PIECE(inner, piece, pass->inner) {
        int row = pass->inner_row[inner];
        int32_t id = pass->reading->ids[row];
        float *word = pass->word + at(inner, pass->stride), *values = pass->branch + at(inner, pass->stride);
        embed_word(model, id, word);
        floats sum = all(0.0f);
        for (int place = 0; place < model->hidden; place += LANES)
            sum = multiply_add(load(word + place), load(values + place), sum);
        pass->reading->source_probability[row] = sigmoid(total(sum) + model->table.bias[id]);
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

static void member_of_pass(void *context, int member, int members) {
    pass *pass = context;
    const model *model = pass->model;
    sharer own = {&pass->shared, member, members < pass->members ? members : pass->members, 0};
    if (member >= own.members) return;
    float *scratch = pass->scratch + attention_scratch(model, pass->longest) * (size_t)member;
    FOR_EACH_PIECE(&own, piece, pieces_of(pass->rows))
    FOR_ROWS_OF_PIECE(row, piece, pass->rows) embed(pass, row);
    meet(&own);
    for (int number = 0; number < model->layers; number++) {
        share_layer(pass, &own, number, scratch);
        for (int part = 0; model->states.rows && part < 4; part++)
            if (model->states_read[part] == number + 1) share_states(pass, &own, part);
    }
    share_head(pass, &own);
    if (!model->scores_all) {
        share_source_scores(pass, &own);
        return;
    }
    share_scores(pass, &own);
    if (model->states.rows) share_tags(pass, &own);
}

/* Memory of a pass: one block, from which arrays are cut. */
typedef struct {
    char *from;
    size_t used;
} cutter;

static void *cut(cutter *memory, size_t bytes) {
    void *found = memory->from ? memory->from + memory->used : NULL;
    memory->used += (bytes + 127) / 64 * 64;
    return found;
}

static void cut_arrays(pass *pass, cutter *memory) {
    const model *model = pass->model;
    size_t rows = (size_t)pass->rows;
    pass->row_window = cut(memory, rows * sizeof(int));
    pass->inner_row = cut(memory, rows * sizeof(int));
    pass->hidden = cut(memory, rows * (size_t)pass->stride * sizeof(float));
    pass->branch = cut(memory, rows * (size_t)pass->stride * sizeof(float));
    pass->qkv = cut(memory, rows * (size_t)model->layer[0].qkv.padded_outputs * sizeof(float));
    pass->bytes = cut(memory, rows * (size_t)model->hidden);
    pass->up_bytes = cut(memory, rows * (size_t)model->intermediate);
    pass->scratch = cut(memory, attention_scratch(model, pass->longest) * (size_t)pass->members * sizeof(float));
    if (!model->scores_all) {
        pass->word = cut(memory, rows * (size_t)pass->stride * sizeof(float));
        return;
    }
    pass->scores = cut(memory, ROWS_OF_SCORES * (size_t)model->table.padded_outputs * sizeof(float));
    if (!model->states.rows) return;
    pass->likelihood = cut(memory, rows * LIKELIHOODS * sizeof(float));
    pass->tag = cut(memory, rows * (size_t)pass->tag_stride * sizeof(float));
    pass->neighbour = cut(memory, rows * (size_t)pass->neighbour_stride * sizeof(float));
    size_t with_zeros = rows + 2 * NEIGHBOURS * (size_t)(pass->reading->windows + 1);
    pass->around = cut(memory, (with_zeros * (size_t)pass->tag_width + LANES) * sizeof(float));
}

static void fill_arrays(pass *pass) {
    const reading *reading = pass->reading;
    size_t with_zeros = (size_t)pass->rows + 2 * NEIGHBOURS * (size_t)(reading->windows + 1);
    if (pass->around) {
        memset(pass->likelihood, 0, (size_t)pass->rows * LIKELIHOODS * sizeof(float));
        memset(pass->around, 0, with_zeros * (size_t)pass->tag_width * sizeof(float));
    }
    for (int window = 0; window < reading->windows; window++)
        for (int row = reading->edges[window]; row < reading->edges[window + 1]; row++) {
            pass->row_window[row] = window;
            if (row > reading->edges[window] && row < reading->edges[window + 1] - 1)
                pass->inner_row[pass->inner++] = row;
        }
}

static int read_windows(const model *model, team *team, const reading *reading) {
    pass made = {.model = model, .reading = reading, .rows = reading->rows};
    made.members = team_members(team) < MOST_MEMBERS ? team_members(team) : MOST_MEMBERS;
    made.stride = (model->hidden + PANEL - 1) / PANEL * PANEL;
    if (model->states.rows) {
        made.tag_width = model->states.outputs;
        made.tag_stride = model->states.padded_outputs;
        int wide = model->block[0].neighbours.padded_outputs;
        made.neighbour_stride = wide > made.tag_stride ? wide : made.tag_stride;
    }
    for (int window = 0; window < reading->windows; window++) {
        int length = reading->edges[window + 1] - reading->edges[window];
        if (length > made.longest) made.longest = length;
    }
    cutter memory = {NULL, 0};
    cut_arrays(&made, &memory);
    memory = (cutter){borrow(memory.used), 0};
    if (!memory.from) return 1;
    cut_arrays(&made, &memory);
    fill_arrays(&made);
    begin_steps(&made.shared);
    team_run(team, member_of_pass, &made);
    end_steps(&made.shared);
    give_back(memory.from);
    return 0;
}

#endif
