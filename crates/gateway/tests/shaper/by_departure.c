/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shaper by departure times by itself: reads packets, a line each, and writes when each leaves, or that it does not. */
#include "shares.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS 64
#define FLOWS 256

int main(void)
{
	struct all *all = calloc(1, sizeof(*all));
	struct host *hosts = calloc(HOSTS, sizeof(*hosts));
	struct queue *queues = calloc(HOSTS * FLOWS, sizeof(*queues));
	struct shaping by = {.places = 1 << 20, .shift = 21};
	struct terms terms[HOSTS];
	struct codel codel = {};
	unsigned long long a, b, c, d, e;
	char told;

	for (int i = 0; i < HOSTS; i++)
		terms[i] = (struct terms){.weight = 1, .price = 1 << PRICE_SHIFT};
	while (scanf(" %c %llu %llu %llu %llu %llu", &told, &a, &b, &c, &d, &e) == 6) {
		unsigned long long departure = 0;
		int became = 0;

		switch (told) {
		case 's': /* time of a byte, longest and least waits, CoDel's target and interval */
			by.per_byte = a, by.longest = b, by.fewest = c, by.target = d, by.interval = e;
			break;
		case 'o': /* bytes that each packet costs more, places for packets that wait, how long slots are */
			by.overhead = a, by.places = b, by.shift = c;
			break;
		case 't': /* a host's cap, weight and price */
			terms[a].cap = b, terms[a].weight = c, terms[a].price = d;
			break;
		case 'p': { /* a host's packet of a flow comes, of so many bytes, which may be marked */
			struct packet_to_shape packet = {.now = c, .bytes = d, .packets = 1, .can_mark = e};

			became = depart(all, &hosts[a], &queues[a * FLOWS + b], &by, &terms[a], &packet, (__u64 *)&departure);
			break;
		}
		case 'c': /* CoDel alone: departure, wait, target, interval, whether it may be marked */
			became = judge_wait(&codel, a, b, c, d, e);
			break;
		case 'w': /* when all that has come will have left, at the rate */
			departure = all->work;
			break;
		case 'r': /* 2^32 over a root */
			departure = inverse_root(a);
			break;
		default:
			return 1;
		}
		printf("%d %llu\n", became, departure);
		fflush(stdout);
	}
	return 0;
}
