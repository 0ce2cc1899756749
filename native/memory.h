/* Memory of passes, which is kept for the next ones: the system would clear each page anew. */
#ifndef NMSPELLER_MEMORY_H
#define NMSPELLER_MEMORY_H

#include <stddef.h>

/* A block of at least so many bytes, on a cache line of its own; NULL where memory is short. */
void *borrow(size_t bytes);
void give_back(void *block);

#endif
