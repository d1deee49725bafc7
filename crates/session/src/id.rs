//! Names of sessions.

use std::fmt;

/// The handle of a session: short enough to repeat, random enough not to be guessed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// Digits and letters that are not taken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 60 bits.
const LENGTH: usize = 12;

impl SessionId {
    /// A new random id.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes)?;
        let letter = |byte: &u8| ALPHABET[usize::from(byte % 32)] as char;
        Ok(Self(bytes.iter().map(letter).collect()))
    }

    /// The id as a caller wrote it; it may name nothing.
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
