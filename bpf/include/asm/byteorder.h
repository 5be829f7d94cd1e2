/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The byte order that the program is compiled for, not that of the machine that compiles it: the bit fields of IP and
 * TCP headers (linux/ip.h, linux/tcp.h) follow it. These headers stand before the machine's own. */
#ifndef MESHPACE_ASM_BYTEORDER_H
#define MESHPACE_ASM_BYTEORDER_H

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <linux/byteorder/little_endian.h>
#else
#include <linux/byteorder/big_endian.h>
#endif

#endif
