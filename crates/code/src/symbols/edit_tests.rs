use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;

fn workspace() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a path");
    for name in ["a.py", "b.py"] {
        fs::write(path.join(name), "é = one\ntwo\n").expect("written");
    }
    (folder, path)
}

fn edit(line: u32, from: u32, to: u32, text: &str) -> Value {
    let place = |character| json!({"line": line, "character": character});
    json!({"range": {"start": place(from), "end": place(to)}, "newText": text})
}

fn change(path: &Path, edits: Value) -> Value {
    json!({"textDocument": {"uri": uri::of_path(path), "version": null}, "edits": edits})
}

fn plan(folder: &Path, changes: Value) -> Result<Plan, CodeError> {
    let edit = serde_json::from_value(changes).expect("an edit");
    Plan::of_server(edit, folder, Encoding::Utf16, &Known::new())
}

fn text(path: PathBuf) -> String {
    fs::read_to_string(path).expect("a text")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().expect("a folder").flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn edits_of_two_files_are_made_and_permissions_stay() {
    let (_folder, path) = workspace();
    fs::set_permissions(path.join("a.py"), fs::Permissions::from_mode(0o750)).expect("set");
    let edits = json!([edit(1, 0, 3, "2"), edit(0, 4, 7, "Ö1"), edit(0, 0, 0, "# ")]);
    let changes = json!({"changes": {
        uri::of_path(&path.join("a.py")): edits, uri::of_path(&path.join("b.py")): [edit(1, 3, 9, "!")],
    }});
    let changed = plan(&path, changes).expect("a plan").commit().expect("written");
    assert_eq!(changed[0], ChangedFile { path: path.join("a.py"), edits: 3 });
    assert_eq!(text(path.join("a.py")), "# é = Ö1\n2\n");
    assert_eq!(text(path.join("b.py")), "é = one\ntwo!\n");
    let mode = fs::metadata(path.join("a.py")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(names(&path), ["a.py", "b.py"]);
}

#[test]
fn a_file_moves_with_its_edits() {
    let (_folder, path) = workspace();
    let moved = json!({
        "kind": "rename", "oldUri": uri::of_path(&path.join("b.py")),
        "newUri": uri::of_path(&path.join("c.py")),
    });
    let changes = json!({"documentChanges": [
        change(&path.join("a.py"), json!([edit(1, 0, 3, "c")])),
        moved,
        change(&path.join("c.py"), json!([edit(1, 0, 3, "d")])),
    ]});
    let changed = plan(&path, changes).expect("a plan").commit().expect("written");
    let paths: Vec<_> = changed.iter().map(|file| file.path.clone()).collect();
    assert_eq!(paths, [path.join("a.py"), path.join("c.py")]);
    assert_eq!(names(&path), ["a.py", "c.py"]);
    assert_eq!(text(path.join("c.py")), "é = one\nd\n");
}

#[test]
fn a_bad_edit_is_refused() {
    let (_folder, path) = workspace();
    let elsewhere = tempfile::tempdir().expect("a folder");
    fs::write(elsewhere.path().join("x.py"), "x\n").expect("written");
    std::os::unix::fs::symlink(elsewhere.path().join("x.py"), path.join("link.py")).expect("link");
    let a = path.join("a.py");
    let good = || change(&a, json!([edit(1, 0, 3, "2")]));
    let rename = |old: &str, new: &str| {
        let address = |name| uri::of_path(&path.join(name));
        json!({"kind": "rename", "oldUri": address(old), "newUri": address(new)})
    };
    let cases = [
        (change(&path.join("b.py"), json!([edit(9, 0, 0, "x")])), "an edit from line 10"),
        (change(&path.join("b.py"), json!([edit(0, 0, 4, "x"), edit(0, 2, 5, "y")])), "overlap"),
        (change(&elsewhere.path().join("x.py"), json!([edit(0, 0, 1, "y")])), "outside"),
        (change(&path.join("link.py"), json!([edit(0, 0, 1, "y")])), "outside"),
        (change(&path.join("none.py"), json!([edit(0, 0, 1, "y")])), "no such file"),
        (good(), "edited twice"),
        (json!({"kind": "delete", "uri": uri::of_path(&a)}), "it would delete"),
        (json!({"kind": "create", "uri": uri::of_path(&a)}), "it would create"),
        (rename("b.py", "a.py"), "is there already"),
        (rename("b.py", "none/c.py"), "is not there"),
        (change(&path.join("b.py"), json!([{"newText": 1}])), "cannot be read"),
    ];
    for (bad, reason) in cases {
        let error = plan(&path, json!({"documentChanges": [good(), bad]})).expect_err(reason);
        assert!(error.to_string().contains(reason), "{reason}: {error}");
    }
    assert_eq!(text(a), "é = one\ntwo\n");
}

#[test]
fn a_write_that_fails_half_way_is_put_back() {
    let (_folder, path) = workspace();
    let changes = || {
        let moved = json!({
            "kind": "rename", "oldUri": uri::of_path(&path.join("a.py")),
            "newUri": uri::of_path(&path.join("c.py")),
        });
        json!({"documentChanges": [
            change(&path.join("a.py"), json!([edit(1, 0, 3, "2")])),
            change(&path.join("b.py"), json!([edit(1, 0, 3, "2")])),
            moved,
        ]})
    };
    let stage = |plan: &Plan| {
        let files = plan.files.iter();
        files.map(|(path, file)| Staged::new(path, &file.new, None).expect("staged")).collect()
    };
    let first = plan(&path, changes()).expect("a plan");
    let staged: Vec<Staged> = stage(&first);
    fs::remove_file(&staged[1].temporary).expect("removed");
    let error = first.put_in_place(staged).expect_err("the second cannot be put");
    assert!(error.to_string().contains("nothing changed: "), "{error}");
    assert_eq!(text(path.join("a.py")), "é = one\ntwo\n");

    // A move that fails after every text was written.
    let second = plan(&path, changes()).expect("a plan");
    let staged = stage(&second);
    fs::create_dir(path.join("c.py")).expect("made");
    fs::write(path.join("c.py/x"), "").expect("written");
    second.put_in_place(staged).expect_err("the name is taken");
    assert_eq!(text(path.join("a.py")), "é = one\ntwo\n");
    assert_eq!(text(path.join("b.py")), "é = one\ntwo\n");
    assert_eq!(names(&path), ["a.py", "b.py", "c.py"]);
}

#[test]
fn a_file_that_changed_or_is_read_only_is_left() {
    let (_folder, path) = workspace();
    let a = path.join("a.py");
    let changes = || json!({"documentChanges": [change(&a, json!([edit(1, 0, 3, "2")]))]});
    let edit = serde_json::from_value(changes()).expect("an edit");
    let known = Known::from([(a.clone(), Arc::new(Text::new("other".to_owned())))]);
    let stale = Plan::of_server(edit, &path, Encoding::Utf16, &known);
    assert!(stale.expect_err("changed").to_string().contains("changed meanwhile"));
    let late = plan(&path, changes()).expect("a plan");
    fs::write(&a, "late\n").expect("written");
    assert!(late.commit().expect_err("changed").to_string().contains("changed meanwhile"));
    fs::write(&a, "é = one\ntwo\n").expect("written");
    fs::set_permissions(&a, fs::Permissions::from_mode(0o444)).expect("set");
    let error = plan(&path, changes()).expect("a plan").commit().expect_err("read-only");
    assert!(error.to_string().contains("read-only"), "{error}");
}
