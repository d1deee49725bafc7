//! Writing a large value to a file, page by page.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::DebugSession;
use super::evaluate::EvaluateContext;
use super::inspect::{LeftOut, Page, VariableFilter};
use crate::error::DebugError;
use crate::protocol::Variable;
use crate::report::VariableInfo;

/// Children that are written at most.
const MAX_ITEMS: u64 = 1_000_000;

/// Children that are asked for one by one, because what is within them was left out.
const MAX_ASKED: u64 = 10_000;

/// What to write and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Save {
    /// An expression for the value.
    pub expression: String,
    /// The frame to evaluate it in; without one that of the latest stop.
    pub frame: Option<u64>,
    /// What it is evaluated for.
    pub context: EvaluateContext,
    /// The file; what is there is replaced.
    pub path: PathBuf,
    /// Children asked for at once.
    pub page_size: u64,
    /// Children written at most; 0 for as many as may be.
    pub max_items: u64,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The value itself.
    pub value: VariableInfo,
    /// Lines in the file: one for each child, or one for a value that has none.
    pub items: u64,
    /// Bytes in the file.
    pub bytes: u64,
    /// Whether there is more than was written.
    pub cut: bool,
}

impl DebugSession {
    /// Writes the children of a value as lines of JSON: `{"name": …, "value": …, "type": …}`. The file
    /// is there when all of it is written, and not before.
    pub async fn save_variable(&self, save: &Save) -> Result<Saved, DebugError> {
        let (link, value) =
            self.raw_value(&save.expression, save.frame, save.context.name()).await?;
        let failed = |error| cannot_write(save, &error);
        let mut file = Lines::create(&save.path).map_err(failed)?;
        let limit = if save.max_items == 0 { MAX_ITEMS } else { save.max_items.min(MAX_ITEMS) };
        let mut cut = false;
        if value.variables_reference != 0 {
            cut = self.save_children(link, &value, save, limit, &mut file).await?;
        }
        // Of bytes, say, there is something inside that is not shown.
        if file.items == 0 && !cut {
            let text = self.whole_text(&save.expression, &value, save.frame).await;
            file.write(&Variable { value: text, ..value.clone() }).map_err(failed)?;
        }
        let (items, bytes) = (file.items, file.bytes);
        file.finish().map_err(failed)?;
        Ok(Saved { value: self.inner.variable(link, value), items, bytes, cut })
    }

    /// The text of a value as long as it is, where the adapter gives it.
    async fn whole_text(&self, expression: &str, value: &Variable, frame: Option<u64>) -> String {
        let whole = match self.whole_context(frame).await {
            Some(context) => self.raw_value(expression, frame, context).await.ok(),
            None => None,
        };
        // What cannot be had in another context is still what it was in the first.
        whole.map_or_else(|| value.value.clone(), |(_, whole)| whole.value)
    }

    /// Writes a value's children; whether some were left out.
    async fn save_children(
        &self,
        link: u32,
        value: &Variable,
        save: &Save,
        limit: u64,
        file: &mut Lines,
    ) -> Result<bool, DebugError> {
        let failed = |error| cannot_write(save, &error);
        if self.inner.adapter.quirks().has_rest() {
            // The next one is the last.
            let mut containers = vec![value.variables_reference];
            let (mut asked, mut is_cut) = (0, false);
            while let Some(container) = containers.pop() {
                let (children, rest) = self.inner.some_children(link, container).await?;
                for child in children.iter().filter(|child| child.name != "len()") {
                    // It shows no more of this kind of container.
                    if file.items == limit || child.name == "Unable to handle:" {
                        return Ok(true);
                    }
                    let mut child = child.clone();
                    // What is within it is left out there.
                    if let Some(expression) = child.evaluate_name.clone()
                        && child.value.contains("...")
                    {
                        asked += 1;
                        if asked <= MAX_ASKED {
                            child.value = self.whole_text(&expression, &child, save.frame).await;
                        }
                        let is_text = child.kind.as_deref() == Some("str");
                        is_cut |= asked > MAX_ASKED || (!is_text && child.value.contains("..."));
                    }
                    file.write(&child).map_err(failed)?;
                }
                containers.extend(rest.into_iter().rev());
            }
            return Ok(is_cut);
        }
        let indexed = value.indexed_variables.unwrap_or(0) > 0;
        let filter = if indexed { VariableFilter::Indexed } else { VariableFilter::All };
        let size = save.page_size.clamp(1, 1000);
        loop {
            let count = size.min(limit - file.items);
            if count == 0 {
                return Ok(value.indexed_variables.is_none_or(|all| file.items < all));
            }
            let page = Page { start: file.items, count };
            let reference = value.variables_reference;
            let (children, left_out) =
                self.inner.raw_variables(link, reference, filter, page).await?;
            for child in &children {
                file.write(child).map_err(failed)?;
            }
            if left_out == LeftOut::Some(0) {
                return Ok(false);
            }
        }
    }
}

fn cannot_write(save: &Save, error: &std::io::Error) -> DebugError {
    DebugError::CannotWrite { path: save.path.clone(), reason: error.to_string() }
}

/// Lines on their way into a file: written beside it, and put in its place at the end.
struct Lines {
    file: BufWriter<File>,
    path: PathBuf,
    partial: PathBuf,
    items: u64,
    bytes: u64,
}

impl Lines {
    fn create(path: &Path) -> std::io::Result<Self> {
        let other = std::io::Error::other;
        if std::fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file()) {
            return Err(other("it is there already and no regular file"));
        }
        let name = path.file_name().ok_or_else(|| other("it names no file"))?;
        let mut name = name.to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let file = File::options().write(true).create_new(true).open(&partial)?;
        let (file, path) = (BufWriter::new(file), path.to_owned());
        Ok(Self { file, path, partial, items: 0, bytes: 0 })
    }

    fn write(&mut self, variable: &Variable) -> std::io::Result<()> {
        let line = json!({"name": variable.name, "value": variable.value, "type": variable.kind});
        let line = format!("{line}\n");
        self.items += 1;
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.file.flush()?;
        std::fs::rename(&self.partial, &self.path)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // It is gone once it has its name.
        let _ = std::fs::remove_file(&self.partial);
    }
}
