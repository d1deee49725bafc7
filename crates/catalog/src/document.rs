//! YAML (and so JSON) text as a value, with the line of each part of it.
//!
//! Only what metadata needs: no anchors, one document, a bounded depth. What is refused is told with its
//! line.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number, Value};

use crate::read::Problem;

/// Deepest nesting.
const DEEPEST: usize = 24;

/// A value and where its parts come from.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) value: Value,
    pub(crate) lines: Lines,
}

/// The line of each part.
#[derive(Debug, Default)]
pub(crate) struct Lines(HashMap<String, usize>);

impl Document {
    /// Reads the one document of a text.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let mut builder = Builder::default();
        for event in Parser::new_from_str(text) {
            let (event, span) = event
                .map_err(|error| Problem::new(error.marker().line(), error.info().to_owned()))?;
            builder.take(event, span)?;
        }
        let value = builder.root.ok_or_else(|| Problem::new(1, "the file is empty"))?;
        Ok(Self { value, lines: Lines(builder.lines) })
    }
}

impl Lines {
    /// The line of a part, such as `params.line.min` or `errors[2]`; of the nearest part around it
    /// that has one.
    pub(crate) fn of(&self, path: &str) -> usize {
        let mut path = path;
        loop {
            if let Some(line) = self.0.get(path) {
                return *line;
            }
            match path.rfind(['.', '[']) {
                Some(end) => path = &path[..end],
                None => return self.0.get("").copied().unwrap_or(1),
            }
        }
    }
}

#[derive(Default)]
struct Builder {
    root: Option<Value>,
    lines: HashMap<String, usize>,
    open: Vec<Open>,
}

/// A container whose end has not come.
struct Open {
    path: String,
    /// Where it began.
    line: usize,
    content: Content,
}

enum Content {
    Items(Vec<Value>),
    /// The fields, and the key whose value comes next with its line.
    Fields(Map<String, Value>, Option<(String, usize)>),
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let line = span.start.line();
        match event {
            Event::Alias(_) => Err(Problem::new(line, "anchors and aliases are not supported")),
            Event::SequenceStart(..) => self.open(line, Content::Items(Vec::new())),
            Event::MappingStart(..) => self.open(line, Content::Fields(Map::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else {
                    return Ok(());
                };
                let value = match open.content {
                    Content::Items(items) => Value::Array(items),
                    Content::Fields(fields, _) => Value::Object(fields),
                };
                self.put(value, open.line)
            }
            Event::Scalar(text, style, ..) => {
                if let Some(Open { content: Content::Fields(fields, key @ None), .. }) =
                    self.open.last_mut()
                {
                    if fields.contains_key(&*text) {
                        return Err(Problem::new(line, format!("`{text}` is there twice")));
                    }
                    *key = Some((text.into_owned(), line));
                    return Ok(());
                }
                self.put(scalar(&text, style), line)
            }
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(Problem::new(line, "there is more than one document"))
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, line: usize, content: Content) -> Result<(), Problem> {
        if self.open.len() >= DEEPEST {
            return Err(Problem::new(line, format!("it is nested deeper than {DEEPEST}")));
        }
        if let Some(Open { content: Content::Fields(_, None), .. }) = self.open.last() {
            return Err(Problem::new(line, "a key is not text"));
        }
        let (path, line) = self.place(line);
        self.open.push(Open { path, line, content });
        Ok(())
    }

    fn put(&mut self, value: Value, line: usize) -> Result<(), Problem> {
        let (path, line) = self.place(line);
        self.lines.insert(path, line);
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(value),
            Some(Content::Items(items)) => items.push(value),
            Some(Content::Fields(fields, key)) => {
                let Some((key, _)) = key.take() else {
                    return Err(Problem::new(line, "a key is not text"));
                };
                fields.insert(key, value);
            }
        }
        Ok(())
    }

    /// The path of the next value, and its line: that of its key where it has one.
    fn place(&self, line: usize) -> (String, usize) {
        match self.open.last() {
            None => (String::new(), line),
            Some(Open { path, content: Content::Items(items), .. }) => {
                (format!("{path}[{}]", items.len()), line)
            }
            Some(Open { path, content: Content::Fields(_, key), .. }) => match key {
                Some((key, line)) if path.is_empty() => (key.clone(), *line),
                Some((key, line)) => (format!("{path}.{key}"), *line),
                None => (path.clone(), line),
            },
        }
    }
}

/// Plain text is a number, a truth or nothing where it looks like one (the core schema).
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.trim_start_matches(['-', '+']);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    text.parse().ok().and_then(Number::from_f64)
}
