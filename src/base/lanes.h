/* Sixteen floats at a time, beside simd.h, which has four doubles.
 *
 * With AVX-512 a tw_lanes is one register, with AVX2 and FMA it is two. Otherwise (or with
 * TW_SIMD_PORTABLE defined before inclusion) it is sixteen floats in a struct, and the compiler makes
 * what it can of the loops. All compute the same sums in the same order; the last one rounds each
 * product before it is added. Loads and stores need no alignment. */
#ifndef TW_BASE_LANES_H
#define TW_BASE_LANES_H

#include "base/simd.h"

enum { TW_LANES = 16 };

#if defined(__AVX512F__) && TW_SIMD_AVX2

typedef __m512 tw_lanes;

TW_ALWAYS_INLINE tw_lanes tw_lanes_zero(void)
{
    return _mm512_setzero_ps();
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_splat(float a)
{
    return _mm512_set1_ps(a);
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

TW_ALWAYS_INLINE void tw_lanes_store(float *p, tw_lanes a)
{
    _mm512_storeu_ps(p, a);
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_add(tw_lanes a, tw_lanes b)
{
    return _mm512_add_ps(a, b);
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_multiply(tw_lanes a, tw_lanes b)
{
    return _mm512_mul_ps(a, b);
}

/* a b + c */
TW_ALWAYS_INLINE tw_lanes tw_lanes_fma(tw_lanes a, tw_lanes b, tw_lanes c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* Which of two registers' lanes go where, in two steps: from the first two of three registers, then
 * from the result and the third. */
static const int32_t tw_lanes_split_from[3][2][TW_LANES] = {
    {{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29}},
    {{1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30}},
    {{2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31}},
};
static const int32_t tw_lanes_join_from[3][2][TW_LANES] = {
    {{0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5},
     {0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15}},
    {{21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26},
     {0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15}},
    {{0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0},
     {26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31}},
};

TW_ALWAYS_INLINE tw_lanes tw_lanes_choose(const int32_t from[2][TW_LANES], const tw_lanes a[3])
{
    __m512i first = _mm512_loadu_si512(from[0]);
    __m512i second = _mm512_loadu_si512(from[1]);

    return _mm512_permutex2var_ps(_mm512_permutex2var_ps(a[0], first, a[1]), second, a[2]);
}

/* Sixteen packed 3-vectors become three components, and back. */
TW_ALWAYS_INLINE void tw_lanes_split3(const tw_lanes packed[3], tw_lanes component[3])
{
    for (int k = 0; k < 3; k++) component[k] = tw_lanes_choose(tw_lanes_split_from[k], packed);
}

TW_ALWAYS_INLINE void tw_lanes_join3(const tw_lanes component[3], tw_lanes packed[3])
{
    for (int k = 0; k < 3; k++) packed[k] = tw_lanes_choose(tw_lanes_join_from[k], component);
}

/* factor times sixteen doubles, and back. */
TW_ALWAYS_INLINE tw_lanes tw_lanes_from_doubles(const double *p, double factor)
{
    __m512d scale = _mm512_set1_pd(factor);
    __m256 low = _mm512_cvtpd_ps(_mm512_mul_pd(scale, _mm512_loadu_pd(p)));
    __m256 high = _mm512_cvtpd_ps(_mm512_mul_pd(scale, _mm512_loadu_pd(p + 8)));

    __m512d both = _mm512_castpd256_pd512(_mm256_castps_pd(low));
    return _mm512_castpd_ps(_mm512_insertf64x4(both, _mm256_castps_pd(high), 1));
}

TW_ALWAYS_INLINE void tw_lanes_to_doubles(tw_lanes a, double factor, double *p)
{
    __m512d scale = _mm512_set1_pd(factor);
    __m256d high = _mm512_extractf64x4_pd(_mm512_castps_pd(a), 1);

    _mm512_storeu_pd(p, _mm512_mul_pd(scale, _mm512_cvtps_pd(_mm512_castps512_ps256(a))));
    _mm512_storeu_pd(p + 8, _mm512_mul_pd(scale, _mm512_cvtps_pd(_mm256_castpd_ps(high))));
}

#elif TW_SIMD_AVX2

typedef struct tw_lanes {
    __m256 low;
    __m256 high;
} tw_lanes;

TW_ALWAYS_INLINE tw_lanes tw_lanes_zero(void)
{
    return (tw_lanes){_mm256_setzero_ps(), _mm256_setzero_ps()};
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_splat(float a)
{
    return (tw_lanes){_mm256_set1_ps(a), _mm256_set1_ps(a)};
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_load(const float *p)
{
    return (tw_lanes){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}

TW_ALWAYS_INLINE void tw_lanes_store(float *p, tw_lanes a)
{
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_add(tw_lanes a, tw_lanes b)
{
    return (tw_lanes){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_multiply(tw_lanes a, tw_lanes b)
{
    return (tw_lanes){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_fma(tw_lanes a, tw_lanes b, tw_lanes c)
{
    return (tw_lanes){_mm256_fmadd_ps(a.low, b.low, c.low),
                      _mm256_fmadd_ps(a.high, b.high, c.high)};
}

#else

typedef struct tw_lanes {
    float lane[TW_LANES];
} tw_lanes;

TW_ALWAYS_INLINE tw_lanes tw_lanes_load(const float *p)
{
    tw_lanes a;
    for (int l = 0; l < TW_LANES; l++) a.lane[l] = p[l];
    return a;
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_splat(float value)
{
    tw_lanes a;
    for (int l = 0; l < TW_LANES; l++) a.lane[l] = value;
    return a;
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_zero(void)
{
    return tw_lanes_splat(0);
}

TW_ALWAYS_INLINE void tw_lanes_store(float *p, tw_lanes a)
{
    for (int l = 0; l < TW_LANES; l++) p[l] = a.lane[l];
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_add(tw_lanes a, tw_lanes b)
{
    for (int l = 0; l < TW_LANES; l++) a.lane[l] += b.lane[l];
    return a;
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_multiply(tw_lanes a, tw_lanes b)
{
    for (int l = 0; l < TW_LANES; l++) a.lane[l] *= b.lane[l];
    return a;
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_fma(tw_lanes a, tw_lanes b, tw_lanes c)
{
    for (int l = 0; l < TW_LANES; l++) c.lane[l] += a.lane[l] * b.lane[l];
    return c;
}

#endif

#if !defined(__AVX512F__) || !TW_SIMD_AVX2

TW_ALWAYS_INLINE void tw_lanes_split3(const tw_lanes packed[3], tw_lanes component[3])
{
    float from[3 * TW_LANES];
    float to[TW_LANES];

    for (int k = 0; k < 3; k++) tw_lanes_store(from + k * TW_LANES, packed[k]);
    for (int c = 0; c < 3; c++) {
        for (int l = 0; l < TW_LANES; l++) to[l] = from[3 * l + c];
        component[c] = tw_lanes_load(to);
    }
}

TW_ALWAYS_INLINE void tw_lanes_join3(const tw_lanes component[3], tw_lanes packed[3])
{
    float from[TW_LANES];
    float to[3 * TW_LANES];

    for (int c = 0; c < 3; c++) {
        tw_lanes_store(from, component[c]);
        for (int l = 0; l < TW_LANES; l++) to[3 * l + c] = from[l];
    }
    for (int k = 0; k < 3; k++) packed[k] = tw_lanes_load(to + k * TW_LANES);
}

TW_ALWAYS_INLINE tw_lanes tw_lanes_from_doubles(const double *p, double factor)
{
    float x[TW_LANES];
    for (int l = 0; l < TW_LANES; l++) x[l] = (float)(factor * p[l]);
    return tw_lanes_load(x);
}

TW_ALWAYS_INLINE void tw_lanes_to_doubles(tw_lanes a, double factor, double *p)
{
    float x[TW_LANES];
    tw_lanes_store(x, a);

    for (int l = 0; l < TW_LANES; l++) p[l] = factor * x[l];
}

#endif

/* The sum of the lanes, in pairs. */
TW_ALWAYS_INLINE double tw_lanes_sum(tw_lanes a)
{
    float x[TW_LANES];
    tw_lanes_store(x, a);

    for (int half = TW_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) x[l] += x[l + half];
    return x[0];
}

#endif
