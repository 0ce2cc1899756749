/* Products with weight matrices, a panel of outputs at a time.
 *
 * A tile of a few rows and a panel of outputs stays in registers while the inputs go by. Panels are read once from
 * memory for all rows; while one is multiplied, the next is fetched into the cache.
 */
#ifndef NMSPELLER_PRODUCTS_H
#define NMSPELLER_PRODUCTS_H

#include "functions.h"

#define PANEL (BLOCKS_OF_TILE * LANES)
#define LINE 64

/* What becomes of a tile's sums. */
typedef enum {
    STORE,        /* floats */
    ADD_RESIDUAL, /* floats, to which what `to` holds is added */
    GELU,         /* floats */
    GELU_BYTES    /* bytes for the next product */
} finish;

typedef struct {
    const dense *by;
    const dense *next; /* the product behind this one, if any */
    const uint8_t *from; /* (rows, width) */
    float *to;           /* (rows, stride), whose first column is of the output `first` */
    int first;
    size_t stride;
    finish finish;
    const dense *reader; /* of GELU_BYTES */
    uint8_t *bytes;      /* (rows, width of the reader) */
} product;

INLINE void finish_as(finish how, const product *job, int rows, int row, int output, const int32_t *sums) {
    const dense *by = job->by, *reader = job->reader;
    byte_range range = how == GELU_BYTES ? bytes_of(reader) : (byte_range){all(0), all(0), all_ints(0)};
    int stop = how == GELU_BYTES ? reader->width : by->padded_outputs; /* bytes have no room for padding */
    size_t stride = how == GELU_BYTES ? (size_t)reader->width : job->stride;
    for (int place = output; place < output + PANEL && place < stop; place += LANES, sums += LANES) {
        floats scale = load(by->scale + place), bias = load(by->bias + place);
        floats multiplier = how == GELU_BYTES ? load(reader->input_multiplier + place) : scale;
        ints offset = load_ints(by->offset + place);
        float *to = job->to + (size_t)row * stride + (size_t)(place - job->first);
        uint8_t *bytes = job->bytes + (size_t)row * stride + (size_t)place;
        for (int i = 0; i < rows; i++, to += stride, bytes += stride) {
            floats value = multiply_add(to_floats(add_ints(load_ints(sums + i * PANEL), offset)), scale, bias);
            if (how == STORE) store(to, value);
            else if (how == ADD_RESIDUAL) store(to, add(load(to), value));
            else if (how == GELU) store(to, gelu(value));
            else quantise(bytes, gelu(value), multiplier, range);
        }
    }
}

static void finish_tile(const product *job, int rows, int row, int output, const int32_t *sums) {
    switch (job->finish) {
    case STORE: finish_as(STORE, job, rows, row, output, sums); break;
    case ADD_RESIDUAL: finish_as(ADD_RESIDUAL, job, rows, row, output, sums); break;
    case GELU: finish_as(GELU, job, rows, row, output, sums); break;
    case GELU_BYTES: finish_as(GELU_BYTES, job, rows, row, output, sums);
    }
}

/* What the weights in a panel lack, times the bytes: not one product in a hundred. */
INLINE void add_excesses(const dense *by, const uint8_t *from, int rows, int number, int32_t *sums) {
    const excess *each = by->excesses + by->excesses_begin[number], *end = by->excesses + by->excesses_begin[number + 1];
    for (; each < end; each++) {
        const uint8_t *value = from + each->input;
        int32_t weight = each->weight, *sum = sums + each->output;
        UNROLL(6)
        for (int i = 0; i < rows; i++) sum[i * PANEL] += value[(size_t)i * (size_t)by->width] * weight;
    }
}

/* What is fetched into the cache beside a tile: so many bytes a step, and the lines that they touch. */
typedef struct {
    const char *from;
    int bytes, lines;
} fetch;

INLINE void tile(const product *job, int rows, int row, int output, const int8_t *panel, fetch next) {
    ints sum[ROWS_OF_TILE][BLOCKS_OF_TILE];
    int width = job->by->width;
    const uint8_t *from = job->from + (size_t)row * (size_t)width;
    UNROLL(6)
    for (int i = 0; i < rows; i++)
        UNROLL(4)
        for (int block = 0; block < BLOCKS_OF_TILE; block++) sum[i][block] = no_ints();
    for (int input = 0; input < width; input += 4, panel += 4 * PANEL) {
        quads weights[BLOCKS_OF_TILE];
        UNROLL(4)
        for (int block = 0; block < BLOCKS_OF_TILE; block++) weights[block] = load_quads(panel + block * 4 * LANES);
        /* Of one block, it is one line: a loop would take a quarter of the time with clang. */
        int lines = BLOCKS_OF_TILE == 1 ? 1 : next.lines;
        for (int line = 0; line < lines; line++) __builtin_prefetch(next.from + line * LINE, 0, 2);
        next.from += next.bytes;
        UNROLL(6)
        for (int i = 0; i < rows; i++) {
            fourfold values = repeat(from + (size_t)i * (size_t)width + input);
            UNROLL(4)
            for (int block = 0; block < BLOCKS_OF_TILE; block++)
                sum[i][block] = add_products(sum[i][block], values, weights[block]);
        }
    }
    /* Compilers keep sums in registers only if every index of them is known. */
    _Alignas(64) int32_t sums[ROWS_OF_TILE * PANEL];
    UNROLL(6)
    for (int i = 0; i < rows; i++)
        UNROLL(4)
        for (int block = 0; block < BLOCKS_OF_TILE; block++) store_ints(sums + i * PANEL + block * LANES, sum[i][block]);
    if (PAIRS_OVERFLOW) add_excesses(job->by, from, rows, output / PANEL, sums);
    finish_tile(job, rows, row, output, sums);
}

static void tile_of(const product *job, int rows, int row, int output, const int8_t *panel, fetch next) {
#define CASE(count) \
    case count: tile(job, count, row, output, panel, next); break;
    switch (rows) {
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
    }
#undef CASE
}

INLINE const int8_t *panel_of(const dense *by, int number) {
    return by->panels + (size_t)number * (size_t)by->width * PANEL;
}

/* One panel of a product, for all rows; `behind` is what will be read after it.
 *
 * Tiles are as equal as can be: a small one waits for its weights. Each fetches its share of `behind`, no faster than
 * memory gives it, since what is on its way keeps the cache from the weights that are needed now.
 */
static void multiply_panel(const product *job, int rows, int number, const int8_t *behind) {
    const int8_t *panel = panel_of(job->by, number);
    int tiles = (rows + ROWS_OF_TILE - 1) / ROWS_OF_TILE, bytes = (4 * PANEL + tiles - 1) / tiles;
    fetch next = {(const char *)behind, bytes, (bytes + LINE - 1) / LINE};
    for (int row = 0, done = 0, count; row < rows; row += count, done++) {
        count = (rows - row + tiles - done - 1) / (tiles - done);
        tile_of(job, count, row, number * PANEL, panel, next);
        next.from += job->by->width / 4 * bytes;
    }
}

/* Rows of floats times rows of weights: to (rows, to_stride) = from (rows, width) @ weights (width, outputs), where
 * outputs is a multiple of sixteen; `begin` is what the sums begin with: what `to` holds, or a row, or zeros. */
typedef enum { FROM_ZEROS, FROM_ROW, FROM_SUM } beginning;

INLINE void float_tile(const float *from, size_t from_stride, const float *weights, size_t stride, int width,
                       float *to, size_t to_stride, int rows, int blocks, beginning begin, const float *first) {
    floats sum[ROWS_OF_TILE][BLOCKS_OF_TILE];
    UNROLL(6)
    for (int i = 0; i < rows; i++)
        UNROLL(4)
        for (int block = 0; block < blocks; block++)
            sum[i][block] = begin == FROM_ZEROS  ? all(0.0f)
                            : begin == FROM_ROW ? load(first + block * LANES)
                                                : load(to + (size_t)i * to_stride + block * LANES);
    for (int input = 0; input < width; input++) {
        floats row[BLOCKS_OF_TILE];
        UNROLL(4)
        for (int block = 0; block < blocks; block++) row[block] = load(weights + (size_t)input * stride + block * LANES);
        UNROLL(6)
        for (int i = 0; i < rows; i++) {
            floats value = all(from[(size_t)i * from_stride + (size_t)input]);
            UNROLL(4)
            for (int block = 0; block < blocks; block++) sum[i][block] = multiply_add(value, row[block], sum[i][block]);
        }
    }
    UNROLL(6)
    for (int i = 0; i < rows; i++)
        UNROLL(4)
        for (int block = 0; block < blocks; block++) store(to + (size_t)i * to_stride + block * LANES, sum[i][block]);
}

/* Rows of floats, in panels; how far apart the rows of a panel are, and the panels. */
typedef struct {
    const float *values;
    size_t row, panel;
} matrix;

/* The weights of inputs from `input` on. */
INLINE matrix weights_of(const float_dense *by, int input) {
    return (matrix){by->panels + (size_t)input * PANEL, PANEL, (size_t)by->width * PANEL};
}

INLINE matrix plain(const float *values, size_t stride) { return (matrix){values, stride, PANEL}; }

static void multiply_floats(const float *from, size_t from_stride, matrix by, int width, float *to, size_t to_stride,
                            int rows, int outputs, beginning begin, const float *first) {
    for (int output = 0; output < outputs; output += PANEL, by.values += by.panel) {
        int blocks = outputs - output < PANEL ? (outputs - output) / LANES : BLOCKS_OF_TILE;
        for (int row = 0, count; row < rows; row += count) {
            count = rows - row >= ROWS_OF_TILE ? ROWS_OF_TILE : rows - row >= 2 ? 2 : 1;
            const float *a = from + (size_t)row * from_stride, *f = first ? first + output : first;
            float *c = to + (size_t)row * to_stride + output;
#define FLOAT_TILE(rows, blocks)                                                                      \
    case 8 * rows + blocks:                                                                           \
        float_tile(a, from_stride, by.values, by.row, width, c, to_stride, rows, blocks, begin, f);   \
        break;
#define FLOAT_TILES(blocks) FLOAT_TILE(ROWS_OF_TILE, blocks) FLOAT_TILE(2, blocks) FLOAT_TILE(1, blocks)
            switch (8 * count + blocks) {
                FLOAT_TILES(1)
#if BLOCKS_OF_TILE == 4
                FLOAT_TILES(2)
                FLOAT_TILES(3)
                FLOAT_TILES(4)
#endif
            }
#undef FLOAT_TILE
#undef FLOAT_TILES
        }
    }
}

#endif
