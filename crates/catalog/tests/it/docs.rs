//! The pages that `docs_list` and `docs_get` serve.

use termbridge_catalog::{Catalog, Docs};

#[test]
fn every_tool_has_a_page_and_every_page_a_summary() {
    let catalog = Catalog::own();
    let docs = Docs::new(&catalog);
    for tool in catalog.enabled() {
        assert!(docs.get(tool.name()).is_some_and(|page| page.category == tool.category()));
    }
    for page in docs.list(None, &[]) {
        assert!(!page.summary.is_empty() && !page.title.is_empty(), "{}", page.id);
        assert!(page.text.starts_with("# ") && page.text.len() < 12_000, "{}", page.id);
    }
}

#[test]
fn pages_are_found_by_category_and_tags() {
    let docs = Docs::new(&Catalog::own());
    let ids = |category: Option<&str>, tags: &[&str]| -> Vec<String> {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        docs.list(category, &tags).map(|page| page.id.clone()).collect()
    };
    assert_eq!(
        ids(Some("guide"), &[]),
        ["guide_first_steps", "guide_backends", "guide_finished_runs", "guide_errors"]
    );
    assert_eq!(ids(None, &["stepping"]), ["guide_first_steps"]);
    assert_eq!(ids(Some("breakpoint"), &["tool"]).len(), 5);
    assert!(ids(Some("nothing"), &[]).is_empty());
    assert!(docs.get("nothing").is_none());
}

#[test]
fn what_a_page_names_exists() {
    let catalog = Catalog::own();
    let docs = Docs::new(&catalog);
    for page in docs.list(None, &[]) {
        for word in page.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
            let things =
                ["breakpoint_", "debug_", "dap_", "symbol_", "editor_", "docs_", "test_debug"];
            let is_tool = things.iter().any(|thing| word.starts_with(thing)) && word != "dap_";
            assert!(!is_tool || catalog.get(word).is_some(), "{}: {word}", page.id);
        }
    }
}

#[test]
fn a_page_reads_well() {
    let docs = Docs::new(&Catalog::own());
    insta::assert_snapshot!(docs.get("breakpoint_set").unwrap().text);
}
