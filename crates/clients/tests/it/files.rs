//! Files: links, permissions, owners, creation, backups, and what others do to them.

use std::fs;

use termbridge_clients::{Action, Client, Entry, Error, MAX_FILE_BYTES};

use crate::support::{Home, entry};

const CURSOR: &str = ".cursor/mcp.json";

#[test]
fn a_file_is_created_and_removed_again() {
    let home = Home::linux();
    assert_eq!(home.install(Client::Cursor), Action::Add);
    assert_eq!(
        home.read(CURSOR),
        "{\n  \"mcpServers\": {\n    \"termbridge\": {\n      \"command\": \"/usr/local/bin/termbridge\",\n      \
         \"args\": [\"mcp\"]\n    }\n  }\n}\n"
    );
    assert_eq!(home.uninstall(Client::Cursor), Action::RemoveFile);
    assert!(!home.path(".cursor").exists(), "it was made too");
    assert_eq!(home.names("state/backups"), [""; 0]);
}

#[test]
fn folders_that_were_there_or_are_used_stay() {
    let home = Home::linux();
    home.folder(".cursor");
    home.install(Client::Cursor);
    assert_eq!(home.uninstall(Client::Cursor), Action::RemoveFile);
    assert_eq!(home.names(".cursor"), [""; 0]);

    home.install(Client::Windsurf);
    home.write(".codeium/other", "1");
    assert_eq!(home.uninstall(Client::Windsurf), Action::RemoveFile);
    assert_eq!(home.names(".codeium"), ["other"], "only what is empty goes");
}

#[test]
fn what_is_reported_as_added_is_there_whoever_else_adds() {
    let home = Home::linux();
    home.write(CURSOR, "{}");
    let added: Vec<String> = std::thread::scope(|scope| {
        let adding = (0..8).map(|writer| {
            let home = &home;
            scope.spawn(move || {
                let names = (0..20).map(|number| format!("w{writer}-{number}"));
                names
                    .filter(|name| {
                        let entry =
                            Entry::new(name, "/usr/bin/termbridge", ["mcp"]).expect("a name");
                        let plan = home.plan(Client::Cursor, &entry).expect("a plan");
                        match plan.apply() {
                            Ok(_) => true,
                            Err(Error::Changed(_)) => false,
                            Err(error) => panic!("{error}"),
                        }
                    })
                    .collect::<Vec<_>>()
            })
        });
        let adding: Vec<_> = adding.collect();
        adding.into_iter().flat_map(|thread| thread.join().expect("joined")).collect()
    });
    let text = home.read(CURSOR);
    assert!(!added.is_empty());
    for name in added {
        assert!(text.contains(&format!("\"{name}\"")), "{name} is missing");
    }
}

#[test]
fn a_created_file_stays_once_it_contains_something_else() {
    let home = Home::linux();
    home.install(Client::Cursor);
    let text = home.read(CURSOR).replace("}\n  }\n}\n", "}\n  },\n  \"other\": 1\n}\n");
    home.write(CURSOR, text);
    assert_eq!(home.uninstall(Client::Cursor), Action::Remove);
    assert_eq!(home.read(CURSOR), "{\n  \"other\": 1\n}\n");
    home.write(CURSOR, "");
    home.install(Client::Cursor);
    assert_eq!(home.uninstall(Client::Cursor), Action::Remove, "it was there, empty");
    assert_eq!(home.read(CURSOR), "");
}

#[test]
fn without_a_backup_only_the_entry_goes() {
    let home = Home::linux();
    home.install(Client::Cursor);
    fs::remove_dir_all(home.path("state")).expect("removed");
    assert_eq!(home.uninstall(Client::Cursor), Action::Remove);
    assert_eq!(home.read(CURSOR), "{\n  \"mcpServers\": {}\n}\n");
}

#[test]
fn a_backup_is_kept_while_it_differs() {
    let home = Home::linux();
    home.write(CURSOR, "{\"token\": \"secret\"}");
    let (_, applied) = home.install_as(Client::Cursor, &entry());
    let backup = applied.backup.expect("a backup");
    assert!(backup.starts_with(home.path("state/backups")));
    assert!(backup.to_string_lossy().ends_with("-mcp.json"), "{backup:?}");
    assert_eq!(fs::read_to_string(&backup).expect("readable"), "{\"token\": \"secret\"}");
    let with_more = home.read(CURSOR).replacen('{', "{\"more\": 1, ", 1);
    home.write(CURSOR, &with_more);
    home.uninstall(Client::Cursor);
    assert_eq!(home.read(CURSOR), "{\"more\": 1, \"token\": \"secret\"}");
    assert_eq!(fs::read_to_string(&backup).expect("readable"), with_more, "as it was before");
}

#[test]
fn a_file_that_changed_since_the_plan_is_left_alone() {
    let home = Home::linux();
    let path = home.write(CURSOR, "{}");
    let plan = home.plan(Client::Cursor, &entry()).expect("a plan");
    home.write(CURSOR, "{\"new\": 1}");
    assert!(matches!(plan.apply(), Err(Error::Changed(changed)) if changed == path));
    assert_eq!(home.read(CURSOR), "{\"new\": 1}");

    fs::remove_file(&path).expect("removed");
    let plan = home.plan(Client::Cursor, &entry()).expect("a plan");
    home.write(CURSOR, "{\"made\": 1}");
    assert!(matches!(plan.apply(), Err(Error::Changed(_))), "it did not exist");
    assert_eq!(home.read(CURSOR), "{\"made\": 1}");

    fs::remove_file(&path).expect("removed");
    home.install(Client::Cursor);
    let plan = home.plan_removal(Client::Cursor).expect("a plan");
    home.write(CURSOR, "{\"other\": 1}");
    assert!(matches!(plan.apply(), Err(Error::Changed(_))), "a file that would be removed");
    assert_eq!(home.read(CURSOR), "{\"other\": 1}");
    assert_eq!(home.names(".cursor"), ["mcp.json"], "no temporary file is left");
}

#[test]
fn locks_and_temporary_files_of_an_editor_stay() {
    let home = Home::linux();
    home.write(".claude.json", "{\n  \"mcpServers\": {}\n}\n");
    home.folder(".claude.json.lock");
    home.write(".claude.json.tmp.4711.1760000000", "half writ");
    home.write(".claude.json.backup", "{}");
    home.write(".#.claude.json", "me@host.4711");
    home.write("..claude.json.swp", b"b0VIM 9.1");
    let before = home.names("");
    home.round_trip(Client::ClaudeCode);
    let after: Vec<String> = home.names("").into_iter().filter(|name| name != "state").collect();
    assert_eq!(after, before);
    assert_eq!(home.read(".claude.json.tmp.4711.1760000000"), "half writ");
}

#[test]
fn too_large_a_file_is_not_read() {
    let home = Home::linux();
    let path = home.write(CURSOR, "");
    let file = fs::File::options().write(true).open(&path).expect("opened");
    file.set_len(MAX_FILE_BYTES + 1).expect("sparse");
    let refused = home.plan(Client::Cursor, &entry()).expect_err("too large");
    assert!(matches!(&refused, Error::TooLarge(_)) && refused.to_string().contains("16 MiB"));
}

#[test]
fn what_is_no_file_is_refused() {
    let home = Home::linux();
    home.folder(CURSOR);
    assert!(matches!(home.plan(Client::Cursor, &entry()), Err(Error::NotAFile(_))));
    home.write(".codex", "a file where a folder should be");
    let plan = home.plan(Client::Codex, &entry()).expect("nothing is there");
    assert!(matches!(plan.apply(), Err(Error::Io { action: "create", .. })));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;
    use crate::support::{mode, set_mode};

    #[test]
    fn permissions_are_kept() {
        let home = Home::linux();
        for bits in [0o600, 0o644, 0o664, 0o640, 0o755] {
            let path = home.write(CURSOR, "{}");
            set_mode(&path, bits);
            home.round_trip(Client::Cursor);
            assert_eq!(mode(&path), bits);
        }
    }

    #[test]
    fn new_files_are_as_private_as_the_client_makes_them() {
        let home = Home::linux();
        for (client, private) in [
            (Client::ClaudeCode, true),
            (Client::Codex, true),
            (Client::Cursor, false),
            (Client::OpenCode, false),
        ] {
            home.install(client);
            let bits = mode(&home.place(client).path);
            assert_eq!(bits & 0o600, 0o600, "{client}");
            assert_eq!(bits & 0o044 == 0, private, "{client}: {bits:o}");
        }
        assert_eq!(mode(&home.path("state/backups")), 0o700);
        for name in home.names("state/backups") {
            assert_eq!(mode(&home.path("state/backups").join(name)), 0o600);
        }
    }

    #[test]
    fn a_read_only_file_is_refused_whoever_asks() {
        let home = Home::linux();
        let path = home.write(CURSOR, "{}");
        set_mode(&path, 0o444);
        let refused = home.plan(Client::Cursor, &entry()).expect_err("read-only");
        assert_eq!(refused.to_string(), format!("{} is read-only", path.display()));
        set_mode(&path, 0o644);
        let plan = home.plan(Client::Cursor, &entry()).expect("a plan");
        set_mode(&path, 0o400);
        assert!(matches!(plan.apply(), Err(Error::ReadOnly(_))), "since the plan");
        assert_eq!((home.read(CURSOR).as_str(), mode(&path)), ("{}", 0o400));
        set_mode(&path, 0o644);
        home.install(Client::Cursor);
        set_mode(&path, 0o444);
        assert_eq!(home.install(Client::Cursor), Action::AlreadyThere, "nothing to be written");
        assert!(matches!(home.plan_removal(Client::Cursor), Err(Error::ReadOnly(_))));
    }

    #[test]
    fn a_link_is_edited_at_its_target() {
        let home = Home::linux();
        let target = home.write("dotfiles/cursor.json", "{\n\t\"mcpServers\": {}\n}\n");
        home.folder(".cursor");
        let link = home.path(CURSOR);
        symlink("../dotfiles/again.json", &link).expect("linked");
        symlink("cursor.json", home.path("dotfiles/again.json")).expect("linked");
        let installed = home.round_trip(Client::Cursor);
        assert!(installed.contains("\t\t\"termbridge\""), "{installed}");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert!(fs::symlink_metadata(&target).expect("there").is_file());
        assert_eq!(home.names("dotfiles"), ["again.json", "cursor.json"]);
        fs::remove_file(&target).expect("removed");
        let refused = home.plan(Client::Cursor, &entry()).expect_err("dangling");
        assert!(matches!(&refused, Error::DanglingLink(path) if *path == link), "{refused}");
    }

    #[test]
    fn links_do_not_lead_out_of_a_project() {
        let home = Home::project();
        let cursor = "{\"mcpServers\": {}}";
        home.write("mine/mcp.json", cursor);
        home.folder("project/.vscode");
        symlink("../../mine/mcp.json", home.path("project/.vscode/mcp.json")).expect("linked");
        symlink("../mine", home.path("project/.cursor")).expect("linked");
        symlink("..", home.path("project/.zed")).expect("linked");
        symlink(home.path("nowhere"), home.path("project/.codex")).expect("linked");
        for client in [Client::VsCode, Client::Cursor, Client::Zed] {
            let refused = home.plan(client, &entry());
            let Err(Error::OutsideProject { .. }) = refused else {
                panic!("{client}: {refused:?}")
            };
        }
        let plan = home.plan(Client::Codex, &entry()).expect("not there yet");
        plan.apply().expect_err("the folder is a link to nothing");
        assert!(!home.path("nowhere").exists());
        assert_eq!(home.read("mine/mcp.json"), cursor);
        home.folder("project/shared");
        symlink("shared", home.path("project/.gemini")).expect("linked");
        assert_eq!(home.install(Client::GeminiCli), Action::Add, "a link within it is fine");
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let home = Home::linux();
        home.folder(".cursor");
        let made = std::process::Command::new("mkfifo").arg(home.path(CURSOR)).status();
        assert!(made.expect("mkfifo runs").success());
        assert!(matches!(home.plan(Client::Cursor, &entry()), Err(Error::NotAFile(_))));
    }

    #[test]
    fn the_owner_is_kept() {
        let home = Home::linux();
        let path = home.write(CURSOR, "{}");
        // Only the superuser can give files away; others keep their own group.
        let owner = match std::os::unix::fs::chown(&path, Some(12345), Some(23456)) {
            Ok(()) => (12345, 23456),
            Err(_) => {
                let found = fs::metadata(&path).expect("there");
                (found.uid(), found.gid())
            }
        };
        home.install(Client::Cursor);
        let found = fs::metadata(&path).expect("there");
        assert_eq!((found.uid(), found.gid()), owner);
    }
}
