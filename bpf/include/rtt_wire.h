/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TCP-GAP's RTT option: kind 253, length 6, an experiment identifier (RFC 6994), whole milliseconds in network order
 * (schemes.md 3.2). RTT_EXPERIMENT is RTT_EXID of crates/wire. */
#ifndef MESHPACE_RTT_WIRE_H
#define MESHPACE_RTT_WIRE_H

#define OPTION_EXPERIMENT 253
#define RTT_LENGTH 6
#define RTT_EXPERIMENT 0x4d50

#endif
