//! Writing a large value to a file, page by page.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use serde_json::json;

use super::DebugSession;
use super::evaluate::EvaluateContext;
use super::inspect::{Page, VariableFilter};
use crate::error::DebugError;
use crate::report::VariableInfo;

/// Children that are written at most.
const MAX_ITEMS: u64 = 1_000_000;

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
    /// Writes the children of a value as lines of JSON: `{"name": …, "value": …, "type": …}`.
    pub async fn save_variable(&self, save: &Save) -> Result<Saved, DebugError> {
        let value = self.evaluate(&save.expression, save.frame, save.context).await?;
        let failed = |error| cannot_write(save, &error);
        let mut file = Lines::create(&save.path).map_err(failed)?;
        let limit = if save.max_items == 0 { MAX_ITEMS } else { save.max_items.min(MAX_ITEMS) };
        let cut = if value.reference == 0 {
            file.write(&value).map_err(failed)?;
            value.cut > 0
        } else {
            self.save_children(&value, save, limit, &mut file).await?
        };
        let (items, bytes) = (file.items, file.bytes);
        file.finish().map_err(failed)?;
        Ok(Saved { value, items, bytes, cut })
    }

    /// Writes a value's children; whether some were left out.
    async fn save_children(
        &self,
        value: &VariableInfo,
        save: &Save,
        limit: u64,
        file: &mut Lines,
    ) -> Result<bool, DebugError> {
        let failed = |error| cannot_write(save, &error);
        if self.inner.adapter.has_rest() {
            let (link, first) = self.inner.container(value.reference)?;
            // The next one is the last.
            let mut containers = vec![first];
            while let Some(container) = containers.pop() {
                let (children, rest) = self.inner.some_children(link, container).await?;
                for child in &children {
                    if file.items == limit {
                        return Ok(true);
                    }
                    file.write(child).map_err(failed)?;
                }
                containers.extend(rest.into_iter().rev());
            }
            return Ok(false);
        }
        let indexed = value.indexed.unwrap_or(0) > 0;
        let filter = if indexed { VariableFilter::Indexed } else { VariableFilter::All };
        let size = save.page_size.clamp(1, 1000);
        loop {
            let count = size.min(limit - file.items);
            if count == 0 {
                return Ok(value.indexed.is_none_or(|all| file.items < all));
            }
            let page = Page { start: file.items, count };
            let children = self.variables(value.reference, filter, page).await?;
            for child in &children {
                file.write(child).map_err(failed)?;
            }
            if (children.len() as u64) < count {
                return Ok(false);
            }
        }
    }
}

fn cannot_write(save: &Save, error: &std::io::Error) -> DebugError {
    DebugError::InvalidPath { path: save.path.clone(), reason: error.to_string() }
}

struct Lines {
    file: BufWriter<File>,
    items: u64,
    bytes: u64,
}

impl Lines {
    fn create(path: &std::path::Path) -> std::io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create(path)?), items: 0, bytes: 0 })
    }

    fn write(&mut self, variable: &VariableInfo) -> std::io::Result<()> {
        let line = json!({
            "name": variable.name, "value": variable.value, "type": variable.kind,
            "cutBytes": variable.cut,
        });
        let line = format!("{line}\n");
        self.items += 1;
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
