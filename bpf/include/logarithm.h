/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Logarithms to base 2 and back, in integers: what a law of ratios is made of where no processor computes with fractions.
 *
 * A logarithm is in units of 2^-25, so one unit is 2e-8 of what it is of. */
#ifndef MESHPACE_LOGARITHM_H
#define MESHPACE_LOGARITHM_H

#include <linux/types.h>

#define LG_BITS 25
#define LG(whole) ((__s64)(whole) << LG_BITS)
/* Of nothing: below the logarithm of anything, with room to add to. */
#define LG_NOTHING (-LG(40))
/* ln 2, in units of 2^-31. */
#define LN_2 1488522236ull

#define LAW static inline __attribute__((always_inline))
/* Global functions in eBPF: the kernel's checker looks at each once and for any argument, and not wherever it is called, on each way
 * there. Such a function returns a number, and what it is pointed to may be missing. */
#ifdef __bpf__
#define LAW_ONCE __attribute__((noinline))
#else
#define LAW_ONCE static inline
#endif

/* The position of a number's highest binary digit; of numbers below 2^63. By halves, and without a branch. (Clang 14 fails where it makes
 * eBPF of __builtin_clzll of 32 bits.) */
LAW __u64 highest(__u64 x)
{
	__u64 position = 0;

#pragma clang loop unroll(full)
	for (int half = 5; half >= 0; half--) {
		/* Whether x has digits above the lower half is the sign of what is left of it. */
		__u64 above = ((1ull << (1 << half)) - 1 - x) >> 63 << half;

		position += above;
		x >>= above;
	}
	return position;
}

/* The logarithm of a whole number below 2^63. */
LAW_ONCE __s64 lg(__u64 x)
{
	if (!x)
		return LG_NOTHING;
	__u64 high = highest(x);
	/* 1 to 2, in units of 2^-31. */
	__u64 digits = high > 31 ? x >> (high - 31) : x << (31 - high);
	__u64 fraction = 0;

	/* The square of a number has twice its logarithm, whose next binary digit tells whether it is 2 or more. */
	for (int i = 0; i < LG_BITS; i++) {
		digits = digits * digits >> 31;
		fraction = fraction << 1 | digits >> 32;
		digits >>= digits >> 32;
	}
	return (__s64)(high << LG_BITS | fraction);
}

/* The whole part of the number with this logarithm, of 2^62 at most. */
LAW_ONCE __u64 power(__s64 logarithm)
{
	__s64 whole = logarithm >> LG_BITS;
	__u64 way = ((__u64)(logarithm & (LG(1) - 1)) << (31 - LG_BITS)) * LN_2 >> 31;
	__u64 one = 1ull << 31, digits = one;

	/* exp(way) = 1 + way (1 + way / 2 (1 + way / 3 (...))): twelve terms leave less than 2^-31. */
	for (__u64 i = 12; i > 0; i--)
		digits = one + (way * digits >> 31) / i;
	if (whole < 0)
		return 0;
	if (whole > 62)
		whole = 62;
	return whole > 31 ? digits << (whole - 31) : digits >> (31 - whole);
}

#endif
