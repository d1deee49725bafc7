//! Which clients get structured content beside the text.
//!
//! Some give their model the structured content instead of the text, as JSON with escaped newlines, and drop
//! images beside it. Those get neither structured content nor output schemas, so that the text, which
//! is written for a model and says the same, reaches it.

use std::str::FromStr;

/// Who gets structured content and output schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Structured {
    /// Everyone but clients that are known to drop the text for it.
    #[default]
    Auto,
    /// Everyone.
    Always,
    /// No one.
    Never,
}

/// A word that is no [`Structured`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("structured is {0:?}: it takes auto, always or never")]
pub struct UnknownStructured(pub String);

/// How clients that drop the text call themselves (`clientInfo.name`), in lower case. Variants have more
/// words (`Visual Studio Code - Insiders`).
const DROP_TEXT: [&str; 4] = ["claude-code", "visual studio code", "vscodium", "code - oss"];

impl FromStr for Structured {
    type Err = UnknownStructured;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word.trim() {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            other => Err(UnknownStructured(other.to_owned())),
        }
    }
}

impl Structured {
    /// Whether a client of this name gets it; `more` are further clients that drop the text.
    pub(crate) fn is_for(self, client: Option<&str>, more: &[String]) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => !client.is_some_and(|client| drops_text(client, more)),
        }
    }
}

fn drops_text(client: &str, more: &[String]) -> bool {
    let client = client.trim().to_lowercase();
    let is_variant = |name: &str| {
        let rest = client.strip_prefix(name.trim().to_lowercase().as_str());
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    let more = more.iter().map(String::as_str).filter(|name| !name.trim().is_empty());
    DROP_TEXT.into_iter().chain(more).any(is_variant)
}

#[cfg(test)]
mod tests {
    use super::Structured::{Always, Auto, Never};

    #[test]
    fn clients_that_drop_the_text_get_nothing_else() {
        for client in
            ["claude-code", "Visual Studio Code", "Visual Studio Code - Insiders", "VSCodium"]
        {
            assert!(!Auto.is_for(Some(client), &[]), "{client}");
            assert!(Always.is_for(Some(client), &[]), "{client}");
        }
        for client in
            ["claude-ai", "cursor-vscode", "claude-coder", "Visual Studio", "inspector", ""]
        {
            assert!(Auto.is_for(Some(client), &[]), "{client}");
            assert!(!Never.is_for(Some(client), &[]), "{client}");
        }
        assert!(Auto.is_for(None, &[]));
        assert!(!Auto.is_for(Some("My Client 2"), &["my client".to_owned()]));
    }
}
