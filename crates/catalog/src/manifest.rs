//! `manifest.json`, as the published extension has it: what its loader and others read.

use serde_json::{Map, Value, json};

use crate::catalog::Catalog;

/// All tools by alias, with their metadata and the script that runs them.
pub fn manifest(catalog: &Catalog) -> Value {
    let scripts: Map<String, Value> = catalog
        .all()
        .map(|tool| {
            let alias = tool.alias();
            let (folder, rest) = alias.split_once('.').unwrap_or(("", alias));
            let script = format!("{folder}/{}.js", rest.replace('.', "-"));
            (alias.to_owned(), json!({"metadata": tool.metadata(), "scriptRelPath": script}))
        })
        .collect();
    json!({"version": 2, "scripts": scripts})
}
