//! Reads and checks our own metadata, and leaves it as JSON for the library to carry.

// The library's own reader: what is refused at start is refused here.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "the library uses the rest of these modules"
)]

#[path = "src/check.rs"]
mod check;
#[path = "src/document.rs"]
mod document;
#[path = "src/metadata.rs"]
mod metadata;
#[path = "src/read.rs"]
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use metadata::{Compiled, ErrorCode, Guide, Metadata};
use read::Strictness;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    for source in ["meta", "errors.yaml", "guides", "src"] {
        // Of a folder, every file in it.
        #[allow(clippy::print_stdout, reason = "this is how a build script talks")]
        {
            println!("cargo::rerun-if-changed={source}");
        }
    }
    let compiled = Compiled { tools: tools()?, errors: errors()?, guides: guides()? };
    check_together(&compiled)?;
    let out = std::env::var("OUT_DIR")?;
    Ok(fs::write(Path::new(&out).join("catalog.json"), serde_json::to_vec(&compiled)?)?)
}

fn tools() -> Result<Vec<Metadata>> {
    let mut tools = Vec::new();
    for path in files(Path::new("meta"))? {
        let name = path.to_string_lossy().into_owned();
        if !name.ends_with(".meta.yaml") {
            return Err(format!("{name}: only *.meta.yaml files belong here").into());
        }
        let tool = read::read(&fs::read_to_string(&path)?, Strictness::Own)
            .map_err(|problem| format!("{name}:{}: {}", problem.line, problem.message))?;
        tools.push(tool);
    }
    Ok(tools)
}

fn errors() -> Result<Vec<ErrorCode>> {
    let text = fs::read_to_string("errors.yaml")?;
    let located =
        |problem: read::Problem| format!("errors.yaml:{}: {}", problem.line, problem.message);
    let document::Document { value, lines } = document::Document::parse(&text).map_err(located)?;
    Ok(read::decode(value, Strictness::Own, |path| lines.of(path)).map_err(located)?)
}

fn guides() -> Result<Vec<Guide>> {
    let mut guides = Vec::new();
    for path in files(Path::new("guides"))? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // The number says its place and is no part of its name.
        let (_, name) = name.split_once('-').ok_or("a guide is named NUMBER-NAME.md")?;
        guides.push(Guide { id: format!("guide_{name}"), text: fs::read_to_string(&path)? });
    }
    Ok(guides)
}

/// What no file can know alone: names are unique, and what is referred to is there.
fn check_together(compiled: &Compiled) -> Result<()> {
    let codes: BTreeSet<&str> = compiled.errors.iter().map(|error| &*error.code).collect();
    let aliases: BTreeSet<&str> = compiled.tools.iter().map(|tool| &*tool.alias).collect();
    let mut names = BTreeMap::new();
    for tool in &compiled.tools {
        let alias = &*tool.alias;
        for name in std::iter::once(check::tool_name(tool)).chain(tool.mcp.aliases.clone()) {
            if let Some(other) = names.insert(name.clone(), alias) {
                return Err(format!("{alias} and {other} are both named {name}").into());
            }
        }
        if let Some(code) = tool.errors.iter().find(|code| !codes.contains(&***code)) {
            return Err(format!("{alias}: {code} is not in errors.yaml").into());
        }
        let related = &tool.mcp.relationships;
        let related = [&related.requires, &related.recommended, &related.conflicts];
        if let Some(other) =
            related.into_iter().flatten().find(|other| !aliases.contains(&***other))
        {
            return Err(format!("{alias}: there is no {other}").into());
        }
    }
    for error in &compiled.errors {
        if let Some(other) = error.next.iter().find(|other| !aliases.contains(&***other)) {
            return Err(format!("errors.yaml: {}: there is no {other}", error.code).into());
        }
    }
    Ok(())
}

/// All files of a folder and its folders, in order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.append(&mut self::files(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
