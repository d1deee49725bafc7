//! How an executable becomes its own keeper.
//!
//! The server executes its own image again with [`ROLE_NAME`] as `argv[0]` and the socket as
//! standard input. A constructor that the linker places in every executable of this crate looks
//! at `argv[0]` before `main` and, in the keeper, never lets `main` run. So the server, a user's
//! test binary and an example are each their own keeper without a hook in `main`, and nobody
//! else's code (argument parsing, a test harness, static constructors that come later) runs in
//! the keeper.
//!
//! Life before `main`: the keeper uses of `std` only what needs no runtime set-up (memory,
//! collections, files, clocks). It starts no threads and prints nothing.

use std::ffi::{CStr, c_char, c_int};

/// `argv[0]` of the keeper.
pub(crate) const ROLE_NAME: &CStr = c"termbridge-keeper";

type Constructor = extern "C" fn(c_int, *const *const c_char);

#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static CHOOSE_ROLE: Constructor = choose_role;

/// Refers to the constructor from code that is surely linked, lest the linker drop it.
pub(crate) fn link_constructor() {
    std::hint::black_box(&raw const CHOOSE_ROLE);
}

extern "C" fn choose_role(count: c_int, arguments: *const *const c_char) {
    if is_keeper(count, arguments) {
        crate::keeper::main();
    }
}

/// glibc gives constructors what `main` gets.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn is_keeper(count: c_int, arguments: *const *const c_char) -> bool {
    if count < 1 || arguments.is_null() {
        return false;
    }
    // SAFETY: glibc calls constructors with argc and argv, and argc is at least 1, so the first
    // pointer is that of a NUL-terminated string that lives as long as the process.
    unsafe { CStr::from_ptr(*arguments) == ROLE_NAME }
}

#[cfg(target_vendor = "apple")]
fn is_keeper(count: c_int, arguments: *const *const c_char) -> bool {
    if count < 1 || arguments.is_null() {
        return false;
    }
    // SAFETY: dyld calls initializers with argc and argv, as above.
    unsafe { CStr::from_ptr(*arguments) == ROLE_NAME }
}

/// Elsewhere the parameters are not to be trusted; the kernel knows.
#[cfg(not(any(all(target_os = "linux", target_env = "gnu"), target_vendor = "apple")))]
fn is_keeper(_: c_int, _: *const *const c_char) -> bool {
    std::fs::read("/proc/self/cmdline")
        .is_ok_and(|line| line.starts_with(ROLE_NAME.to_bytes_with_nul()))
}
