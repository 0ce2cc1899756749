/* From the encoder's states to what is said of each character. */
#ifndef NMSPELLER_SCORES_H
#define NMSPELLER_SCORES_H

#include "layers.h"

#define LEAST_PROBABILITY 1e-6f /* of smaller ones the tags read the logarithm of this */

/* The rows of characters, as the head has changed them, in `branch`, one behind the other, and as bytes. */
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

/* What becomes of a row's scores of all characters: few of their probabilities are asked for. */
static void answer(const pass *pass, int inner, const float *scores) {
    const model *model = pass->model;
    const reading *reading = pass->reading;
    int row = pass->inner_row[inner];
    int32_t *best = reading->best + at(row, BEST);
    find_best(scores, model->vocabulary, best);
    float most = scores[best[0]], share = share_of_powers(scores, model->vocabulary, most);
    float asked[LANES] = {scores[reading->ids[row]], scores[reading->ids[row + 1]], scores[reading->ids[row - 1]]};
    for (int i = 0; i < BEST; i++) asked[LIKELIHOODS - 1 + i] = scores[best[i]];
    store(asked, multiply(powers(load(asked), most, 1.0f), all(share)));
    memcpy(reading->best_probabilities + at(row, BEST), asked + LIKELIHOODS - 1, BEST * sizeof *asked);
    reading->source_probability[row] = asked[0];
    if (!model->states.panels) return;
    for (int i = 0; i < LIKELIHOODS; i++)
        pass->likelihood[at(row, LIKELIHOODS) + (size_t)i] =
            logarithm(asked[i] > LEAST_PROBABILITY ? asked[i] : LEAST_PROBABILITY);
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

#endif
