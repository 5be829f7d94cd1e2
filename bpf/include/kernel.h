/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a program needs of the kernel: map definitions, sections and helpers, from the uapi headers alone (no libbpf,
 * no vmlinux.h), so that a build needs clang and the kernel's headers only and nothing depends on kernel BTF. */
#ifndef MESHPACE_KERNEL_H
#define MESHPACE_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

/* Fields of a map definition in section ".maps": types carry the numbers (kernel Documentation/bpf/btf.rst). */
#define NUMBER(name, value) int(*name)[value]
#define TYPE(name, type) type *name

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BE16(x) __builtin_bswap16(x)
#define BE32(x) __builtin_bswap32(x)
#else
#define BE16(x) (x)
#define BE32(x) (x)
#endif

#define memcpy(to, from, n) __builtin_memcpy(to, from, n)
#define memset(at, value, n) __builtin_memset(at, value, n)

/* A helper's address is its number (enum bpf_func_id); see bpf-helpers(7). */
static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_lookup_elem;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, __u64 flags) = (void *)BPF_FUNC_map_update_elem;
static long (*bpf_map_delete_elem)(void *map, const void *key) = (void *)BPF_FUNC_map_delete_elem;
static __u64 (*bpf_ktime_get_ns)(void) = (void *)BPF_FUNC_ktime_get_ns;
static __u32 (*bpf_get_prandom_u32)(void) = (void *)BPF_FUNC_get_prandom_u32;
static long (*bpf_skb_load_bytes)(const void *skb, __u32 offset, void *to, __u32 len) = (void *)BPF_FUNC_skb_load_bytes;
static long (*bpf_skb_store_bytes)(struct __sk_buff *skb, __u32 offset, const void *from, __u32 len, __u64 flags) = (void *)BPF_FUNC_skb_store_bytes;
static long (*bpf_skb_change_tail)(struct __sk_buff *skb, __u32 len, __u64 flags) = (void *)BPF_FUNC_skb_change_tail;
static long (*bpf_l3_csum_replace)(struct __sk_buff *skb, __u32 offset, __u64 from, __u64 to, __u64 size) = (void *)BPF_FUNC_l3_csum_replace;
static long (*bpf_l4_csum_replace)(struct __sk_buff *skb, __u32 offset, __u64 from, __u64 to, __u64 flags) = (void *)BPF_FUNC_l4_csum_replace;
static __s64 (*bpf_csum_diff)(const __be32 *from, __u32 from_size, const __be32 *to, __u32 to_size, __wsum seed) = (void *)BPF_FUNC_csum_diff;
static long (*bpf_redirect)(__u32 interface, __u64 flags) = (void *)BPF_FUNC_redirect;
static long (*bpf_skb_ecn_set_ce)(struct __sk_buff *skb) = (void *)BPF_FUNC_skb_ecn_set_ce;
static long (*bpf_set_hash)(struct __sk_buff *skb, __u32 hash) = (void *)BPF_FUNC_set_hash;
static long (*bpf_fib_lookup)(void *ctx, struct bpf_fib_lookup *params, int size, __u32 flags) = (void *)BPF_FUNC_fib_lookup;
static long (*bpf_ringbuf_output)(void *ringbuf, const void *data, __u64 size, __u64 flags) = (void *)BPF_FUNC_ringbuf_output;
static int (*bpf_setsockopt)(void *socket, int level, int name, void *value, int length) = (void *)BPF_FUNC_setsockopt;
static int (*bpf_getsockopt)(void *socket, int level, int name, void *value, int length) = (void *)BPF_FUNC_getsockopt;
static int (*bpf_sock_ops_cb_flags_set)(struct bpf_sock_ops *ctx, int flags) = (void *)BPF_FUNC_sock_ops_cb_flags_set;
static long (*bpf_load_hdr_opt)(struct bpf_sock_ops *ctx, void *option, __u32 length, __u64 flags) = (void *)BPF_FUNC_load_hdr_opt;
static __u64 (*bpf_get_socket_cookie)(void *ctx) = (void *)BPF_FUNC_get_socket_cookie;
static void *(*bpf_skc_to_tcp_sock)(void *sk) = (void *)BPF_FUNC_skc_to_tcp_sock;

#endif
