/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The interfaces into the mesh, by index, and how long their link-layer header is. User space writes it
 * (crates/daemon/src/ebpf/programs.rs). */
#ifndef MESHPACE_INTERFACES_H
#define MESHPACE_INTERFACES_H

#include "kernel.h"

struct {
	NUMBER(type, BPF_MAP_TYPE_HASH);
	NUMBER(max_entries, 64);
	TYPE(key, __u32);
	TYPE(value, __u32);
} interfaces SEC(".maps");

#endif
