//! Names of debug sessions.

use std::fmt;

use crate::error::DebugError;

/// The handle of a debug session: short enough to repeat, random enough not to be guessed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DebugSessionId(String);

/// Digits and letters that are not taken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 50 bits.
const LENGTH: usize = 10;

impl DebugSessionId {
    /// A new random id.
    pub(crate) fn random() -> Result<Self, DebugError> {
        let mut bytes = [0; LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| DebugError::Internal(error.to_string()))?;
        let letters = bytes.iter().map(|byte| ALPHABET[usize::from(byte % 32)] as char);
        Ok(Self(letters.collect()))
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

impl fmt::Display for DebugSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
