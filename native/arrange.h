/* A model as the passes want it, made from what Python read. */
#ifndef NMSPELLER_ARRANGE_H
#define NMSPELLER_ARRANGE_H

#include "model.h"

/* The model, which owns all its memory, for kernels of this kind; NULL where memory is short. */
model *arrange_model(const model_source *, const kernels *);
void free_model(model *);

#endif
