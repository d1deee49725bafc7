//! Clients of one name in one folder, such as two windows of an editor: each has a number, and with it sessions of its
//! own. One that starts again, or comes to the next server, gets its number again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The windows that are connected.
#[derive(Debug, Clone, Default)]
pub(super) struct Windows(Arc<Mutex<HashMap<(String, u32), usize>>>);

/// A window that is connected, as long as this lives.
#[derive(Debug)]
pub(super) struct Window {
    all: Windows,
    key: (String, u32),
}

impl Windows {
    /// The window of this number of a client, or else the first that is free.
    pub(super) fn enter(&self, client: &str, number: u32) -> Window {
        let mut all = self.lock();
        let number = match number {
            0 => (1..=u32::MAX).find(|number| !all.contains_key(&(client.to_owned(), *number))),
            number => Some(number),
        };
        let key = (client.to_owned(), number.unwrap_or(1));
        // The connection that it had may not be gone yet.
        *all.entry(key.clone()).or_default() += 1;
        drop(all);
        Window { all: self.clone(), key }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, u32), usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    pub(super) fn number(&self) -> u32 {
        self.key.1
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(count) = all.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Windows;

    #[test]
    fn each_window_has_the_first_number_that_is_free_or_its_own_again() {
        let windows = Windows::default();
        let first = windows.enter("a", 0);
        let second = windows.enter("a", 0);
        assert_eq!((first.number(), second.number(), windows.enter("b", 0).number()), (1, 2, 1));
        drop(first);
        assert_eq!(windows.enter("a", 0).number(), 1);
        // It comes again before its old connection is gone.
        let again = windows.enter("a", 2);
        drop(second);
        let third = windows.enter("a", 0);
        let fourth = windows.enter("a", 0);
        assert_eq!((again.number(), third.number(), fourth.number()), (2, 1, 3));
        drop((again, third, fourth));
        assert!(windows.lock().is_empty());
    }
}
