/* The pass on ARM processors with products of bytes (dot products). */
#if defined(__aarch64__)

#define USE_NEON
#if defined(__clang__)
#define TARGET "dotprod"
#ifndef __ARM_FEATURE_DOTPROD
#define __ARM_FEATURE_DOTPROD 1 /* clang before 16 declares the products only with it */
#endif
#else
#define TARGET "arch=armv8.2-a+dotprod"
#endif
#include "target.h"
#ifndef __clang__
/* GCC would load everything that a step of a tile needs at once, and have no registers left for the sums. */
#pragma GCC optimize("no-schedule-insns")
#endif

#include "forward.h"

const kernels kernels_neon = {PANEL, BYTE_SHIFT, PAIRS_OVERFLOW, read_windows};

#include "target_end.h"

#endif
