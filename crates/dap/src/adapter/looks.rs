//! How a value is shown in one line, for adapters that leave out what is nested.

/// A value, as far as the adapter's own text of it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// All of it.
    Text(String),
    /// A number that the adapter's text tells in part: an expression gives its bits.
    Bits(String),
    /// What is inside has to be fetched.
    Parts(Container),
    /// The text has the first parts, the others have to be fetched: how many they are is not known.
    Preview(String, Container),
}

/// The bits of a number, in as many integers as it has parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bits {
    Known(Vec<u64>),
    /// It is in no memory: the adapter computed it.
    Computed,
    /// Nobody looked.
    Unknown,
}

/// What a value holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Container {
    /// Elements in an order; some of the `length` may be missing.
    List { title: String, length: usize },
    /// A map or a set: elements that are an [`Container::Entry`] each.
    Entries { title: String, length: usize },
    /// A value, perhaps with a key.
    Entry,
    /// Named values.
    Fields { title: String },
}

/// What a child is to its container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// An element.
    Indexed(usize),
    /// A field.
    Named(String),
    /// A field that is computed when it is read.
    Getter(String),
}

impl Container {
    /// How many elements it has, where it has elements.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::List { length, .. } | Self::Entries { length, .. } => Some(*length),
            Self::Entry | Self::Fields { .. } => None,
        }
    }

    /// How it is written when what is inside is left out.
    pub(crate) fn closed(&self) -> String {
        self.with("…")
    }

    /// How it is written around what is inside.
    pub(crate) fn with(&self, inside: &str) -> String {
        match self {
            Self::List { title, .. } => format!("{title}[{inside}]"),
            Self::Entries { title, .. } | Self::Fields { title } => {
                format!("{title}{{{inside}}}")
            }
            Self::Entry => inside.to_owned(),
        }
    }
}
