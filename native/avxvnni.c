/* The pass on x86 processors with AVX2 and its products of bytes (AVX-VNNI). */
#if defined(__x86_64__)

#define USE_AVX2
#define USE_AVXVNNI
#define TARGET "avx2,fma,avxvnni"
#include "target.h"

#include "forward.h"

const kernels kernels_avxvnni = {PANEL, BYTE_SHIFT, read_windows};

#include "target_end.h"

#endif
