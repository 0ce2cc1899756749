/* A pass under way, and how its rows are shared. */
#ifndef NMSPELLER_PASS_H
#define NMSPELLER_PASS_H

#include "products.h"
#include "sharing.h"

#define ROWS_OF_PIECE 4
#define ROWS_OF_SCORES 32 /* whose scores of all characters are kept at once: they are many */

/* A pass under way. Rows have a stride of whole panels. */
typedef struct {
    const model *model;
    const reading *reading;
    int rows, inner, stride, longest; /* `inner` are the rows of characters */
    int *row_window;   /* (rows,) */
    int *inner_row;    /* (inner,) the rows of characters */
    float *hidden;     /* (rows, stride) */
    float *branch;     /* (rows, stride) what a block adds */
    float *word;       /* (inner, stride) of a prefilter: the embeddings of the characters */
    uint8_t *bytes;    /* (rows, hidden) */
    uint8_t *bytes_of_heads; /* (rows, hidden) what attention makes */
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
INLINE int smaller(int a, int b) { return a < b ? a : b; }

#define FOR_ROWS_OF_PIECE(row, piece, rows)                                                             \
    for (int row = (piece) * ROWS_OF_PIECE, end_ = smaller(row + ROWS_OF_PIECE, rows); row < end_; row++)

#define FOR_ROWS_OF_MEMBER(row, piece, members, rows) \
    for (int row = run_begin(rows, piece, members), end_ = run_begin(rows, (piece) + 1, members); row < end_; row++)

INLINE int padded(int count) { return (count + LANES - 1) / LANES * LANES; }
/* A head's channels with padding: whole panels. */
INLINE int head_width(const model *model) { return (model->hidden / model->heads + PANEL - 1) / PANEL * PANEL; }
INLINE size_t at(int row, int stride) { return (size_t)row * (size_t)stride; }

INLINE const int8_t *first_panel_of(const dense *by, const sharer *own) {
    return panel_of(by, run_begin(by->padded_outputs / PANEL, own->member, own->members));
}

static void share_product(sharer *own, const product *job, int rows) {
    int panels = job->by->padded_outputs / PANEL, last = run_begin(panels, own->member + 1, own->members) - 1;
    /* Behind the last panel of its run, a member begins with its run of the next product. */
    const int8_t *behind = panel_of(job->by, last + 1);
    if (job->next && own->members > 1) behind = first_panel_of(job->next, own);
    FOR_EACH_PIECE(own, panel, panels)
    multiply_panel(job, rows, panel, panel == last ? behind : panel_of(job->by, panel + 1));
    meet(own);
}

#endif
