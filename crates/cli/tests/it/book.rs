//! The documents link to what exists, and the book has every page.

use std::path::{Path, PathBuf};

use crate::support::repository;

/// The pages of `docs`, and what is beside the book.
fn documents() -> Vec<PathBuf> {
    let docs = std::fs::read_dir(repository("docs")).expect("a folder");
    let pages = docs.map(|entry| entry.expect("an entry").path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "editors/vscode/README.md",
    ];
    pages.chain(others.map(|name| repository(name).into())).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The targets of a page's links, without code.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|part| part.split("](").skip(1));
    targets.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut wrong = Vec::new();
    for page in documents() {
        let text = read(&page);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            let has_anchor = || anchors(&read(&target)).iter().any(|found| found == anchor);
            if !target.exists() || !(anchor.is_empty() || has_anchor()) {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_book_has_every_page() {
    let summary = read(repository("docs/SUMMARY.md").as_ref());
    let listed = links(&summary);
    for page in documents() {
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        if page.parent() == Some(repository("docs").as_ref())
            && !["SUMMARY.md", "plan.md"].contains(&&*name)
        {
            assert!(listed.contains(&&*name), "{name} is missing in docs/SUMMARY.md");
        }
    }
}
