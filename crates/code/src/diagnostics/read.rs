//! What each tool writes, read.
//!
//! Lines that are no findings are passed over; a document that is not the tool's is refused.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Diagnostic, Severity};

/// Macros in macros that are followed to the project's own line.
const MAX_EXPANSIONS: usize = 32;

/// A span as rustc writes it.
#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    line_end: u64,
    column_start: u64,
    column_end: u64,
    is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Debug, Deserialize)]
struct Expansion {
    span: Span,
}

/// `cargo check --message-format=json`: a message a line.
pub(super) fn cargo(output: &str, _: &Path) -> Vec<Diagnostic> {
    let messages = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let messages = messages.filter(|message| message["reason"] == "compiler-message");
    messages.filter_map(|message| compiler_message(&message)).collect()
}

fn compiler_message(message: &Value) -> Option<Diagnostic> {
    let said = &message["message"];
    let spans: Vec<Span> = serde_json::from_value(said["spans"].clone()).ok()?;
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let span = spans.into_iter().find(|span| span.is_primary)?;
    let (path, span) = own_line(span, package)?;
    let severity = match said["level"].as_str()? {
        "warning" => Severity::Warning,
        "note" | "failure-note" => Severity::Information,
        "help" => Severity::Hint,
        _ => Severity::Error,
    };
    let mut text = said["message"].as_str()?.to_owned();
    for child in said["children"].as_array().map(Vec::as_slice).unwrap_or_default() {
        // Notes without a place say why; with one they point elsewhere.
        let here = child["spans"].as_array().is_some_and(Vec::is_empty);
        if let (true, Some(note)) = (here, child["message"].as_str()) {
            text.push_str(&format!("\n{}: {note}", child["level"].as_str().unwrap_or("note")));
        }
    }
    Some(Diagnostic {
        path,
        line: span.line_start,
        column: span.column_start,
        end_line: Some(span.line_end),
        end_column: Some(span.column_end),
        severity,
        message: text,
        code: said["code"]["code"].as_str().map(str::to_owned),
        source: "cargo check".into(),
    })
}

/// The place, or that of the macro's use where the place is in a macro of somebody else's.
fn own_line(mut span: Span, package: &Path) -> Option<(PathBuf, Span)> {
    for _ in 0..MAX_EXPANSIONS {
        // Paths count from the root of the workspace, which is the package's folder or above it.
        let mut paths = package.ancestors().map(|folder| folder.join(&span.file_name));
        if let Some(path) = paths.find(|path| path.is_file()) {
            return Some((path, span));
        }
        span = span.expansion?.span;
    }
    None
}

/// `ruff check --output-format=json`.
pub(super) fn ruff(output: &str, root: &Path) -> Option<Vec<Diagnostic>> {
    #[derive(Deserialize)]
    struct Place {
        row: u64,
        column: u64,
    }
    #[derive(Deserialize)]
    struct Finding {
        filename: String,
        message: String,
        code: Option<String>,
        location: Place,
        end_location: Place,
    }
    let found: Vec<Finding> = serde_json::from_str(output).ok()?;
    let read = |found: Finding| {
        // A file that cannot be read by Python is wrong, the rest is advice.
        let syntax = found.code.as_deref().is_none_or(|code| code == "invalid-syntax");
        Diagnostic {
            path: root.join(found.filename),
            line: found.location.row,
            column: found.location.column,
            end_line: Some(found.end_location.row),
            end_column: Some(found.end_location.column),
            severity: if syntax { Severity::Error } else { Severity::Warning },
            message: found.message,
            code: found.code,
            source: "ruff".into(),
        }
    };
    Some(found.into_iter().map(read).collect())
}

/// `pyright --outputjson`.
pub(super) fn pyright(output: &str, root: &Path) -> Option<Vec<Diagnostic>> {
    let output: Value = serde_json::from_str(output).ok()?;
    let found = output["generalDiagnostics"].as_array()?.iter();
    Some(found.filter_map(|found| pyright_finding(found, root)).collect())
}

fn pyright_finding(found: &Value, root: &Path) -> Option<Diagnostic> {
    let number =
        |end: &str, part: &str| found["range"][end][part].as_u64().map(|from_0| from_0 + 1);
    let severity = match found["severity"].as_str()? {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "information" => Severity::Information,
        _ => Severity::Hint,
    };
    Some(Diagnostic {
        path: root.join(found["file"].as_str()?),
        line: number("start", "line").unwrap_or(1),
        column: number("start", "character").unwrap_or(1),
        end_line: number("end", "line"),
        end_column: number("end", "character"),
        severity,
        message: found["message"].as_str()?.to_owned(),
        code: found["rule"].as_str().map(str::to_owned),
        source: "pyright".into(),
    })
}

/// `tsc --pretty false`: `src/a.ts(1,7): error TS2322: …`, further lines indented.
pub(super) fn tsc(output: &str, root: &Path) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in output.lines() {
        if let (true, Some(last)) = (line.starts_with(' '), found.last_mut()) {
            last.message.push('\n');
            last.message.push_str(line);
        } else {
            found.extend(tsc_finding(line, root));
        }
    }
    found
}

fn tsc_finding(line: &str, root: &Path) -> Option<Diagnostic> {
    let (place, said) = line.split_once("): ")?;
    let (path, place) = place.rsplit_once('(')?;
    let (row, column) = place.split_once(',')?;
    let (kind, message) = said.split_once(": ")?;
    let (severity, code) = kind.split_once(' ')?;
    Some(Diagnostic {
        path: root.join(path),
        line: row.parse().ok()?,
        column: column.parse().ok()?,
        end_line: None,
        end_column: None,
        severity: if severity == "error" { Severity::Error } else { Severity::Warning },
        message: message.to_owned(),
        code: Some(code.to_owned()),
        source: "tsc".into(),
    })
}

/// `go vet`: `./a.go:6:2: …`, and `vet: sub/b.go:3:12: …` for what does not build.
pub(super) fn go_vet(errors: &str, root: &Path) -> Vec<Diagnostic> {
    errors.lines().filter_map(|line| go_finding(line, root)).collect()
}

fn go_finding(line: &str, root: &Path) -> Option<Diagnostic> {
    let (severity, line) = match line.strip_prefix("vet: ") {
        Some(line) => (Severity::Error, line),
        None => (Severity::Warning, line),
    };
    let (place, message) = line.split_once(": ")?;
    let mut parts = place.splitn(3, ':');
    let path =
        parts.next().filter(|path| Path::new(path).extension().is_some_and(|own| own == "go"))?;
    Some(Diagnostic {
        path: root.join(path.trim_start_matches("./")),
        line: parts.next()?.parse().ok()?,
        column: parts.next().and_then(|column| column.parse().ok()).unwrap_or(1),
        end_line: None,
        end_column: None,
        severity,
        message: message.to_owned(),
        code: None,
        source: "go vet".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tsc_goes_over_several_lines() {
        let output =
            "a (1).ts(3,5): error TS2322: Type 'A' is no 'B'.\n  For a reason.\nFound 1 error.\n";
        let found = tsc(output, Path::new("/w"));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, Path::new("/w/a (1).ts"));
        assert_eq!((found[0].line, found[0].column), (3, 5));
        assert_eq!(found[0].code.as_deref(), Some("TS2322"));
        assert_eq!(found[0].message, "Type 'A' is no 'B'.\n  For a reason.");
    }

    #[test]
    fn go_says_what_does_not_build_and_what_is_wrong() {
        let errors = "# app\n./a.go:6:2: format: bad\nvet: sub/b.go:3:12: undeclared name: x\n";
        let found = go_vet(errors, Path::new("/w"));
        let found: Vec<_> =
            found.iter().map(|found| (found.path.as_path(), found.line, found.severity)).collect();
        let expected = [
            (Path::new("/w/a.go"), 6, Severity::Warning),
            (Path::new("/w/sub/b.go"), 3, Severity::Error),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        assert_eq!(ruff("error: no", Path::new("/w")), None);
        assert_eq!(pyright("No configuration", Path::new("/w")), None);
    }
}
