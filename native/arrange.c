#include "arrange.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#define LANES 16
#define LARGE_PAGE ((size_t)2 << 20)

/* One block of memory, from which arrays are cut; without memory it only counts. */
typedef struct {
    char *from;
    size_t used;
    const kernels *kernels;
} arena;

static void *cut(arena *memory, size_t bytes) {
    void *found = memory->from ? memory->from + memory->used : NULL;
    memory->used += (bytes + 63) / 64 * 64;
    return found;
}

static int padded(int count, int to) { return (count + to - 1) / to * to; }

/* A copy with zeros behind it. */
static const float *floats_of(arena *memory, const float *from, int count, int to) {
    if (!from) return NULL;
    float *copy = cut(memory, (size_t)padded(count, to) * sizeof *copy);
    if (copy) memcpy(copy, from, (size_t)count * sizeof *copy);
    return copy;
}

/* Where outputs come from: a stride for the inputs of one output, and one for the outputs. */
typedef struct {
    size_t input, output;
} layout;

/* Outputs of one panel, or a part of one: their weights, and the sums of these. */
static void to_panel(const dense *made, int to, const int8_t *weights, layout from, int count, int panel) {
    int8_t *own = (int8_t *)made->panels + (size_t)(to / panel) * (size_t)(made->width * panel) + to % panel * 4;
    int32_t *sums = (int32_t *)made->offset + to;
    for (int input = 0; input < made->width; input += 4, own += 4 * panel)
        for (int i = 0; i < count; i++)
            for (int j = 0; j < 4; j++)
                sums[i] += own[4 * i + j] = weights[(size_t)(input + j) * from.input + (size_t)i * from.output];
}

/* Outputs from `first` on of a source to a product's from `to` on. */
static void to_panels(const dense *made, int to, const dense_source *source, layout from, int first, int count,
                      int panel) {
    for (int done = 0, part; done < count; done += part) {
        int room = panel - (to + done) % panel;
        part = count - done < room ? count - done : room;
        to_panel(made, to + done, source->weights + (size_t)(first + done) * from.output, from, part, panel);
    }
    memcpy((float *)made->scale + to, source->weight_scale + first, (size_t)count * sizeof(float));
    memcpy((float *)made->bias + to, source->bias + first, (size_t)count * sizeof(float));
}

/* Memory for a product with so many outputs, whole panels. */
static dense empty_dense(arena *memory, const dense_source *source, int padded_outputs) {
    dense made = {.width = source->width, .outputs = source->outputs, .padded_outputs = padded_outputs,
                  .zero_point = source->zero_point};
    made.panels = cut(memory, (size_t)made.width * (size_t)padded_outputs);
    made.offset = cut(memory, (size_t)padded_outputs * sizeof *made.offset);
    made.scale = cut(memory, (size_t)padded_outputs * sizeof *made.scale);
    made.bias = cut(memory, (size_t)padded_outputs * sizeof *made.bias);
    float *multiplier = cut(memory, (size_t)padded(made.width, LANES) * sizeof *multiplier);
    for (int input = 0; multiplier && input < made.width; input++)
        multiplier[input] = (source->input_multiplier ? source->input_multiplier[input] : 1.0f) / source->scale;
    made.input_multiplier = multiplier;
    return made;
}

/* From the sums of weights to what the zero point adds to the sums of products. */
static void finish_offsets(const dense *made, const kernels *kernels) {
    int32_t *offset = (int32_t *)made->offset;
    for (int output = 0; output < made->padded_outputs; output++)
        offset[output] *= -(made->zero_point - kernels->byte_shift);
}

/* What is too much in a pair of weights for products with bytes to fit into 16 bits: never more than the first. */
static int excess_of(int first, int second) {
    int sum = first + second;
    return sum > 128 ? sum - 128 : sum < -128 ? sum + 128 : 0;
}

static size_t count_excesses(const dense_source *source, layout from) {
    size_t count = 0;
    for (int input = 0; input < source->width; input += 2) {
        const int8_t *first = source->weights + (size_t)input * from.input, *second = first + from.input;
        for (int output = 0; output < source->outputs; output++, first += from.output, second += from.output)
            count += excess_of(*first, *second) != 0;
    }
    return count;
}

/* Move what is too much in the panels to a list, which is cut to its length in both rounds. */
static void limit_pairs(arena *memory, dense *made, const dense_source *source, layout from) {
    if (!memory->kernels->pairs_overflow) return;
    int panel = memory->kernels->panel, panels = made->padded_outputs / panel;
    size_t count = 0, *begin = cut(memory, ((size_t)panels + 1) * sizeof *begin);
    if (!begin) {
        cut(memory, count_excesses(source, from) * sizeof(excess));
        return;
    }
    int8_t *pair = (int8_t *)made->panels;
    excess *list = (excess *)(memory->from + memory->used);
    for (int number = 0; number < panels; number++) {
        for (int input = 0; input < made->width; input += 4)
            for (int place = 0; place < 2 * panel; place++, pair += 2) {
                int weight = excess_of(pair[0], pair[1]);
                if (!weight) continue;
                pair[0] = (int8_t)(pair[0] - weight);
                list[count++] = (excess){input + place % 2 * 2, (int16_t)(place / 2), (int16_t)weight};
            }
        begin[number + 1] = count;
    }
    made->excesses = cut(memory, count * sizeof *list);
    made->excesses_begin = begin;
}

static dense dense_of(arena *memory, const dense_source *source, layout from) {
    if (!source->weights) return (dense){0};
    int panel = memory->kernels->panel;
    dense made = empty_dense(memory, source, padded(source->outputs, panel));
    if (made.panels) {
        to_panels(&made, 0, source, from, 0, made.outputs, panel);
        finish_offsets(&made, memory->kernels);
    }
    limit_pairs(memory, &made, source, from);
    return made;
}

static layout by_input(const dense_source *source) { return (layout){(size_t)source->outputs, 1}; }

static dense qkv_of(arena *memory, const dense_source *source, int heads) {
    int panel = memory->kernels->panel, size = source->outputs / 3 / heads, wide = padded(size, panel);
    dense made = empty_dense(memory, source, 3 * heads * wide);
    if (made.panels) {
        for (int head = 0; head < heads; head++)
            for (int part = 0; part < 3; part++)
                to_panels(&made, (3 * head + part) * wide, source, by_input(source), (part * heads + head) * size, size,
                          panel);
        finish_offsets(&made, memory->kernels);
    }
    limit_pairs(memory, &made, source, by_input(source));
    return made;
}

static float_dense float_dense_of(arena *memory, const float_source *source) {
    if (!source->weights) return (float_dense){0};
    int panel = memory->kernels->panel;
    float_dense made = {.width = source->width, .outputs = source->outputs,
                        .padded_outputs = padded(source->outputs, panel)};
    float *panels = cut(memory, (size_t)made.width * (size_t)made.padded_outputs * sizeof *panels);
    for (int first = 0; panels && first < made.outputs; first += panel) {
        int count = made.outputs - first < panel ? made.outputs - first : panel;
        for (int row = 0; row < made.width; row++)
            memcpy(panels + (size_t)first * (size_t)made.width + (size_t)row * (size_t)panel,
                   source->weights + (size_t)row * (size_t)made.outputs + first, (size_t)count * sizeof *panels);
    }
    made.panels = panels;
    made.bias = floats_of(memory, source->bias, made.outputs, panel);
    return made;
}

static norm norm_of(arena *memory, norm_source source, int width) {
    return (norm){floats_of(memory, source.gain, width, LANES), floats_of(memory, source.bias, width, LANES), width};
}

static void arrange(arena *memory, model *to, const model_source *from) {
    int hidden = from->hidden;
    to->layer = cut(memory, (size_t)from->layers * sizeof *to->layer);
    for (int number = 0; number < from->layers; number++) {
        const layer_source *source = &from->layer[number];
        /* In the order in which they are read. */
        layer made = {.qkv = qkv_of(memory, &source->qkv, from->heads)};
        made.out = dense_of(memory, &source->out, by_input(&source->out));
        made.up = dense_of(memory, &source->up, by_input(&source->up));
        made.down = dense_of(memory, &source->down, by_input(&source->down));
        made.attention_norm = norm_of(memory, source->attention_norm, hidden);
        made.output_norm = norm_of(memory, source->output_norm, hidden);
        made.qkv_scale = floats_of(memory, source->qkv_scale, hidden, LANES);
        made.up_scale = floats_of(memory, source->up_scale, hidden, LANES);
        if (to->layer) to->layer[number] = made;
    }
    to->head = dense_of(memory, &from->head, by_input(&from->head));
    to->head_norm = norm_of(memory, from->head_norm, hidden);
    dense_source table = {.weights = from->table, .weight_scale = from->table_scales, .bias = from->table_bias,
                          .scale = from->table_scale, .zero_point = from->table_zero_point, .width = hidden,
                          .outputs = from->vocabulary};
    to->table = dense_of(memory, &table, (layout){1, (size_t)hidden});
    to->word_scale = floats_of(memory, from->table_scales, from->vocabulary, LANES);
    /* A sum is of bytes of the input, too. */
    float *scale = (float *)to->table.scale;
    for (int id = 0; scale && id < from->vocabulary; id++) scale[id] *= from->table_scale;
    to->embedding_norm = norm_of(memory, from->embedding_norm, hidden);
    to->states = float_dense_of(memory, &from->states);
    to->likelihoods = float_dense_of(memory, &from->likelihoods);
    to->tags = float_dense_of(memory, &from->tags);
    to->tag_norm = norm_of(memory, from->tag_norm, from->states.outputs);
    to->tag_output_norm = norm_of(memory, from->tag_output_norm, from->states.outputs);
    for (int number = 0; number < from->blocks; number++) {
        const block_source *source = &from->block[number];
        to->block[number].norm = norm_of(memory, source->norm, from->states.outputs);
        to->block[number].neighbours = float_dense_of(memory, &source->neighbours);
        to->block[number].out = float_dense_of(memory, &source->out);
    }
}

static char *zeros(size_t bytes) {
    size_t whole = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    char *found = aligned_alloc(LARGE_PAGE, whole);
    if (!found) return NULL;
#if defined(__linux__)
    /* The weights are read from end to end for every batch. */
    madvise(found, whole, MADV_HUGEPAGE);
#endif
    memset(found, 0, bytes);
    return found;
}

model *arrange_model(const model_source *from, const kernels *kernels) {
    if (from->blocks > MOST_BLOCKS) return NULL;
    model facts = {.vocabulary = from->vocabulary, .hidden = from->hidden, .intermediate = from->intermediate,
                   .layers = from->layers, .heads = from->heads, .blocks = from->blocks,
                   .scores_all = from->scores_all, .epsilon = from->epsilon, .positions = NULL};
    for (int part = 0; part < 4; part++) facts.states_read[part] = from->states_read ? from->states_read[part] : 0;
    arena memory = {NULL, 0, kernels};
    model counted = facts;
    cut(&memory, sizeof(model));
    const float *positions = floats_of(&memory, from->positions, from->hidden * from->longest, LANES);
    arrange(&memory, &counted, from);
    memory = (arena){zeros(memory.used), 0, kernels};
    if (!memory.from) return NULL;
    model *made = cut(&memory, sizeof *made);
    *made = facts;
    positions = floats_of(&memory, from->positions, from->hidden * from->longest, LANES);
    arrange(&memory, made, from);
    made->positions = positions;
    return made;
}

void free_model(model *gone) { free(gone); }
