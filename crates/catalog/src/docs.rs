//! The long guidance: guides written by hand, a page for each tool, one for the errors.

use serde_json::Value;

use crate::catalog::{Catalog, compiled};
use crate::metadata::Param;
use crate::schema::kind;
use crate::tool::{Origin, Tool};

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its name for `docs_get`: a tool's name, or `guide_…`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// `guide`, or the tool's.
    pub category: String,
    /// What it is about.
    pub tags: Vec<String>,
    /// Its first sentence.
    pub summary: String,
    /// Markdown.
    pub text: String,
}

/// All pages of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Docs {
    pages: Vec<Page>,
}

impl Docs {
    /// Writes the pages.
    pub fn new(catalog: &Catalog) -> Self {
        let mut pages: Vec<Page> =
            compiled().guides.iter().map(|guide| written(&guide.id, &guide.text)).collect();
        pages.push(errors(catalog));
        pages.extend(catalog.enabled().map(|tool| page(tool, catalog)));
        Self { pages }
    }

    /// The pages of a category, with all of these tags; all pages where neither is given.
    pub fn list<'a>(
        &'a self,
        category: Option<&'a str>,
        tags: &'a [String],
    ) -> impl Iterator<Item = &'a Page> {
        self.pages.iter().filter(move |page| {
            category.is_none_or(|category| page.category == category)
                && tags.iter().all(|tag| page.tags.contains(tag))
        })
    }

    /// One page.
    pub fn get(&self, id: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.id == id)
    }
}

/// A guide: a heading, a line of tags, text.
fn written(id: &str, text: &str) -> Page {
    let mut lines = text.lines();
    let title = lines.next().unwrap_or_default().trim_start_matches("# ").to_owned();
    let tags = lines.next().and_then(|line| line.strip_prefix("Tags: ")).unwrap_or_default();
    let body = text.splitn(3, '\n').nth(2).unwrap_or_default().trim();
    let paragraph = body.split("\n\n").next().unwrap_or_default();
    Page {
        id: id.to_owned(),
        summary: paragraph.split_whitespace().collect::<Vec<_>>().join(" "),
        category: "guide".into(),
        tags: tags.split(", ").map(str::to_owned).collect(),
        text: format!("# {title}\n\n{body}\n"),
        title,
    }
}

fn errors(catalog: &Catalog) -> Page {
    let mut text = String::from(
        "# Errors\n\n| code | meaning | what to do | tools |\n| --- | --- | --- | --- |\n",
    );
    for error in Catalog::errors() {
        let next: Vec<&str> =
            error.next.iter().filter_map(|alias| catalog.by_alias(alias)).map(Tool::name).collect();
        let again = if error.retryable { " The same call may succeed later." } else { "" };
        text.push_str(&format!(
            "| `{}` | {} | {}{again} | {} |\n",
            error.code,
            error.summary,
            error.hint,
            next.join(", ")
        ));
    }
    Page {
        id: "guide_errors".into(),
        title: "Errors".into(),
        category: "guide".into(),
        tags: vec!["errors".into()],
        summary: "Every error code, what it means and what to do.".into(),
        text,
    }
}

fn page(tool: &Tool, catalog: &Catalog) -> Page {
    let metadata = tool.metadata();
    let mut text = format!("# {}\n\n`{}`: {}\n", tool.title(), tool.name(), metadata.description);
    if let Origin::Workspace(path) = tool.origin() {
        text.push_str(&format!("\nBrought by the workspace: {}.\n", path.display()));
    }
    let guidance = metadata.mcp.llm.when_to_use.trim();
    if !guidance.is_empty() {
        text.push_str(&format!("\n{guidance}\n"));
    }
    arguments(tool, &mut text);
    if !metadata.result.is_empty() {
        text.push_str("\n## Answer\n\n");
        for (name, field) in &metadata.result {
            let words = if field.description.is_empty() { "" } else { ": " };
            text.push_str(&format!("- `{name}`{words}{}\n", field.description));
        }
    }
    failures(tool, &mut text);
    let related = &metadata.mcp.relationships;
    for (heading, aliases) in [("Before", &related.requires), ("See also", &related.recommended)] {
        let names: Vec<String> = aliases
            .iter()
            .map(|alias| {
                catalog.by_alias(alias).map_or_else(|| alias.clone(), |tool| tool.name().into())
            })
            .map(|name| format!("`{name}`"))
            .collect();
        if !names.is_empty() {
            text.push_str(&format!("\n{heading}: {}.\n", names.join(", ")));
        }
    }
    Page {
        id: tool.name().to_owned(),
        title: tool.title().to_owned(),
        category: tool.category().to_owned(),
        tags: vec!["tool".into(), tool.category().to_owned()],
        summary: metadata.description.clone(),
        text,
    }
}

fn arguments(tool: &Tool, text: &mut String) {
    let metadata = tool.metadata();
    if metadata.params.is_empty() {
        return;
    }
    text.push_str("\n## Arguments\n\n");
    let (required, optional): (Vec<_>, Vec<_>) =
        metadata.params.iter().partition(|(_, param)| param.required);
    for (name, param) in required.into_iter().chain(optional) {
        let words = [takes(param), param.description.clone()];
        let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
        text.push_str(&format!("- `{name}` ({}\n", words.join("). ")));
        if words.len() == 1 {
            text.insert(text.len() - 1, ')');
        }
        let Some(hint) = metadata.mcp.llm.parameter_hints.get(name) else {
            continue;
        };
        let examples: Vec<String> =
            hint.examples.iter().map(|value| format!("`{}`", shown(value))).collect();
        if !examples.is_empty() {
            text.push_str(&format!("  - such as {}\n", examples.join(", ")));
        }
        for note in hint.note.iter().chain(&hint.pitfalls) {
            text.push_str(&format!("  - {note}\n"));
        }
    }
}

fn takes(param: &Param) -> String {
    let mut words = Vec::new();
    if param.options.is_empty() {
        words.push(kind(param.kind).unwrap_or("anything").to_owned());
    } else {
        let options: Vec<String> = param.options.iter().map(shown).collect();
        words.push(options.join(" | "));
    }
    match (&param.min, &param.max) {
        (Some(min), Some(max)) => words.push(format!("{min} to {max}")),
        (Some(min), None) => words.push(format!("at least {min}")),
        (None, Some(max)) => words.push(format!("at most {max}")),
        (None, None) => {}
    }
    if param.required {
        words.push("required".into());
    }
    if let Some(default) = &param.default {
        words.push(format!("default {}", shown(default)));
    }
    words.join(", ")
}

fn failures(tool: &Tool, text: &mut String) {
    let metadata = tool.metadata();
    let own = &metadata.mcp.error_contract;
    let codes = own
        .iter()
        .map(|entry| &entry.code)
        .chain(metadata.errors.iter().filter(|code| own.iter().all(|entry| entry.code != **code)));
    let mut lines = Vec::new();
    for code in codes {
        let words = match own.iter().find(|entry| entry.code == *code) {
            Some(entry) => format!(": {}. {}", entry.summary, entry.user_fix_hint),
            None => Catalog::error(code)
                .map(|error| format!(": {}. {}", error.summary, error.hint))
                .unwrap_or_default(),
        };
        lines.push(format!("- `{code}`{words}\n"));
    }
    if !lines.is_empty() {
        text.push_str("\n## Errors\n\n");
        text.push_str(&lines.concat());
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
