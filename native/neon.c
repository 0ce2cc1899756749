/* The pass on ARM processors with products of bytes (dot products). */
#if defined(__aarch64__)

#define USE_NEON
#define TARGET "arch=armv8.2-a+dotprod"
#include "target.h"

#include "forward.h"

const kernels kernels_neon = {PANEL, BYTE_SHIFT, read_windows};

#include "target_end.h"

#endif
