//! Words to arguments, as far as they can be known.

use crate::dialect::Grammar;
use crate::parse::{Operation, Piece, Word};

use super::braces;
use super::state::{Arg, EXPANDED, FETCHED, Feed, State, UNKNOWN, Values};
use super::{Stop, Walker};

/// What a word costs beside its bytes: each is looked at by many rules.
pub(super) const WORD_COST: usize = 128;

/// The arguments of a word in the making.
#[derive(Default)]
struct Fields {
    done: Vec<Arg>,
    open: Option<Arg>,
}

impl Fields {
    fn open(&mut self) -> &mut Arg {
        self.open.get_or_insert_default()
    }

    fn add(&mut self, text: &str, quoted: bool) {
        let arg = self.open();
        if text.contains(EXPANDED) {
            arg.text.push_str(&text.replace(EXPANDED, "*"));
            arg.glob = true;
            return;
        }
        arg.text.push_str(text);
        arg.glob |= !quoted && text.contains(['*', '?', '[']);
    }

    fn add_unknown(&mut self, splits: bool) {
        self.add(UNKNOWN.encode_utf8(&mut [0; 4]), true);
        self.open().splits |= splits;
    }

    fn close(&mut self) {
        self.done.extend(self.open.take());
    }

    /// Adds the value of an unquoted expansion, which splits at blanks.
    fn add_split(&mut self, text: &str) {
        let mut pieces = text.split([' ', '\t', '\n']);
        let first = pieces.next().unwrap_or_default();
        if !first.is_empty() {
            self.add(first, false);
        }
        for piece in pieces {
            self.close();
            if !piece.is_empty() {
                self.add(piece, false);
            }
        }
    }
}

impl Walker<'_> {
    /// The arguments a word becomes.
    pub(super) fn fields(&mut self, word: &Word, state: &State) -> Result<Vec<Arg>, Stop> {
        let mut fields = Fields::default();
        let braces = if self.grammar == Grammar::Dash { None } else { braces::expand(word)? };
        match braces {
            None => self.word(&word.pieces, state, &mut fields)?,
            Some(words) => {
                for word in &words {
                    self.word(word, state, &mut fields)?;
                    fields.close();
                }
            }
        }
        fields.close();
        self.spend(fields.done.iter().map(|arg| arg.text.len() + WORD_COST).sum())?;
        Ok(fields.done)
    }

    /// The text of a word that does not split: an assignment, a target, a here-document.
    pub(super) fn single(&mut self, word: &Word, state: &State) -> Result<Arg, Stop> {
        let mut fields = Fields::default();
        self.word(&word.pieces, state, &mut fields)?;
        fields.close();
        let mut args = fields.done.into_iter();
        let mut whole = args.next().unwrap_or_default();
        for arg in args {
            whole.text.push(' ');
            whole.text.push_str(&arg.text);
            whole.glob |= arg.glob;
            whole.splits |= arg.splits;
        }
        self.spend(whole.text.len())?;
        Ok(whole)
    }

    fn word<P: std::borrow::Borrow<Piece>>(
        &mut self,
        pieces: &[P],
        state: &State,
        fields: &mut Fields,
    ) -> Result<(), Stop> {
        for (index, piece) in pieces.iter().enumerate() {
            match piece.borrow() {
                Piece::Literal { text, quoted: false } if index == 0 && text.starts_with('~') => {
                    let (prefix, rest) = text.split_at(text.find('/').unwrap_or(text.len()));
                    fields.add(&tilde(prefix, state), true);
                    fields.add(rest, false);
                }
                Piece::Literal { text, quoted } => fields.add(text, *quoted),
                Piece::Variable { name, operation, quoted } => {
                    self.variable(name, operation, *quoted, state, fields)?;
                }
                Piece::Command { script, quoted } => {
                    let mut inner = state.reached("$(…)").forked();
                    let text = match self.script(script, &mut inner)? {
                        Feed::Unknown | Feed::Found(_) => {
                            fields.add_unknown(!quoted);
                            continue;
                        }
                        Feed::Text(text) => text.trim_end_matches('\n').to_owned(),
                        Feed::Fetched => FETCHED.to_string(),
                    };
                    if *quoted { fields.add(&text, true) } else { fields.add_split(&text) }
                }
                Piece::Process { script } => {
                    let mut inner = state.reached("<(…)").forked();
                    let feed = self.script(script, &mut inner)?;
                    let arg = fields.open();
                    arg.text.push(UNKNOWN);
                    arg.feed = Some(feed);
                }
                Piece::Unknown { inner } => {
                    self.word(&inner.pieces, state, &mut Fields::default())?;
                    fields.add(UNKNOWN.encode_utf8(&mut [0; 4]), true);
                }
                Piece::Subscript { inner } => {
                    self.word(&inner.pieces, state, &mut Fields::default())?;
                }
                Piece::Code { text } => {
                    let mut inner = state.reached("a glob qualifier").forked();
                    self.text(text, self.grammar, &mut inner)?;
                }
            }
        }
        Ok(())
    }

    fn variable(
        &mut self,
        name: &str,
        operation: &Operation,
        quoted: bool,
        state: &State,
        fields: &mut Fields,
    ) -> Result<(), Stop> {
        if matches!(operation, Operation::Plain | Operation::All) && quoted && name == "*" {
            // One word of all of them.
            let joined = state.value(name).map(|all| all.join(" "));
            fields.add(joined.as_deref().unwrap_or(UNKNOWN.encode_utf8(&mut [0; 4])), true);
            return Ok(());
        }
        let list = matches!(operation, Operation::All) && self.grammar != Grammar::Fish;
        let several = name == "@" || list;
        let known = state.value(name);
        let first = known.as_ref().and_then(|value| value.first());
        let values = match operation {
            Operation::Plain if matches!(name, "@" | "*") => known,
            Operation::All => known,
            Operation::Plain => known.map(|value| value.into_iter().take(1).collect()),
            Operation::Element(index) => {
                known.and_then(|value| Some(vec![value.get(*index)?.clone()]))
            }
            Operation::Indirect => first.and_then(|name| state.value(name)),
            Operation::Substring(offset, length) => first.map(|value| {
                vec![value.chars().skip(*offset).take(length.unwrap_or(usize::MAX)).collect()]
            }),
            Operation::Default(word) | Operation::Assign(word) | Operation::Alternative(word)
                if state.followed == Values::Unknown =>
            {
                if matches!(operation, Operation::Assign(_)) {
                    let hit = self.judge.variable(name, None);
                    self.refuse(hit, name)?;
                }
                self.word(&word.pieces, state, &mut Fields::default())?;
                None
            }
            Operation::Default(word) | Operation::Assign(word) => {
                if matches!(operation, Operation::Assign(_)) {
                    let hit = self.judge.variable(name, None);
                    self.refuse(hit, name)?;
                }
                match known {
                    Some(value) if value.iter().any(|value| !value.is_empty()) => Some(value),
                    _ => return self.word(&word.pieces, state, fields),
                }
            }
            Operation::Evaluated(word) => {
                let mut more = Fields::default();
                self.word(&word.pieces, state, &mut more)?;
                more.close();
                let words = more.done.into_iter().map(|arg| arg.text);
                for text in known.into_iter().flatten().chain(words) {
                    self.quoted(&text, state)?;
                }
                None
            }
            Operation::Value(word) => {
                self.word(&word.pieces, state, &mut Fields::default())?;
                first.filter(|value| !value.is_empty()).map(|value| vec![value.clone()])
            }
            Operation::Alternative(word) => return self.word(&word.pieces, state, fields),
            Operation::Other(word) => {
                self.word(&word.pieces, state, &mut Fields::default())?;
                None
            }
        };
        let Some(values) = values else {
            fields.add_unknown(!quoted || several);
            return Ok(());
        };
        self.spend(values.iter().map(|value| value.len() + 1).sum())?;
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                fields.close();
            }
            if quoted { fields.add(value, true) } else { fields.add_split(value) }
        }
        Ok(())
    }
}

/// What a tilde prefix stands for.
fn tilde(prefix: &str, state: &State) -> String {
    let path = match prefix {
        "~" => state.home.to_str().map(str::to_owned),
        "~+" => state.cwd.as_ref().and_then(|path| path.to_str()).map(str::to_owned),
        "~-" => state.previous.as_ref().and_then(|path| path.to_str()).map(str::to_owned),
        "~root" => Some("/root".to_owned()),
        user => Some(format!("/home/{}", &user[1..])),
    };
    path.unwrap_or_else(|| UNKNOWN.to_string())
}
