/* One pass of a BERT speller over windows of ids, as `nmspeller.lab.export.bert_graph` describes it. */
#ifndef NMSPELLER_FORWARD_H
#define NMSPELLER_FORWARD_H

#include "layers.h"
#include "memory.h"
#include "scores.h"
#include "tags.h"

/* So many floats that every member's are on cache lines of their own. */
static size_t padded_scratch(const pass *pass) {
    return (attention_scratch(pass->model, pass->rows, pass->longest) + LANES - 1) / LANES * LANES;
}

static void member_of_pass(void *context, int member, int members) {
    pass *pass = context;
    const model *model = pass->model;
    sharer own = {&pass->shared, member, members < pass->members ? members : pass->members, 0};
    if (member >= own.members) return;
    float *scratch = pass->scratch + padded_scratch(pass) * (size_t)member;
    FOR_EACH_PIECE(&own, piece, pieces_of(pass->rows))
    FOR_ROWS_OF_PIECE(row, piece, pass->rows) embed(pass, row);
    meet(&own);
    for (int number = 0; number < model->layers; number++) {
        share_layer(pass, &own, number, scratch);
        for (int part = 0; model->states.panels && part < 4; part++)
            if (model->states_read[part] == number + 1) share_states(pass, &own, part);
    }
    share_head(pass, &own);
    if (!model->scores_all) {
        share_source_scores(pass, &own);
        return;
    }
    share_scores(pass, &own);
    if (model->states.panels) share_tags(pass, &own);
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
    pass->bytes = cut(memory, rows * (size_t)model->hidden);
    pass->bytes_of_heads = cut(memory, rows * (size_t)model->hidden);
    pass->up_bytes = cut(memory, rows * (size_t)model->intermediate);
    pass->scratch = cut(memory, padded_scratch(pass) * (size_t)pass->members * sizeof(float));
    if (!model->scores_all) {
        pass->word = cut(memory, rows * (size_t)pass->stride * sizeof(float));
        return;
    }
    pass->scores = cut(memory, ROWS_OF_SCORES * (size_t)model->table.padded_outputs * sizeof(float));
    if (!model->states.panels) return;
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
    if (model->states.panels) {
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
