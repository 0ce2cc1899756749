/* What Python calls. */
#include <stdlib.h>
#include <string.h>

#include "arrange.h"

#define EXPORTED __attribute__((visibility("default")))

typedef struct {
    const char *name;
    const kernels *kernels;
} instruction_set;

#if defined(__x86_64__)

extern const kernels kernels_avx512, kernels_avxvnni, kernels_avx512bw, kernels_avx2;

/* __builtin_cpu_supports does not know it in every compiler that has its instructions. */
#include <cpuid.h>
static int has_avxvnni(void) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1) && __builtin_cpu_supports("avx2");
}

static int supports(const char *name) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    if (!strcmp(name, "avx2")) return 1;
    if (!strcmp(name, "avxvnni")) return has_avxvnni();
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return 0;
    return !strcmp(name, "avx512bw") || (!strcmp(name, "avx512") && __builtin_cpu_supports("avx512vnni"));
}

static const instruction_set sets[] = {
    {"avx512", &kernels_avx512},
#if __has_include(<avxvnniintrin.h>) /* as in avxvnni.c */
    {"avxvnni", &kernels_avxvnni},
#endif
    {"avx512bw", &kernels_avx512bw},
    {"avx2", &kernels_avx2}};

#else

#if defined(__linux__)
#include <sys/auxv.h>
#define HAS_DOT_PRODUCTS (1 << 20)
static int supports(const char *name) { return !strcmp(name, "neon") && (getauxval(AT_HWCAP) & HAS_DOT_PRODUCTS); }
#elif defined(__APPLE__)
/* Every Mac with an ARM processor has them. */
static int supports(const char *name) { return !strcmp(name, "neon"); }
#else
/* Who knows? */
static int supports(const char *name) { return (void)name, 0; }
#endif

extern const kernels kernels_neon;

static const instruction_set sets[] = {{"neon", &kernels_neon}};

#endif

#define SETS (sizeof sets / sizeof *sets)

/* The instruction sets of this processor that there are kernels for, best first: the number-th name, or NULL. */
EXPORTED const char *nmspeller_instruction_set(int number) {
    for (size_t set = 0; set < SETS; set++)
        if (supports(sets[set].name) && number-- == 0) return sets[set].name;
    return NULL;
}

typedef struct {
    model *model;
    const kernels *kernels;
} opened;

/* A model for an instruction set that this processor has; NULL where it has not, or memory is short. */
EXPORTED opened *nmspeller_open(const model_source *source, const char *name) {
    opened *made = supports(name) ? calloc(1, sizeof *made) : NULL;
    if (!made) return NULL;
    for (size_t set = 0; set < SETS; set++)
        if (!strcmp(sets[set].name, name)) made->kernels = sets[set].kernels;
    if (made->kernels) made->model = arrange_model(source, made->kernels);
    if (made->model) return made;
    free(made);
    return NULL;
}

EXPORTED void nmspeller_close(opened *gone) {
    free_model(gone->model);
    free(gone);
}

EXPORTED team *nmspeller_team(int threads) { return team_new(threads); }

EXPORTED void nmspeller_dismiss(team *gone) { team_free(gone); }

/* 0, or 1 where memory is short. */
EXPORTED int nmspeller_read(const opened *opened, team *team, const reading *reading) {
    return opened->kernels->read(opened->model, team, reading);
}
