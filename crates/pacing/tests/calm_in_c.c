/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The law in C by itself: reads what a flow is told, a line each, and writes the logarithm of its rate, its trains and its window. */
#include "calm.h"
#include <stdio.h>

int main(void)
{
	struct calm calm;
	unsigned long long a, b, c;
	unsigned unit = 1, burst = 1;
	char told;

	calm_begin(&calm);
	while (scanf(" %c %llu %llu %llu", &told, &a, &b, &c) == 4) {
		switch (told) {
		case 'u': /* so many packets travel together */
			unit = (unsigned)a;
			break;
		case 'b': /* so many are handed down at once */
			burst = (unsigned)a;
			break;
		case 'a': /* so many packets arrived */
			calm_on_arrived(&calm, (__u32)a);
			break;
		case 'r': /* now, a round trip, whether nothing is out any more; both in microseconds */
			calm_on_round_trip(&calm, a, calm_ticks(&calm, (__u32)b, c), unit, burst);
			break;
		case 'l': /* a loss */
			calm_on_loss(&calm);
			break;
		case 't': /* now: a timeout */
			calm_on_timeout(&calm, a, unit);
			break;
		case 'f': /* faster, by so much of a logarithm */
			calm_set(&calm, calm.rate + (__s64)a);
			break;
		default:
			return 1;
		}
		printf("%d %u %u %llu\n", calm.rate, calm.trains, calm_window(&calm, 5, unit), (unsigned long long)calm_pace(&calm, 1448, unit));
	}
	return 0;
}
