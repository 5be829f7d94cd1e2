/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The window announced by itself: reads acknowledgements, a line each, and writes the window field that each is to carry. */
#include "announced.h"
#include <stdio.h>

int main(void)
{
	struct announced announced = {};
	unsigned ack, own, scale, pure, window, segment;

	while (scanf("%u %u %u %u %u %u", &ack, &own, &scale, &pure, &window, &segment) == 6)
		printf("%u\n", announce(&announced, ack, own, scale, pure, window, segment));
	return 0;
}
