//! What the process keeps of memory that it no longer needs.

/// Lets the C library's allocator give freed memory back early. By default it keeps a heap of its own for every
/// thread and gives back only what lies at a heap's end, so that every worker that has come and gone leaves some
/// 300 KB behind; with this it is under 100 KB (`cargo xtask bench`, memory). To be called once, before threads
/// come up. Elsewhere than on Linux with glibc it does nothing.
pub fn give_back_early() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::give_back_early();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::sync::Once;

    /// Heaps that threads share.
    const HEAPS: libc::c_int = 2;
    /// Bytes at a heap's end that are given back, and the size from which a block gets pages of its own.
    const BYTES: libc::c_int = 64 * 1024;

    pub(super) fn give_back_early() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (what, value) in
                [(libc::M_ARENA_MAX, HEAPS), (libc::M_TRIM_THRESHOLD, BYTES), (libc::M_MMAP_THRESHOLD, BYTES)]
            {
                if !set(what, value) {
                    tracing::debug!(what, value, "the allocator does not take this setting");
                }
            }
        });
    }

    #[expect(
        unsafe_code,
        reason = "mallopt has no safe wrapper; it takes two integers and touches no memory of ours"
    )]
    fn set(what: libc::c_int, value: libc::c_int) -> bool {
        // SAFETY: mallopt takes plain integers and may be called at any time.
        unsafe { libc::mallopt(what, value) == 1 }
    }
}
