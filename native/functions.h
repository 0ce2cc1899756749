/* The functions of a transformer over rows of floats. */
#ifndef NMSPELLER_FUNCTIONS_H
#define NMSPELLER_FUNCTIONS_H

#include "lanes.h"
#include "model.h"

/* 2 to the power of a, from 2^-126 on, wrong by at most two parts in ten million.
 *
 * Polynomials are summed in pairs: what depends on what is shorter than by Horner's rule, and that is what counts.
 */
INLINE floats two_to(floats a) {
    a = greatest(a, all(-126.0f));
    floats n = whole(a), x = subtract(a, n), square = multiply(x, x);
    floats low = multiply_add(all(6.931469671e-1f), x, all(1.000000072f));
    floats middle = multiply_add(all(5.550713287e-2f), x, all(2.402211979e-1f));
    floats high = multiply_add(all(1.327645311e-3f), x, all(9.675537892e-3f));
    floats value = multiply_add(multiply_add(high, square, middle), square, low);
    return multiply(value, power_of_two(to_ints(n)));
}

#define LOG2_E 1.44269504f

/* x Φ(x), wrong by at most 2e-7 x: the logarithm of the complementary error function is nearly a polynomial. */
INLINE floats gelu(floats x) {
    floats z = least(multiply(magnitude(x), all(0.707106781f)), all(4.4f));
    floats square = multiply(z, z), fourth = multiply(square, square);
    floats first = multiply_add(all(9.183286346e-1f), z, all(1.627913732f));
    floats second = multiply_add(all(-2.945262256e-2f), z, all(1.489637182e-1f));
    floats third = multiply_add(all(4.615183739e-4f), z, all(2.302350308e-3f));
    floats low = multiply_add(second, square, first);
    floats high = multiply_add(all(-1.002111618e-4f), square, third);
    floats power = multiply(multiply_add(high, fourth, low), z);
    floats tail = two_to(subtract(all(0.0f), power)), half = multiply(all(0.5f), x);
    return multiply_add(half, with_sign_of(subtract(all(1.0f), tail), x), half);
}

/* The natural logarithm of a normal number, within three units in the last place. */
INLINE float logarithm(float a) {
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    int exponent = (int)(bits >> 23) - 126;
    bits = (bits & 0x007fffffu) | 0x3f000000u;
    float x;
    memcpy(&x, &bits, sizeof x);
    if (x < 0.707106781f) {
        exponent--;
        x = x + x;
    }
    x -= 1.0f;
    static const float terms[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                                  -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                                  2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
    float square = x * x, value = terms[0];
    for (int term = 1; term < 9; term++) value = value * x + terms[term];
    value = value * x * square + (float)exponent * -2.12194440e-4f - 0.5f * square;
    return x + value + (float)exponent * 0.693359375f;
}

INLINE float sigmoid(float a) {
    float lane[LANES];
    store(lane, two_to(all((a < 0 ? a : -a) * LOG2_E)));
    return a < 0 ? lane[0] / (1.0f + lane[0]) : 1.0f / (1.0f + lane[0]);
}

/* What makes bytes of a product's input, beside the multiplier of each channel. */
typedef struct {
    floats low, high;
    ints zero;
} byte_range;

INLINE byte_range bytes_of(const dense *reader) {
    float zero = (float)reader->zero_point;
    return (byte_range){all(-zero), all(255.0f - zero), all_ints(reader->zero_point - BYTE_SHIFT)};
}

/* Sixteen channels of the input as bytes. */
INLINE void quantise(uint8_t *to, floats a, floats multiplier, byte_range range) {
    floats inside = least(greatest(multiply(a, multiplier), range.low), range.high);
    store_bytes(to, add_ints(to_ints(inside), range.zero));
}

INLINE void quantise_row(uint8_t *to, const float *row, const dense *reader) {
    byte_range range = bytes_of(reader);
    const float *multiplier = reader->input_multiplier;
    for (int place = 0, width = reader->width; place < width; place += LANES)
        quantise(to + place, load(row + place), load(multiplier + place), range);
}

/* Mean and one over the deviation of a row. */
INLINE void moments(const float *row, int width, float epsilon, float *mean, float *inverse) {
    int all_but_rest = width / LANES * LANES, rest = width - all_but_rest;
    floats sum = all(0.0f);
    for (int place = 0; place < all_but_rest; place += LANES) sum = add(sum, load(row + place));
    if (rest) sum = add(sum, load_some(row + all_but_rest, rest));
    *mean = total(sum) / (float)width;
    floats squares = all(0.0f), centre = all(*mean);
    for (int place = 0; place < all_but_rest; place += LANES) {
        floats difference = subtract(load(row + place), centre);
        squares = multiply_add(difference, difference, squares);
    }
    if (rest) {
        float mean_too[LANES];
        for (int i = 0; i < LANES; i++) mean_too[i] = i < rest ? row[all_but_rest + i] : *mean;
        floats difference = subtract(load(mean_too), centre);
        squares = multiply_add(difference, difference, squares);
    }
    *inverse = 1.0f / __builtin_sqrtf(total(squares) / (float)width + epsilon);
}

INLINE floats normalised(const float *row, const norm *by, int place, float mean, float inverse) {
    floats value = multiply(subtract(load(row + place), all(mean)), all(inverse));
    return multiply_add(value, load(by->gain + place), load(by->bias + place));
}

/* A row of any width, normalised; exactly `width` floats are written. */
INLINE void normalise(float *to, const float *row, const norm *by, float epsilon) {
    float mean, inverse;
    moments(row, by->width, epsilon, &mean, &inverse);
    for (int place = 0; place < by->width; place += LANES) {
        int rest = by->width - place;
        floats value = normalised(row, by, place, mean, inverse);
        if (rest >= LANES) {
            store(to + place, value);
        } else {
            float lane[LANES];
            store(lane, value);
            memcpy(to + place, lane, (size_t)rest * sizeof *lane);
        }
    }
}

/* e to the power of what each score, times `scale`, is above that of `most`. */
INLINE floats powers(floats scores, float most, float scale) {
    return two_to(multiply(subtract(scores, all(most)), all(scale * LOG2_E)));
}

/* The same of the last scores of a row, fewer than sixteen, with zeros behind them. */
INLINE floats last_powers(const float *row, int count, float most, float scale) {
    float lane[LANES];
    store(lane, powers(load_some(row, count), most, scale));
    for (int i = count; i < LANES; i++) lane[i] = 0.0f;
    return load(lane);
}

/* Scores, each times `scale`, to probabilities, in place; scores behind `count`, up to a multiple of sixteen, become zeros. */
INLINE void softmax(float *row, int count, float scale) {
    int whole_blocks = count / LANES * LANES, rest = count - whole_blocks;
    for (int i = rest; rest && i < LANES; i++) row[whole_blocks + i] = -1e30f;
    int padded = whole_blocks + (rest ? LANES : 0);
    floats highest = load(row);
    for (int place = LANES; place < padded; place += LANES) highest = greatest(highest, load(row + place));
    float most = greatest_lane(highest);
    floats sum = all(0.0f);
    for (int place = 0; place < padded; place += LANES) {
        floats power = place < whole_blocks ? powers(load(row + place), most, scale)
                                            : last_powers(row + place, rest, most, scale);
        store(row + place, power);
        sum = add(sum, power);
    }
    floats share = all(1.0f / total(sum));
    for (int place = 0; place < padded; place += LANES) store(row + place, multiply(load(row + place), share));
}

/* What makes probabilities of the powers of a row of scores. */
INLINE float share_of_powers(const float *row, int count, float most) {
    int whole_blocks = count / LANES * LANES;
    floats sum = all(0.0f);
    for (int place = 0; place < whole_blocks; place += LANES) sum = add(sum, powers(load(row + place), most, 1.0f));
    if (whole_blocks < count) sum = add(sum, last_powers(row + whole_blocks, count - whole_blocks, most, 1.0f));
    return 1.0f / total(sum);
}

#endif
