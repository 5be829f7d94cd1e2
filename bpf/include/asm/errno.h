/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What programs compare with (ENOSPC) is below 35, where all machines that gateways are made of agree; MIPS has numbers
 * of its own above. */
#ifndef MESHPACE_ASM_ERRNO_H
#define MESHPACE_ASM_ERRNO_H

#include <asm-generic/errno.h>

#endif
