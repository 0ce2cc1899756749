/* The pass on x86 processors with AVX-512 and its products of bytes (VNNI). */
#if defined(__x86_64__)

#define USE_AVX512
#define USE_VNNI

#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,avx2"
#include "target.h"

#include "forward.h"

const kernels kernels_avx512 = {PANEL, BYTE_SHIFT, PAIRS_OVERFLOW, read_windows};

#include "target_end.h"

#endif
