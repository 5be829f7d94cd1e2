/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A BPF register has 64 bits, whatever the machine. */
#ifndef MESHPACE_ASM_BITSPERLONG_H
#define MESHPACE_ASM_BITSPERLONG_H

#define __BITS_PER_LONG 64
#include <asm-generic/bitsperlong.h>

#endif
