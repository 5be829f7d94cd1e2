/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BPF swaps bytes with the compiler's own instructions. */
#ifndef MESHPACE_ASM_SWAB_H
#define MESHPACE_ASM_SWAB_H

#include <asm-generic/swab.h>

#endif
