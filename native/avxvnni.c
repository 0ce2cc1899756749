/* The pass on x86 processors with AVX2 and its products of bytes (AVX-VNNI), which GCC before 11 and clang before 12 do
 * not know. */
#if defined(__x86_64__) && __has_include(<avxvnniintrin.h>)

#define USE_AVX2
#define USE_VNNI
#define TARGET "avx2,fma,avxvnni"
#include "target.h"

#include "forward.h"

const kernels kernels_avxvnni = {PANEL, BYTE_SHIFT, PAIRS_OVERFLOW, read_windows};

#include "target_end.h"

#endif
