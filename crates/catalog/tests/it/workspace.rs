//! Tools that a workspace brings.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use termbridge_catalog::{Catalog, Docs, Origin};

const DEPLOY: &str = "\
alias: deploy.preview
name: Deploy a preview
category: deploy
description: Deploys the branch.
params:
  branch: {type: string, required: true}
  dry-run-not: {}
";

fn workspace(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("parent")).expect("folders");
        fs::write(path, text).expect("file");
    }
    folder
}

fn tool(alias: &str, more: &str) -> String {
    format!("alias: {alias}\ndescription: Does it.\n{more}")
}

fn new_names(catalog: &Catalog) -> Vec<String> {
    let theirs = catalog.enabled().filter(|tool| tool.origin() != &Origin::Own);
    theirs.map(|tool| tool.name().to_owned()).collect()
}

#[test]
fn a_file_in_the_scripts_folder_is_a_tool_on_the_next_start() {
    let text = tool(
        "deploy.preview-branch",
        "params:\n  branch: {type: string, required: true, pattern: '^[a-z]+$'}\n  count: {type: number, default: 2}\n\
         mcp:\n  timeout: 7000\n  safety: {read_only: true}\n  relationships: {requires: [debug.start]}\n",
    );
    let file = "packages/extension/src/vsc-scripts/deploy/preview.meta.yaml";
    let folder = workspace(&[(file, &text)]);
    let (catalog, warnings) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!(warnings, []);
    let tool = catalog.get("deploy_preview_branch").expect("the new tool");
    assert_eq!(tool.origin(), &Origin::Workspace(folder.path().join(file)));
    assert_eq!(tool.description(), "[workspace] Does it. Use after debug_start.");
    assert_eq!(tool.title(), "[workspace] deploy_preview_branch");
    assert_eq!(tool.category(), "deploy");
    assert_eq!(tool.timeout().map(|timeout| timeout.as_millis()), Some(7000));
    assert!(!tool.annotations().read_only, "what it runs is the workspace's");
    let expected = json!({
        "type": "object",
        "properties": {
            "branch": {"type": "string", "pattern": "^[a-z]+$"},
            "count": {"type": "number", "default": 2},
        },
        "required": ["branch"],
        "additionalProperties": false,
    });
    assert_eq!(tool.input_schema(), expected);
    let page = Docs::new(&catalog).get("deploy_preview_branch").expect("its page").text.clone();
    assert!(page.contains("Brought by the workspace"), "{page}");
}

#[test]
fn every_place_and_the_manifest_are_read() {
    let manifest = json!({"version": 2, "generatedAt": "2025", "scripts": {
        "deploy.one": {"metadata": {"alias": "deploy.one", "description": "x", "dangerOnly": false}},
        "deploy.four": {"metadata": {"alias": "deploy.four", "description": "x", "mcp": {
            "tool": "ship_it", "error_contract": {"errors": [{"code": "E_X", "is_retryable": true}]},
        }}},
    }});
    let folder = workspace(&[
        (".vsc-bridge/scripts/one.meta.yaml", &tool("deploy.one", "")),
        ("extension/src/vsc-scripts/a/b/two.meta.yaml", &tool("deploy.two", "")),
        ("src/vsc-scripts/three.meta.yaml", &tool("deploy.three", "")),
        ("elsewhere/five.meta.yaml", &tool("deploy.five", "")),
        (".vsc-bridge/manifest.json", &serde_json::to_string_pretty(&manifest).unwrap()),
    ]);
    let (catalog, warnings) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!(warnings, []);
    assert_eq!(new_names(&catalog), ["deploy_one", "deploy_two", "deploy_three", "ship_it"]);
    assert_eq!(catalog.get("ship_it").unwrap().alias(), "deploy.four");
}

#[test]
fn a_bad_one_is_skipped_and_named_with_its_line() {
    let manifest = "{\n  \"version\": 2,\n  \"scripts\": {\n    \"a.b\": {\n      \"metadata\": {\n        \
        \"alias\": \"a.b\",\n        \"description\": \"x\",\n        \"params\": {\"n\": {\"type\": 7}}\n      }\n    },\n    \
        \"c.d\": {\"metadata\": {\"alias\": \"c.d\", \"description\": \"x\"}}\n  }\n}\n";
    let folder = workspace(&[
        (
            ".vsc-bridge/scripts/bad.meta.yaml",
            "alias: deploy.bad\ndescription: x\nparams:\n  n: {type: nope}\n",
        ),
        (".vsc-bridge/scripts/good.meta.yaml", &tool("deploy.good", "")),
        (".vsc-bridge/scripts/odd.meta.yaml", DEPLOY),
        (".vsc-bridge/manifest.json", manifest),
    ]);
    let (catalog, warnings) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!(new_names(&catalog), ["deploy_good", "c_d"]);
    let shown: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    let said = |file: &str, line: usize| {
        let place = format!("{}:{line}: ", folder.path().join(".vsc-bridge").join(file).display());
        shown.iter().any(|warning| warning.starts_with(&place))
    };
    assert!(said("scripts/bad.meta.yaml", 4), "{shown:#?}");
    assert!(said("scripts/odd.meta.yaml", 7), "{shown:#?}");
    assert!(said("manifest.json", 8), "{shown:#?}");
    assert_eq!(shown.len(), 3, "{shown:#?}");
}

#[test]
fn ours_are_not_replaced_and_names_not_taken() {
    let folder = workspace(&[
        (".vsc-bridge/scripts/1.meta.yaml", &tool("breakpoint.set", "name: Theirs\n")),
        (".vsc-bridge/scripts/2.meta.yaml", &tool("x.y", "mcp: {tool: breakpoint_add}\n")),
        (".vsc-bridge/scripts/3.meta.yaml", &tool("x.z", "mcp: {tool: send_keys}\n")),
        (".vsc-bridge/scripts/4.meta.yaml", &tool("x.w", "mcp: {enabled: false}\n")),
    ]);
    let (catalog, warnings) = Catalog::with_workspace(folder.path(), &["send_keys"]);
    assert_eq!(catalog.get("breakpoint_set").unwrap().title(), "Set breakpoint");
    assert_eq!(new_names(&catalog), [""; 0]);
    assert!(catalog.get("x_w").is_some_and(|tool| !tool.is_enabled()));
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0]
            .to_string()
            .contains("2.meta.yaml:1: there is another tool named breakpoint_add")
    );
}

#[test]
fn too_much_is_left_out() {
    let large = tool("large.file", &"#".repeat(300 << 10));
    let mut files = vec![(".vsc-bridge/scripts/large.meta.yaml".to_owned(), large)];
    for number in 0..250 {
        let name = format!(".vsc-bridge/scripts/{number:03}.meta.yaml");
        files.push((name, tool(&format!("many.n{number:03}"), "")));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
    let folder = workspace(&files);
    let (catalog, warnings) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!(new_names(&catalog).len(), 200);
    assert!(warnings.iter().any(|warning| warning.message.contains("more than 200 tools")));
    assert!(warnings.iter().any(|warning| warning.message.contains("larger than")));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let outside = workspace(&[("secret.meta.yaml", &tool("out.side", ""))]);
    let folder = workspace(&[(".vsc-bridge/scripts/in.meta.yaml", &tool("in.side", ""))]);
    let scripts = folder.path().join(".vsc-bridge/scripts");
    std::os::unix::fs::symlink(outside.path(), scripts.join("linked")).unwrap();
    let file = outside.path().join("secret.meta.yaml");
    std::os::unix::fs::symlink(file, scripts.join("linked.meta.yaml")).unwrap();
    let (catalog, _) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!(new_names(&catalog), ["in_side"]);
}

#[test]
fn the_published_extensions_looser_shapes_are_understood() {
    let text = "\
alias: deploy.all
category: deploy
description: Deploys all.
dangerOnly: false
params:
  where: {type: enum, values: [here, there], required: false, default: here, description: Place}
  names: {type: array, items: {type: string}, required: false}
result:
  hosts:
    type: array
    items:
      name: {type: string, description: Its name}
errors: []
cli: {command: deploy all, description: x, examples: [x]}
llm: {when_to_use: Never.}
mcp:
  enabled: true
  display_name: Deploy
  relationships:
    requires: [\"Free words (with brackets)\"]
    recommended: [{tool: debug.start, note: First.}]
    related: [x]
  error_contract: {errors: [{code: E_X, summary: x, is_retryable: false, user_fix_hint: y}]}
  safety: {side_effects: none}
  llm:
    when_to_use: |
      USE FOR: deploying.
    parameter_hints:
      where: {description: x, required: false, examples: [here, 3], note: x, language_specific: {go: x}}
";
    let folder = workspace(&[(".vsc-bridge/scripts/all.meta.yaml", text)]);
    let (catalog, warnings) = Catalog::with_workspace(folder.path(), &[]);
    assert_eq!(warnings, []);
    let tool = catalog.get("deploy_all").expect("the tool");
    assert_eq!(tool.description(), "[workspace] Deploys all. USE FOR: deploying.");
    let place = &tool.input_schema()["properties"]["where"];
    assert_eq!(
        place,
        &json!({"enum": ["here", "there"], "default": "here", "description": "Place"})
    );
    assert_eq!(tool.metadata().mcp.relationships.recommended, ["debug.start"]);
    let page = Docs::new(&catalog).get("deploy_all").expect("its page").text.clone();
    assert!(page.contains("- `E_X`: x. y") && page.contains("See also: `debug_start`."), "{page}");
}

#[test]
fn a_damaged_manifest_is_named_with_its_line() {
    for (text, line) in [("{\n  \"scripts\": {\n", 3), ("[]", 1), ("", 1), ("{\"scripts\": 3}", 1)]
    {
        let folder = workspace(&[(".vsc-bridge/manifest.json", text)]);
        let (catalog, warnings) = Catalog::with_workspace(folder.path(), &[]);
        assert_eq!(catalog, Catalog::own());
        assert_eq!(
            warnings.iter().map(|warning| warning.line).collect::<Vec<_>>(),
            [line],
            "{text}"
        );
    }
}

#[test]
fn a_workspace_without_any_is_ours_alone() {
    let (catalog, warnings) = Catalog::with_workspace(Path::new("/no/such/folder"), &[]);
    assert_eq!((catalog, warnings), (Catalog::own(), Vec::new()));
}
