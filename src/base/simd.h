/* Four doubles at a time: the only place that knows a vector instruction.
 *
 * With AVX2 and FMA a tw_wide is one register; otherwise (or with TW_SIMD_PORTABLE defined before
 * inclusion, as the tests of the portable build do) it is four doubles in a struct and the compiler
 * makes what it can of the loops. Both compute the same sums in the same order; they differ by the
 * one rounding that a fused multiply-add saves.
 *
 * Suffix 3: only the first three lanes are read from or written to memory, so that neighbours in a
 * packed array of 3-vectors are neither disturbed nor raced for. */
#ifndef TW_BASE_SIMD_H
#define TW_BASE_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__AVX2__) && defined(__FMA__) && !defined(TW_SIMD_PORTABLE)
#define TW_SIMD_AVX2 1
#include <immintrin.h>
#else
#define TW_SIMD_AVX2 0
#endif

/* Kernels are written once with the number of vectors as a parameter, and inlined with
 * it constant. */
#define TW_ALWAYS_INLINE static inline __attribute__((always_inline))

enum { TW_WIDE_LANES = 4 };

/* Asks for the cache line `bytes` ahead of p. It may lie past the end of the array: nothing
 * is read. The address is computed as an integer, because p + bytes past the end of an array
 * is undefined. */
TW_ALWAYS_INLINE void tw_prefetch(const void *p, uintptr_t bytes)
{
    const uintptr_t ahead = (uintptr_t)p + bytes;
    __builtin_prefetch((const void *)ahead); /* NOLINT(performance-no-int-to-ptr) */
}

#if TW_SIMD_AVX2

typedef __m256d tw_wide;

TW_ALWAYS_INLINE tw_wide tw_wide_zero(void)
{
    return _mm256_setzero_pd();
}

TW_ALWAYS_INLINE tw_wide tw_wide_splat(double a)
{
    return _mm256_set1_pd(a);
}

TW_ALWAYS_INLINE tw_wide tw_wide_load(const double *p)
{
    return _mm256_loadu_pd(p);
}

TW_ALWAYS_INLINE void tw_wide_store(double *p, tw_wide a)
{
    _mm256_storeu_pd(p, a);
}

/* Two narrow accesses rather than a masked one: a load that follows a store to the same three
 * values is forwarded. */
TW_ALWAYS_INLINE tw_wide tw_wide_load3(const double *p)
{
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_load_sd(p + 2), 1);
}

TW_ALWAYS_INLINE void tw_wide_store3(double *p, tw_wide a)
{
    _mm_storeu_pd(p, _mm256_castpd256_pd128(a));
    _mm_store_sd(p + 2, _mm256_extractf128_pd(a, 1));
}

TW_ALWAYS_INLINE tw_wide tw_wide_add(tw_wide a, tw_wide b)
{
    return _mm256_add_pd(a, b);
}

TW_ALWAYS_INLINE tw_wide tw_wide_multiply(tw_wide a, tw_wide b)
{
    return _mm256_mul_pd(a, b);
}

TW_ALWAYS_INLINE tw_wide tw_wide_subtract(tw_wide a, tw_wide b)
{
    return _mm256_sub_pd(a, b);
}

TW_ALWAYS_INLINE tw_wide tw_wide_divide(tw_wide a, tw_wide b)
{
    return _mm256_div_pd(a, b);
}

TW_ALWAYS_INLINE tw_wide tw_wide_sqrt(tw_wide a)
{
    return _mm256_sqrt_pd(a);
}

/* 1/sqrt(a) */
TW_ALWAYS_INLINE tw_wide tw_wide_inverse_sqrt(tw_wide a)
{
    return _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_sqrt_pd(a));
}

/* a b + c */
TW_ALWAYS_INLINE tw_wide tw_wide_fma(tw_wide a, tw_wide b, tw_wide c)
{
    return _mm256_fmadd_pd(a, b, c);
}

/* (a_0 + a_2) + (a_1 + a_3) */
TW_ALWAYS_INLINE double tw_wide_sum(tw_wide a)
{
    __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

/* The sums of the lanes of four vectors, (a_0 + a_1) + (a_2 + a_3) each. */
TW_ALWAYS_INLINE tw_wide tw_wide_sum4(const tw_wide a[4])
{
    __m256d pairs01 = _mm256_hadd_pd(a[0], a[1]);
    __m256d pairs23 = _mm256_hadd_pd(a[2], a[3]);

    /* The lower halves hold a_0 + a_1, the upper ones a_2 + a_3. */
    return _mm256_add_pd(_mm256_permute2f128_pd(pairs01, pairs23, 0x21),
                         _mm256_blend_pd(pairs01, pairs23, 0xc));
}

/* Whether all lanes are > 0; a NaN is not. */
TW_ALWAYS_INLINE bool tw_wide_all_positive(tw_wide a)
{
    return _mm256_movemask_pd(_mm256_cmp_pd(a, _mm256_setzero_pd(), _CMP_GT_OQ)) == 0xf;
}

/* Rows of the 3x3 matrix whose columns are a, b, c; the fourth lane of a row is its third again. */
TW_ALWAYS_INLINE void tw_wide_transpose3(tw_wide a, tw_wide b, tw_wide c, tw_wide row[3])
{
    __m256d even = _mm256_unpacklo_pd(a, b); /* a0 b0 a2 b2 */
    __m256d odd = _mm256_unpackhi_pd(a, b);  /* a1 b1  .  . */
    __m256d c_even = _mm256_movedup_pd(c);   /* c0 c0 c2 c2 */
    __m256d c_odd = _mm256_unpackhi_pd(c, c);

    row[0] = _mm256_insertf128_pd(even, _mm256_castpd256_pd128(c_even), 1);
    row[1] = _mm256_insertf128_pd(odd, _mm256_castpd256_pd128(c_odd), 1);
    row[2] = _mm256_permute2f128_pd(even, c_even, 0x31);
}

/* Four rows become four columns. */
TW_ALWAYS_INLINE void tw_wide_transpose4(tw_wide a[4])
{
    const __m256d even01 = _mm256_unpacklo_pd(a[0], a[1]), odd01 = _mm256_unpackhi_pd(a[0], a[1]);
    const __m256d even23 = _mm256_unpacklo_pd(a[2], a[3]), odd23 = _mm256_unpackhi_pd(a[2], a[3]);

    a[0] = _mm256_permute2f128_pd(even01, even23, 0x20);
    a[1] = _mm256_permute2f128_pd(odd01, odd23, 0x20);
    a[2] = _mm256_permute2f128_pd(even01, even23, 0x31);
    a[3] = _mm256_permute2f128_pd(odd01, odd23, 0x31);
}

#else

typedef struct tw_wide {
    double lane[4];
} tw_wide;

TW_ALWAYS_INLINE tw_wide tw_wide_splat(double a)
{
    return (tw_wide){{a, a, a, a}};
}

TW_ALWAYS_INLINE tw_wide tw_wide_zero(void)
{
    return tw_wide_splat(0.0);
}

TW_ALWAYS_INLINE tw_wide tw_wide_load(const double *p)
{
    return (tw_wide){{p[0], p[1], p[2], p[3]}};
}

TW_ALWAYS_INLINE void tw_wide_store(double *p, tw_wide a)
{
    for (int i = 0; i < 4; i++) p[i] = a.lane[i];
}

TW_ALWAYS_INLINE tw_wide tw_wide_load3(const double *p)
{
    return (tw_wide){{p[0], p[1], p[2], 0.0}};
}

TW_ALWAYS_INLINE void tw_wide_store3(double *p, tw_wide a)
{
    for (int i = 0; i < 3; i++) p[i] = a.lane[i];
}

TW_ALWAYS_INLINE tw_wide tw_wide_add(tw_wide a, tw_wide b)
{
    for (int i = 0; i < 4; i++) a.lane[i] += b.lane[i];
    return a;
}

TW_ALWAYS_INLINE tw_wide tw_wide_multiply(tw_wide a, tw_wide b)
{
    for (int i = 0; i < 4; i++) a.lane[i] *= b.lane[i];
    return a;
}

TW_ALWAYS_INLINE tw_wide tw_wide_subtract(tw_wide a, tw_wide b)
{
    for (int i = 0; i < 4; i++) a.lane[i] -= b.lane[i];
    return a;
}

TW_ALWAYS_INLINE tw_wide tw_wide_divide(tw_wide a, tw_wide b)
{
    for (int i = 0; i < 4; i++) a.lane[i] /= b.lane[i];
    return a;
}

TW_ALWAYS_INLINE tw_wide tw_wide_sqrt(tw_wide a)
{
    for (int i = 0; i < 4; i++) a.lane[i] = sqrt(a.lane[i]);
    return a;
}

TW_ALWAYS_INLINE tw_wide tw_wide_inverse_sqrt(tw_wide a)
{
    for (int i = 0; i < 4; i++) a.lane[i] = 1.0 / sqrt(a.lane[i]);
    return a;
}

TW_ALWAYS_INLINE tw_wide tw_wide_fma(tw_wide a, tw_wide b, tw_wide c)
{
    for (int i = 0; i < 4; i++) c.lane[i] += a.lane[i] * b.lane[i];
    return c;
}

TW_ALWAYS_INLINE double tw_wide_sum(tw_wide a)
{
    return (a.lane[0] + a.lane[2]) + (a.lane[1] + a.lane[3]);
}

TW_ALWAYS_INLINE tw_wide tw_wide_sum4(const tw_wide a[4])
{
    tw_wide sum;

    for (int i = 0; i < 4; i++)
        sum.lane[i] = (a[i].lane[0] + a[i].lane[1]) + (a[i].lane[2] + a[i].lane[3]);
    return sum;
}

TW_ALWAYS_INLINE bool tw_wide_all_positive(tw_wide a)
{
    return a.lane[0] > 0 && a.lane[1] > 0 && a.lane[2] > 0 && a.lane[3] > 0;
}

TW_ALWAYS_INLINE void tw_wide_transpose3(tw_wide a, tw_wide b, tw_wide c, tw_wide row[3])
{
    for (int i = 0; i < 3; i++) row[i] = (tw_wide){{a.lane[i], b.lane[i], c.lane[i], c.lane[i]}};
}

TW_ALWAYS_INLINE void tw_wide_transpose4(tw_wide a[4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) {
            const double swap = a[i].lane[j];

            a[i].lane[j] = a[j].lane[i];
            a[j].lane[i] = swap;
        }
}

#endif
#endif
