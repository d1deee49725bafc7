//! What a client may do at all, whosever session it is.

use std::fmt;
use std::str::FromStr;

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Looking: screens, output, history, files.
    Read,
    /// Acting: commands, keys, starting, stopping, debugging.
    Write,
    /// Running the server itself.
    Admin,
}

/// A set of scopes; all of them by default.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scopes(u8);

/// A word that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no scope {0:?}; there are: read, write, admin")]
pub struct UnknownScope(pub String);

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|scope| scope.name() == name.trim());
        known.ok_or_else(|| UnknownScope(name.to_owned()))
    }
}

impl Scopes {
    /// No scope.
    pub const NONE: Self = Self(0);

    /// The same and one more.
    #[must_use]
    pub fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit())
    }

    /// Whether a scope is among them. None implies another.
    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    /// Those that are among them.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }
}

impl Default for Scopes {
    fn default() -> Self {
        Scope::ALL.into_iter().collect()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        scopes.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let reads: Scopes = [Scope::Read].into_iter().collect();
        assert!(reads.has(Scope::Read) && !reads.has(Scope::Write) && !reads.has(Scope::Admin));
        assert_eq!(Scopes::default().iter().collect::<Vec<_>>(), Scope::ALL);
        assert_eq!(Scopes::NONE.iter().count(), 0);
        for scope in Scope::ALL {
            assert_eq!(scope.name().parse(), Ok(scope));
        }
        assert_eq!("root".parse::<Scope>(), Err(UnknownScope("root".into())));
    }
}
