/* The pass on x86 processors with AVX2 alone. */
#if defined(__x86_64__)

#define USE_AVX2

#define TARGET "avx2,fma"
#include "target.h"

#include "forward.h"

const kernels kernels_avx2 = {PANEL, BYTE_SHIFT, PAIRS_OVERFLOW, read_windows};

#include "target_end.h"

#endif
