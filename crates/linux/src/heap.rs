//! What the allocator keeps of memory that was freed.

/// Asks glibc to give every freed block of 128 KiB or more back to the kernel, for the whole process. Left alone it moves that
/// threshold up with the largest block that was freed (mallopt(3), `M_MMAP_THRESHOLD`), and each of many threads that once
/// answered with a list of all flows keeps the room for it, which counts where memory is locked. To be called before threads
/// start. Other C libraries have no such setting (musl gives blocks of that size back anyway), and nothing is done there.
pub fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// glibc's initial threshold (`DEFAULT_MMAP_THRESHOLD`): asking for it keeps it from moving.
        const THRESHOLD: libc::c_int = 128 << 10;
        // SAFETY: mallopt changes a setting of the allocator and touches no memory of ours; no other thread runs yet.
        let taken = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, THRESHOLD) };
        assert_eq!(
            taken, 1,
            "glibc takes any threshold up to HEAP_MAX_SIZE/2 (mallopt(3)), and {THRESHOLD} is below"
        );
    }
}
