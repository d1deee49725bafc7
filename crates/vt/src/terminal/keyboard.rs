//! The stacks of the kitty keyboard protocol, one for each screen.

use super::core::Core;

/// Flags that can be pushed; with more, the oldest are forgotten.
const MAX_PUSHED: usize = 64;
/// The flags that exist.
const FLAGS: u16 = 31;

impl Core {
    pub(super) fn push_keyboard_flags(&mut self, flags: u16) {
        let screen = self.own();
        if screen.keyboard.len() == MAX_PUSHED {
            screen.keyboard.remove(0);
        }
        screen.keyboard.push(screen.keyboard_flags);
        screen.keyboard_flags = (flags & FLAGS) as u8;
    }

    pub(super) fn pop_keyboard_flags(&mut self, count: usize) {
        let screen = self.own();
        for _ in 0..count.min(MAX_PUSHED + 1) {
            screen.keyboard_flags = screen.keyboard.pop().unwrap_or_default();
        }
    }

    /// Sets the flags in force: replaces them, adds to them or takes from them.
    pub(super) fn set_keyboard_flags(&mut self, flags: u16, how: u16) {
        let screen = self.own();
        let flags = (flags & FLAGS) as u8;
        match how {
            0 | 1 => screen.keyboard_flags = flags,
            2 => screen.keyboard_flags |= flags,
            3 => screen.keyboard_flags &= !flags,
            _ => {}
        }
    }
}
