//! Why keys could not be read, and what to write instead; the limits that the messages name.

/// Longest input that [`parse_keys`](super::parse_keys) takes, in bytes.
pub const MAX_INPUT_BYTES: usize = 1 << 20;

/// Most items that [`parse_keys`](super::parse_keys) gives, repeats counted.
pub const MAX_INPUT_ITEMS: usize = 1 << 20;

/// Most times that one `<Name*n>` repeats its key.
pub const MAX_REPEAT: usize = 1000;

/// Why keys could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A chord whose last part is no key.
    #[error("`{chord}` names no key: `{key}` is not a key name{}", hint(suggestion.as_deref()))]
    UnknownKey {
        /// The chord as written.
        chord: String,
        /// The part that is unknown.
        key: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// Modifiers with no key after them.
    #[error("`{chord}` has no key after its modifiers: write a key too, as in `Ctrl+C`")]
    MissingKey {
        /// The chord as written.
        chord: String,
    },
    /// Something that is neither a key name nor a chord, where only one may stand.
    #[error("`{name}` is not a key name{}", hint(suggestion.as_deref()))]
    NotAKey {
        /// What was written.
        name: String,
        /// What was probably meant.
        suggestion: Option<String>,
    },
    /// Keys and text side by side, with nothing that tells them apart.
    #[error(
        "`{written}` mixes keys and text: write `{bracketed}` to press the keys, or send it as \
         literal `text` to type every character"
    )]
    Mixture {
        /// What was written, as far as it is worth showing.
        written: String,
        /// The same with its keys in brackets.
        bracketed: String,
    },
    /// A repeat count outside its range.
    #[error("`{name}` repeats its key {count} times: the count must be from 1 to {MAX_REPEAT}")]
    Repeat {
        /// The name as written.
        name: String,
        /// The count as written.
        count: String,
    },
    /// More input than can be sent at once.
    #[error("the keys are {bytes} bytes long: send at most {MAX_INPUT_BYTES} at a time")]
    TooLong {
        /// The length of the input.
        bytes: usize,
    },
    /// More keys than can be sent at once, once repeats are counted.
    #[error("the keys are more than {MAX_INPUT_ITEMS} presses: send fewer at a time")]
    TooMany,
}

fn hint(suggestion: Option<&str>) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{name}`?"),
        None => {
            "; keys are single characters and names such as Enter, Escape, Up, PageDown, F5".into()
        }
    }
}
