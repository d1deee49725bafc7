//! Text with a bound: its head and its tail, and how much was cut between them.

/// The output of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// What was kept.
    pub text: String,
    /// Where something is missing.
    pub cut: Option<Cut>,
}

/// A gap in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The byte of the kept text before which the gap lies.
    pub at: usize,
    /// Bytes that are missing.
    pub bytes: u64,
    /// Ends of lines among them, where they were counted.
    pub lines: Option<u64>,
}

impl Output {
    /// At most `max` bytes: half from the start, half from the end.
    pub(crate) fn bounded(self, max: usize) -> Self {
        let length = self.text.len();
        if length <= max {
            return self;
        }
        let head = self.text.floor_char_boundary(max / 2);
        let tail = self.text.ceil_char_boundary(length - (max - max / 2));
        let nothing = Cut { at: head, bytes: 0, lines: Some(0) };
        let before = self.cut.unwrap_or(nothing);
        let removed = &self.text[head..tail];
        let bytes = before.bytes + removed.len() as u64;
        let lines = before.lines.map(|lines| lines + removed.matches('\n').count() as u64);
        let mut text = self.text;
        text.replace_range(head..tail, "");
        text.shrink_to_fit();
        Self { text, cut: Some(Cut { at: head, bytes, lines }) }
    }

    /// The text with a line in the gap that says how much is missing.
    pub fn display(&self) -> String {
        match self.cut {
            None => self.text.clone(),
            Some(Cut { at, bytes, .. }) => {
                let at = self.text.floor_char_boundary(at);
                let (head, tail) = self.text.split_at(at);
                format!("{head}\n[… {bytes} bytes cut …]\n{tail}")
            }
        }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, cut: None }
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}
