/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* BPF has the generic sizes on every machine. */
#ifndef MESHPACE_ASM_POSIX_TYPES_H
#define MESHPACE_ASM_POSIX_TYPES_H

#include <asm-generic/posix_types.h>

#endif
