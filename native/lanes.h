/* Sixteen floats or 32-bit integers at a time, on every instruction set with the same operations in the same order, so
 * that every processor computes the same. An including file defines one of USE_AVX512, USE_AVX2 and USE_NEON first, and
 * USE_VNNI beside the former two where there are products of bytes.
 */
#ifndef NMSPELLER_LANES_H
#define NMSPELLER_LANES_H

#include <stdint.h>
#include <string.h>

#define LANES 16
/* clang 14 to 16 leaves a loop as it is that goes round less often than it is told to unroll. */
#if defined(__clang__)
#define UNROLL(times) _Pragma("clang loop unroll(full)")
#else
#define PRAGMA_(what) _Pragma(#what)
#define UNROLL(times) PRAGMA_(GCC unroll times)
#endif
#define INLINE static inline __attribute__((always_inline, unused))

#if defined(USE_AVX512) || defined(USE_AVX2)

#include <immintrin.h>

#ifdef USE_VNNI
#define PAIRS_OVERFLOW 0
#else
#define PAIRS_OVERFLOW 1 /* the sum of two products of bytes has 16 bits */
#endif

INLINE float total_of_eight(__m256 a) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
INLINE float greatest_of_eight(__m256 a) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
#endif

#if defined(USE_AVX512)

typedef __m512 floats;
typedef __m512i ints;
typedef __m512i quads;    /* sixteen times four signed bytes */
typedef __m512i fourfold; /* four bytes of an activation, ready to be multiplied by any quads */

#define BLOCKS_OF_TILE 4 /* of sixteen outputs */
#define ROWS_OF_TILE 6
#define BYTE_SHIFT 0

INLINE floats load(const float *from) { return _mm512_loadu_ps(from); }
INLINE void store(float *to, floats a) { _mm512_storeu_ps(to, a); }
INLINE floats all(float a) { return _mm512_set1_ps(a); }
INLINE floats add(floats a, floats b) { return _mm512_add_ps(a, b); }
INLINE floats subtract(floats a, floats b) { return _mm512_sub_ps(a, b); }
INLINE floats multiply(floats a, floats b) { return _mm512_mul_ps(a, b); }
INLINE floats multiply_add(floats a, floats b, floats c) { return _mm512_fmadd_ps(a, b, c); }
INLINE floats greatest(floats a, floats b) { return _mm512_max_ps(a, b); }
INLINE floats least(floats a, floats b) { return _mm512_min_ps(a, b); }
INLINE floats magnitude(floats a) { return _mm512_abs_ps(a); }
INLINE floats with_sign_of(floats a, floats sign) {
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(a), _mm512_castps_si512(sign), _mm512_set1_epi32((int)0x80000000), 0xD8));
}
INLINE floats whole(floats a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INLINE ints to_ints(floats a) { return _mm512_cvtps_epi32(a); }
INLINE floats to_floats(ints a) { return _mm512_cvtepi32_ps(a); }
INLINE ints load_ints(const int32_t *from) { return _mm512_loadu_si512(from); }
INLINE void store_ints(int32_t *to, ints a) { _mm512_storeu_si512(to, a); }
INLINE ints add_ints(ints a, ints b) { return _mm512_add_epi32(a, b); }
INLINE ints all_ints(int32_t a) { return _mm512_set1_epi32(a); }
INLINE ints no_ints(void) { return _mm512_setzero_si512(); }
/* 2 to the power of a */
INLINE floats power_of_two(ints a) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(a, _mm512_set1_epi32(127)), 23));
}
INLINE int any_greater(floats a, floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0; }
/* The integers, of 0 to 255, as bytes. */
INLINE void store_bytes(uint8_t *to, ints a) { _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(a)); }

/* The sum and the greatest of all lanes: of lanes eight apart first, then four, two and one apart. */
INLINE float total(floats a) {
    return total_of_eight(_mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1)));
}
INLINE float greatest_lane(floats a) {
    return greatest_of_eight(_mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1)));
}

INLINE quads load_quads(const int8_t *from) { return _mm512_loadu_si512(from); }
INLINE fourfold repeat(const uint8_t *from) {
    int32_t four;
    memcpy(&four, from, 4);
    return _mm512_set1_epi32(four);
}
INLINE ints add_products(ints sum, fourfold a, quads b) {
#ifdef USE_VNNI
    return _mm512_dpbusd_epi32(sum, a, b);
#else
    return _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_maddubs_epi16(a, b), _mm512_set1_epi16(1)));
#endif
}

#elif defined(USE_AVX2)

typedef struct {
    __m256 low, high;
} floats;
typedef struct {
    __m256i low, high;
} ints;
#define BLOCKS_OF_TILE 1
#define ROWS_OF_TILE 6
#define BYTE_SHIFT 0

INLINE floats load(const float *from) { return (floats){_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
INLINE void store(float *to, floats a) {
    _mm256_storeu_ps(to, a.low);
    _mm256_storeu_ps(to + 8, a.high);
}
INLINE floats all(float a) { return (floats){_mm256_set1_ps(a), _mm256_set1_ps(a)}; }
INLINE floats add(floats a, floats b) { return (floats){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
INLINE floats subtract(floats a, floats b) {
    return (floats){_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
INLINE floats multiply(floats a, floats b) {
    return (floats){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
INLINE floats multiply_add(floats a, floats b, floats c) {
    return (floats){_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
INLINE floats greatest(floats a, floats b) {
    return (floats){_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
INLINE floats least(floats a, floats b) {
    return (floats){_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
INLINE floats magnitude(floats a) {
    __m256 sign = _mm256_set1_ps(-0.0f);
    return (floats){_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
}
INLINE floats with_sign_of(floats a, floats b) {
    __m256 sign = _mm256_set1_ps(-0.0f);
    return (floats){_mm256_or_ps(_mm256_andnot_ps(sign, a.low), _mm256_and_ps(sign, b.low)),
                    _mm256_or_ps(_mm256_andnot_ps(sign, a.high), _mm256_and_ps(sign, b.high))};
}
INLINE floats whole(floats a) {
    return (floats){_mm256_round_ps(a.low, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                    _mm256_round_ps(a.high, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
INLINE ints to_ints(floats a) { return (ints){_mm256_cvtps_epi32(a.low), _mm256_cvtps_epi32(a.high)}; }
INLINE floats to_floats(ints a) { return (floats){_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)}; }
INLINE ints load_ints(const int32_t *from) {
    return (ints){_mm256_loadu_si256((const __m256i *)from), _mm256_loadu_si256((const __m256i *)(from + 8))};
}
INLINE void store_ints(int32_t *to, ints a) {
    _mm256_storeu_si256((__m256i *)to, a.low);
    _mm256_storeu_si256((__m256i *)(to + 8), a.high);
}
INLINE ints add_ints(ints a, ints b) {
    return (ints){_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}
INLINE ints all_ints(int32_t a) { return (ints){_mm256_set1_epi32(a), _mm256_set1_epi32(a)}; }
INLINE ints no_ints(void) { return (ints){_mm256_setzero_si256(), _mm256_setzero_si256()}; }
INLINE floats power_of_two(ints a) {
    __m256i bias = _mm256_set1_epi32(127);
    return (floats){_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(a.low, bias), 23)),
                    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(a.high, bias), 23))};
}
INLINE int any_greater(floats a, floats b) {
    return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(a.low, b.low, _CMP_GT_OQ),
                                           _mm256_cmp_ps(a.high, b.high, _CMP_GT_OQ))) != 0;
}
INLINE void store_bytes(uint8_t *to, ints a) {
    __m256i pairs = _mm256_permute4x64_epi64(_mm256_packus_epi32(a.low, a.high), 0xD8);
    _mm_storeu_si128((__m128i *)to,
                     _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1)));
}

INLINE float total(floats a) { return total_of_eight(_mm256_add_ps(a.low, a.high)); }
INLINE float greatest_lane(floats a) { return greatest_of_eight(_mm256_max_ps(a.low, a.high)); }

typedef ints quads;
typedef __m256i fourfold;
INLINE quads load_quads(const int8_t *from) { return load_ints((const int32_t *)from); }
INLINE fourfold repeat(const uint8_t *from) {
    int32_t four;
    memcpy(&four, from, 4);
    return _mm256_set1_epi32(four);
}
INLINE __m256i add_half(__m256i sum, __m256i a, __m256i b) {
#ifdef USE_VNNI
    return _mm256_dpbusd_avx_epi32(sum, a, b);
#else
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), _mm256_set1_epi16(1)));
#endif
}
INLINE ints add_products(ints sum, fourfold a, quads b) {
    return (ints){add_half(sum.low, a, b.low), add_half(sum.high, a, b.high)};
}

#elif defined(USE_NEON)

#include <arm_neon.h>

typedef struct {
    float32x4_t part[4];
} floats;
typedef struct {
    int32x4_t part[4];
} ints;
typedef struct {
    int8x16_t part[4];
} quads;
typedef int8x8_t fourfold; /* the first four */

#define BLOCKS_OF_TILE 1
#define ROWS_OF_TILE 6
#define BYTE_SHIFT 128 /* sdot multiplies signed bytes */
#define PAIRS_OVERFLOW 0

#define EACH(expression) {{expression(0), expression(1), expression(2), expression(3)}}
INLINE floats load(const float *from) {
#define PART(i) vld1q_f32(from + 4 * i)
    return (floats)EACH(PART);
#undef PART
}
INLINE void store(float *to, floats a) {
    for (int i = 0; i < 4; i++) vst1q_f32(to + 4 * i, a.part[i]);
}
#define UNARY(name, from, to, operation) \
    INLINE to name(from a) {             \
        return (to){{operation(a.part[0]), operation(a.part[1]), operation(a.part[2]), operation(a.part[3])}}; \
    }
#define BINARY(name, kind, operation)                                              \
    INLINE kind name(kind a, kind b) {                                             \
        return (kind){{operation(a.part[0], b.part[0]), operation(a.part[1], b.part[1]), \
                       operation(a.part[2], b.part[2]), operation(a.part[3], b.part[3])}}; \
    }
INLINE floats all(float a) {
    float32x4_t each = vdupq_n_f32(a);
    return (floats){{each, each, each, each}};
}
BINARY(add, floats, vaddq_f32)
BINARY(subtract, floats, vsubq_f32)
BINARY(multiply, floats, vmulq_f32)
BINARY(greatest, floats, vmaxq_f32)
BINARY(least, floats, vminq_f32)
BINARY(add_ints, ints, vaddq_s32)
UNARY(magnitude, floats, floats, vabsq_f32)
UNARY(whole, floats, floats, vrndnq_f32)
UNARY(to_ints, floats, ints, vcvtnq_s32_f32)
UNARY(to_floats, ints, floats, vcvtq_f32_s32)
INLINE floats multiply_add(floats a, floats b, floats c) {
#define PART(i) vfmaq_f32(c.part[i], a.part[i], b.part[i])
    return (floats)EACH(PART);
#undef PART
}
INLINE floats with_sign_of(floats a, floats sign) {
#define PART(i) vbslq_f32(vdupq_n_u32(0x80000000u), sign.part[i], a.part[i])
    return (floats)EACH(PART);
#undef PART
}
INLINE ints load_ints(const int32_t *from) {
#define PART(i) vld1q_s32(from + 4 * i)
    return (ints)EACH(PART);
#undef PART
}
INLINE void store_ints(int32_t *to, ints a) {
    for (int i = 0; i < 4; i++) vst1q_s32(to + 4 * i, a.part[i]);
}
INLINE ints all_ints(int32_t a) {
    int32x4_t each = vdupq_n_s32(a);
    return (ints){{each, each, each, each}};
}
INLINE ints no_ints(void) { return all_ints(0); }
INLINE floats power_of_two(ints a) {
#define PART(i) vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(a.part[i], vdupq_n_s32(127)), 23))
    return (floats)EACH(PART);
#undef PART
}
INLINE int any_greater(floats a, floats b) {
    uint32x4_t found = vorrq_u32(vorrq_u32(vcgtq_f32(a.part[0], b.part[0]), vcgtq_f32(a.part[1], b.part[1])),
                                 vorrq_u32(vcgtq_f32(a.part[2], b.part[2]), vcgtq_f32(a.part[3], b.part[3])));
    return vmaxvq_u32(found) != 0;
}
INLINE void store_bytes(uint8_t *to, ints a) {
    int16x8_t first = vcombine_s16(vmovn_s32(a.part[0]), vmovn_s32(a.part[1]));
    int16x8_t second = vcombine_s16(vmovn_s32(a.part[2]), vmovn_s32(a.part[3]));
    vst1q_s8((int8_t *)to, vcombine_s8(vmovn_s16(first), vmovn_s16(second)));
}
INLINE float total(floats a) {
    float32x4_t four = vaddq_f32(vaddq_f32(a.part[0], a.part[2]), vaddq_f32(a.part[1], a.part[3]));
    float32x2_t two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
    return vget_lane_f32(two, 0) + vget_lane_f32(two, 1);
}
INLINE float greatest_lane(floats a) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(a.part[0], a.part[2]), vmaxq_f32(a.part[1], a.part[3])));
}
INLINE quads load_quads(const int8_t *from) {
#define PART(i) vld1q_s8(from + 16 * i)
    return (quads)EACH(PART);
#undef PART
}
INLINE fourfold repeat(const uint8_t *from) {
    int32_t four;
    memcpy(&four, from, 4);
    return vcreate_s8((uint32_t)four);
}
INLINE ints add_products(ints sum, fourfold a, quads b) {
#define PART(i) vdotq_lane_s32(sum.part[i], b.part[i], a, 0)
    return (ints)EACH(PART);
#undef PART
}

#endif

/* The first `count` of sixteen, zeros behind them. */
INLINE floats load_some(const float *from, int count) {
    float lane[LANES] = {0};
    memcpy(lane, from, (size_t)count * sizeof *lane);
    return load(lane);
}

#endif
