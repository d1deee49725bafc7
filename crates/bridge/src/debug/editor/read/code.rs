//! What the editor's language servers say.

use serde_json::Value;
use termbridge_code::diagnostics::{Diagnostic, Findings, Severity, ToolRun, ToolStatus};
use termbridge_code::symbols::{
    CallSite, Calls, ChangedPath, Locations, Renamed, ReplacedMethod, SourceLocation, SymbolInfo,
    Symbols, TextRange,
};

use super::{list, number, path, size, text, words};

/// Most bytes of a file that is looked into for a line.
const MAX_SOURCE: u64 = 16 << 20;

/// Who found something, in `diagnostic.collect`.
const EDITOR: &str = "editor";

pub(super) fn diagnostics(data: &Value) -> Findings {
    let found = list(&data["diagnostics"]).iter().map(|found| Diagnostic {
        path: path(&found["file"]).into(),
        line: number(&found["line"]).unwrap_or(0),
        column: number(&found["column"]).unwrap_or(0) + 1,
        end_line: None,
        end_column: None,
        severity: match found["severity"].as_str() {
            Some("error") => Severity::Error,
            Some("warning") => Severity::Warning,
            Some("hint") => Severity::Hint,
            _ => Severity::Information,
        },
        message: text(&found["message"]),
        code: match &found["code"] {
            Value::Null => None,
            Value::String(code) => Some(code.clone()),
            code => Some(code.to_string()),
        },
        source: words(&found["source"]).unwrap_or_else(|| EDITOR.to_owned()).into(),
    });
    let diagnostics: Vec<Diagnostic> = found.collect();
    let tool = ToolRun { name: EDITOR, command: None, status: ToolStatus::Ran, message: None };
    Findings { total: diagnostics.len(), diagnostics, cut: false, tools: vec![tool] }
}

/// A line of a file, without its indent.
fn line_of(path: &str, line: u64) -> String {
    let bytes = termbridge_foreign_files::read(path.as_ref(), MAX_SOURCE).unwrap_or_default();
    let source = String::from_utf8_lossy(&bytes);
    let line = source.lines().nth(line.saturating_sub(1) as usize);
    line.unwrap_or_default().trim().to_owned()
}

pub(super) fn locations(data: &Value) -> Locations {
    let found = list(&data["locations"]).iter().map(|place| {
        // Lines count from 1 here, characters from 0.
        let start = &place["range"]["start"];
        let (path, line) = (path(&place["file"]), number(&start["line"]).unwrap_or(0));
        let text = line_of(&path, line);
        SourceLocation { path, line, column: number(&start["character"]).unwrap_or(0) + 1, text }
    });
    let locations: Vec<SourceLocation> = found.collect();
    Locations {
        total: size(&data["total"]).max(locations.len()),
        locations,
        maybe_missed: Vec::new(),
        incomplete: None,
    }
}

pub(super) fn calls(data: &Value) -> Calls {
    let found = list(&data["calls"]).iter().map(|call| CallSite {
        name: words(&call["caller"]).or_else(|| words(&call["callee"])).unwrap_or_default(),
        path: path(&call["file"]),
        // Lines count from 0 here.
        line: number(&call["line"]).unwrap_or(0) + 1,
    });
    let calls: Vec<CallSite> = found.collect();
    Calls { total: size(&data["totalCalls"]).max(calls.len()), calls, incomplete: None }
}

pub(super) fn renamed(data: &Value) -> Renamed {
    let changed = list(&data["changes"]).iter().map(|change| ChangedPath {
        path: path(&change["file"]),
        edits: size(&change["editCount"]),
    });
    Renamed {
        changed: changed.collect(),
        total: size(&data["totalEdits"]),
        maybe_missed: Vec::new(),
        incomplete: None,
    }
}

pub(super) fn replaced(data: &Value) -> ReplacedMethod {
    let change = &data["changes"][0];
    let (start, end) = (&change["range"]["start"], &change["range"]["end"]);
    // Both count from 0 here.
    let from_one = |value: &Value| number(value).unwrap_or(0) + 1;
    let lines = |sign: char, text: &Value| -> Vec<String> {
        text.as_str().unwrap_or_default().lines().map(|line| format!("{sign}{line}")).collect()
    };
    let mut diff = lines('-', &change["oldText"]);
    diff.extend(lines('+', &change["newText"]));
    ReplacedMethod {
        path: path(&change["file"]),
        range: TextRange {
            start_line: from_one(&start["line"]),
            start_column: from_one(&start["character"]),
            end_line: from_one(&end["line"]),
            end_column: from_one(&end["character"]),
        },
        diff: diff.join("\n"),
    }
}

pub(super) fn symbols(data: &Value) -> Symbols {
    let found = list(&data["symbols"]).iter().map(|symbol| {
        let kind = text(&symbol["kind"]);
        // A workspace search shows functions with their parentheses.
        let name = text(&symbol["name"]).trim_end_matches("()").to_owned();
        let path = path(&symbol["location"]["file"]);
        let qualified = match words(&symbol["container"]) {
            Some(container) => format!("{container}.{name}"),
            None => name.clone(),
        };
        SymbolInfo {
            node_id: format!("{}:{path}:{qualified}", kind.to_lowercase()),
            line: number(&symbol["location"]["line"]).unwrap_or(0),
            name,
            kind,
            path,
        }
    });
    let symbols: Vec<SymbolInfo> = found.collect();
    let total = number(&data["results"]["total"]).map_or(symbols.len(), |total| total as usize);
    Symbols { symbols, total, unsearched: Vec::new() }
}
