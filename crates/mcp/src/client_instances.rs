//! Connected clients of one kind, such as two windows of an editor in one folder or two MCP sessions of one token: each
//! has a number, and with it a current session of its own. One that starts again, or comes to the next server, gets its
//! number again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The clients that are connected.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientInstances(Arc<Mutex<HashMap<(String, u32), usize>>>);

/// A client that is connected, as long as this lives.
#[derive(Debug)]
pub(crate) struct ClientInstance {
    all: ClientInstances,
    key: (String, u32),
}

impl ClientInstances {
    /// The client of this number, or of the first that is free if it is 0.
    pub(crate) fn enter(&self, client: &str, number: u32) -> ClientInstance {
        let mut all = self.lock();
        let number = match number {
            0 => (1..=u32::MAX).find(|number| !all.contains_key(&(client.to_owned(), *number))),
            number => Some(number),
        };
        let key = (client.to_owned(), number.unwrap_or(1));
        // The connection that it had may not be gone yet.
        *all.entry(key.clone()).or_default() += 1;
        drop(all);
        ClientInstance { all: self.clone(), key }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, u32), usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientInstance {
    pub(crate) fn number(&self) -> u32 {
        self.key.1
    }
}

impl Drop for ClientInstance {
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
    use super::ClientInstances;

    #[test]
    fn each_client_has_the_first_number_that_is_free_or_its_own_again() {
        let instances = ClientInstances::default();
        let first = instances.enter("a", 0);
        let second = instances.enter("a", 0);
        assert_eq!((first.number(), second.number(), instances.enter("b", 0).number()), (1, 2, 1));
        drop(first);
        assert_eq!(instances.enter("a", 0).number(), 1);
        // It comes again before its old connection is gone.
        let again = instances.enter("a", 2);
        drop(second);
        let third = instances.enter("a", 0);
        let fourth = instances.enter("a", 0);
        assert_eq!((again.number(), third.number(), fourth.number()), (2, 1, 3));
        drop((again, third, fourth));
        assert!(instances.lock().is_empty());
    }
}
