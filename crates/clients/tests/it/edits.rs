//! Texts of every kind: what is kept, what is refused, whose an entry is.

use termbridge_clients::{Action, Client, Entry, Error, Overwrite, Plan};

use crate::support::{COMMAND, Home, entry};

const CURSOR: &str = ".cursor/mcp.json";
const CODEX: &str = ".codex/config.toml";

#[test]
fn texts_come_back_to_the_byte() {
    let jsons = [
        "",
        "\n",
        "  \n\n",
        "\u{feff}",
        "\u{feff}{\r\n}\r\n",
        "// only a comment",
        "/* only\n a comment */\n",
        "{}",
        "{ }",
        "{\n}",
        "{\n\n\n}\n",
        "{\n  // nothing\n}\n",
        "{ /* nothing */ }",
        "{ // nothing\n}",
        "{\"a\":1}",
        "{\"a\": 1}",
        "{\"a\": 1,}",
        "{ \"a\": 1, }\n",
        "{\"a\": 1 // note\n}",
        "{\n  \"a\": 1 // note   \n}",
        "{\n  \"a\": 1, // note\n  /* more */\n}",
        "{\n\"a\": 1\n}",
        "{\n        \"a\": [1,\n 2]   }",
        "{\"mcpServers\":null}",
        r#"{"history": ["cut \ud83d", "\udc00 \\ud83d \ud83d\ude00 \u00e9"], "mcpServers": {}}"#,
        "{\n  \"mcpServers\": null, // none\n}",
        "{\n  \"mcpServers\": {}\n}",
        "{\n  \"mcpServers\": { }\n}",
        "{\n  \"mcpServers\": {\n  }\n}",
        "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}",
        "{\"mcpServers\": {\"a\": {} /* , */ }, \"z\": \"//\"}",
        "{\"mcpServers\": {\"a\": {} /* , */ , }, \"z\": \"/*\"}",
        "{\"mcpServers\": {\u{a0}}}",
        "{\n  \"mcpServers\": {\"a\": {}},\n  \"b\": \"}\"\n}\n\n",
    ];
    for text in jsons {
        let home = Home::linux();
        home.write(CURSOR, text);
        let installed = home.round_trip(Client::Cursor);
        assert!(installed.contains(COMMAND), "{text:?} became {installed:?}");
    }
    let tomls = [
        "",
        "\n",
        "\u{feff}",
        "# only a comment",
        "model = \"x\"",
        "model = \"x\"\n",
        "model = \"x\"\r\n\r\n[a]\r\nb = 1\r\n",
        "[mcp_servers]\n",
        "[mcp_servers.a]\ncommand = \"a\"\n\n\n",
        "mcp_servers.a.command = \"a\"\n",
        "mcp_servers = {}",
        "mcp_servers = { }\nx = nan\n",
        "mcp_servers = { a = { command = \"a\" } } # inline\n[b]\n",
        "mcp_servers = { a.command = \"a\" , b = {} }\n",
        "[[rows]]\nt = 2026-01-31T09:30:00Z\n   ",
    ];
    for text in tomls {
        let home = Home::linux();
        home.write(CODEX, text);
        let installed = home.round_trip(Client::Codex);
        assert!(installed.contains(COMMAND), "{text:?} became {installed:?}");
    }
}

#[test]
fn what_others_add_in_the_meantime_stays() {
    let home = Home::linux();
    home.write(CURSOR, "{}\n");
    home.install(Client::Cursor);
    let text = home.read(CURSOR);
    let added = text.replace("    }\n  }\n}", "    }, // ours\n    \"b\": {}\n  }\n}");
    assert_ne!(added, text);
    home.write(CURSOR, &added);
    assert_eq!(home.uninstall(Client::Cursor), Action::Remove);
    assert_eq!(home.read(CURSOR), "{\n  \"mcpServers\": { // ours\n    \"b\": {}\n  }\n}\n");

    home.write(CODEX, "a = 1");
    home.install(Client::Codex);
    let text = home.read(CODEX) + "[mcp_servers.b]\ncommand = \"b\"\n";
    home.write(CODEX, text);
    home.uninstall(Client::Codex);
    assert_eq!(home.read(CODEX), "a = 1\n[mcp_servers.b]\ncommand = \"b\"\n");
}

#[test]
fn entries_that_people_wrote_are_taken_out_alone() {
    let table = [
        (
            "{\"mcpServers\": {\"termbridge\": {\"command\": \"termbridge\", \"args\": [\"mcp\"]}, \"b\": 1}}",
            "{\"mcpServers\": { \"b\": 1}}",
        ),
        (
            "{\"mcpServers\": {\"a\": 1, // x\n\"termbridge\": {\"command\": \"/x/termbridge\", \"args\": [\"mcp\"]}, \"b\": 1}}",
            "{\"mcpServers\": {\"a\": 1, // x\n \"b\": 1}}",
        ),
        (
            "{\"mcpServers\": {// x\n\"termbridge\": {\"command\": \"/x/termbridge\", \"args\": [\"mcp\"]}}}",
            "{\"mcpServers\": {// x\n}}",
        ),
        (
            "{\"mcpServers\": {\"termbridge\": {\"command\": \"C:\\\\bin\\\\termbridge.exe\", \"args\": [\"mcp\", \"--connect\"]} /* mine */ , }}",
            "{\"mcpServers\": { /* mine */  }}",
        ),
    ];
    for (before, after) in table {
        let home = Home::linux();
        home.write(CURSOR, before);
        assert_eq!(home.uninstall(Client::Cursor), Action::Remove, "{before}");
        assert_eq!(home.read(CURSOR), after);
    }
    let ours = "command = \"termbridge\"\nargs = [\"mcp\"]\n";
    let table = [
        (
            format!("a = 1\n[mcp_servers.termbridge]\n{ours}"),
            "a = 1\n".to_owned(),
        ),
        (
            format!("[mcp_servers.termbridge] # mine\n{ours}# of the next\n[b]\n[mcp_servers.termbridge.env]\nA = \"1\"\n"),
            "# of the next\n[b]\n".to_owned(),
        ),
        (
            "[mcp_servers]\ntermbridge = { command = \"termbridge\", args = [\"mcp\"] }\nb = {}\n".to_owned(),
            "[mcp_servers]\nb = {}\n".to_owned(),
        ),
        (
            "mcp_servers.termbridge.command = \"termbridge\"\nmcp_servers.termbridge.args = [\n\"mcp\"\n]\nb = 1\n".to_owned(),
            "b = 1\n".to_owned(),
        ),
        (
            "mcp_servers = { termbridge = { command = \"termbridge\", args = [\"mcp\"] }, b = {} }\n".to_owned(),
            "mcp_servers = { b = {} }\n".to_owned(),
        ),
    ];
    for (before, after) in table {
        let home = Home::linux();
        home.write(CODEX, &before);
        assert_eq!(home.uninstall(Client::Codex), Action::Remove, "{before}");
        assert_eq!(home.read(CODEX), after);
    }
}

#[test]
fn nothing_to_take_out_is_no_error() {
    let home = Home::linux();
    assert_eq!(home.uninstall(Client::Cursor), Action::NotThere, "no file");
    for text in ["", "{}", "{\"mcpServers\": {\"other\": {}}}", "{\"mcpServers\": null}"] {
        home.write(CURSOR, text);
        assert_eq!(home.uninstall(Client::Cursor), Action::NotThere);
        assert_eq!(home.read(CURSOR), text);
    }
}

#[test]
fn an_entry_of_ours_is_updated_and_keeps_what_the_user_added() {
    let home = Home::linux();
    let before = "{\"mcpServers\": {\"termbridge\": {\"env\": {\"A\": \"1\"}, \"command\": \"/old/termbridge\", \"args\": [\"mcp\"]}}}";
    home.write(CURSOR, before);
    assert_eq!(home.install(Client::Cursor), Action::Update);
    assert_eq!(home.read(CURSOR), before.replace("/old/termbridge", COMMAND));
    let other = Entry::new("termbridge", COMMAND, ["mcp", "--connect"]).expect("valid");
    assert_eq!(home.install_as(Client::Cursor, &other).0, Action::Update);
    assert!(home.read(CURSOR).contains("[\"mcp\", \"--connect\"]"));
    home.uninstall(Client::Cursor);
    assert_eq!(home.read(CURSOR), "{\"mcpServers\": {}}");

    home.write(CODEX, "[mcp_servers.termbridge]\ncommand = '/old/termbridge' # old\nargs = ['mcp']\nstartup_timeout_sec = 20\n");
    assert_eq!(home.install_as(Client::Codex, &other).0, Action::Update);
    assert_eq!(
        home.read(CODEX),
        "[mcp_servers.termbridge]\ncommand = \"/usr/local/bin/termbridge\" # old\nargs = [\"mcp\", \"--connect\"]\nstartup_timeout_sec = 20\n"
    );

    home.write(".config/opencode/opencode.json", "{\"mcp\": {\"termbridge\": {\"type\": \"local\", \"command\": [\"termbridge\", \"mcp\"], \"enabled\": false}}}");
    assert_eq!(home.install(Client::OpenCode), Action::Update);
    assert_eq!(
        home.read(".config/opencode/opencode.json"),
        "{\"mcp\": {\"termbridge\": {\"type\": \"local\", \"command\": [\"/usr/local/bin/termbridge\", \"mcp\"], \"enabled\": false}}}"
    );
}

#[test]
fn an_update_does_not_forget_what_was_there_first() {
    let home = Home::linux();
    home.write(CURSOR, "{\"a\": 1}");
    home.install(Client::Cursor);
    let other = Entry::new("termbridge", "/elsewhere/termbridge", ["mcp"]).expect("valid");
    assert_eq!(home.install_as(Client::Cursor, &other).0, Action::Update);
    home.uninstall(Client::Cursor);
    assert_eq!(home.read(CURSOR), "{\"a\": 1}");
}

#[test]
fn an_entry_of_someone_else_is_left_alone() {
    let jsons = [
        "{\"mcpServers\": {\"termbridge\": {\"command\": \"npx\", \"args\": [\"termbridge-mcp\"]}}}",
        "{\"mcpServers\": {\"termbridge\": {\"command\": \"termbridge\", \"args\": [\"serve\"]}}}",
        "{\"mcpServers\": {\"termbridge\": {\"url\": \"https://x\"}}}",
        "{\"mcpServers\": {\"termbridge\": \"a string\"}}",
        "{\"mcpServers\": {\"termbridge\": null}}",
    ];
    let tomls =
        ["[mcp_servers.termbridge]\nurl = \"https://x\"\n[z]\n", "[mcp_servers]\ntermbridge = 1\n"];
    let jsons = jsons.map(|text| (Client::Cursor, CURSOR, text));
    let tomls = tomls.map(|text| (Client::Codex, CODEX, text));
    for (client, file, text) in jsons.into_iter().chain(tomls) {
        let home = Home::linux();
        home.write(file, text);
        for refused in [home.plan(client, &entry()), home.plan_removal(client)] {
            let Err(Error::Foreign { name, .. }) = refused else { panic!("{text}: {refused:?}") };
            assert_eq!(name, "termbridge");
        }
        assert_eq!(home.read(file), text);
        let place = home.place(client);
        let plan = Plan::install(place, &entry(), Overwrite::Foreign, &home.environment);
        let plan = plan.expect("with force");
        assert_eq!(plan.action(), Action::Replace);
        let backup = plan.apply().expect("applied").backup.expect("a backup");
        assert_eq!(
            std::fs::read_to_string(backup).expect("readable"),
            text,
            "the other one is kept"
        );
        assert_eq!(home.install(client), Action::AlreadyThere);
        assert_eq!(home.uninstall(client), Action::Remove);
        assert!(!home.read(file).contains("termbridge"), "{}", home.read(file));
    }
}

#[test]
fn a_broken_file_is_left_alone_with_place_and_reason() {
    type Case = (Client, &'static str, &'static [u8], (usize, usize), &'static str);
    let table: [Case; 14] = [
        (Client::Cursor, CURSOR, b"{\n  \"a\": 1\n  \"b\": 2\n}", (2, 9), "comma"),
        (Client::Cursor, CURSOR, b"{\n  \"mcpServers\": {", (2, 17), "unterminated"),
        (Client::Cursor, CURSOR, b"{'a': 1}", (1, 2), "single-quoted"),
        (Client::Cursor, CURSOR, b"{} {}", (1, 4), "more than one"),
        (Client::Cursor, CURSOR, b"[]", (1, 1), "the file is an array, not an object"),
        (Client::Cursor, CURSOR, b"{\n\"mcpServers\": []}", (2, 15), "`mcpServers` is an array"),
        (Client::Cursor, CURSOR, b"{\"mcpServers\": \"x\"}", (1, 16), "`mcpServers` is a string"),
        (
            Client::Cursor,
            CURSOR,
            b"{\"mcpServers\": {},\n \"mcpServers\": {}}",
            (2, 2),
            "a second time",
        ),
        (
            Client::Cursor,
            CURSOR,
            b"{\"mcpServers\": {\"termbridge\": {}, \"termbridge\": {}}}",
            (1, 35),
            "`termbridge` is there a second time",
        ),
        (Client::Cursor, CURSOR, b"{\n\"a\": \"\xff\"}", (2, 7), "not UTF-8"),
        (Client::Codex, CODEX, b"a = 1\nb = \n", (2, 5), ""),
        (Client::Codex, CODEX, b"a = 1\na = 2\n", (2, 1), "duplicate key"),
        (
            Client::Codex,
            CODEX,
            b"\nmcp_servers = []\n",
            (2, 1),
            "`mcp_servers` is an array, not a table",
        ),
        (Client::Codex, CODEX, b"[[mcp_servers]]\n", (1, 3), "an array of tables, not a table"),
    ];
    for (client, file, bytes, place, reason) in table {
        let home = Home::linux();
        let path = home.write(file, bytes);
        for refused in [home.plan(client, &entry()), home.plan_removal(client)] {
            let error = refused.expect_err("broken");
            let text = error.to_string();
            let Error::Broken { problem, .. } = error else { panic!("{text}") };
            assert!(text.starts_with(&path.display().to_string()), "{text}");
            assert!(problem.reason.contains(reason), "{reason:?} is not in {text:?}");
            assert_eq!((problem.line, problem.column), place, "{text}");
        }
        assert_eq!(std::fs::read(&path).expect("readable"), bytes);
    }
}

#[test]
fn depth_is_bounded() {
    let deep = "[".repeat(100_000);
    for (client, file, text) in [
        (Client::Cursor, CURSOR, format!("{{\"a\": {deep}")),
        (Client::Codex, CODEX, format!("a = {deep}")),
    ] {
        let home = Home::linux();
        home.write(file, text);
        assert!(matches!(home.plan(client, &entry()), Err(Error::Broken { .. })));
    }
}

#[test]
fn names_that_not_every_client_takes_are_refused() {
    for name in ["", "a b", "ä", "a.b", "\"", &"x".repeat(65)] {
        assert!(Entry::new(name, COMMAND, ["mcp"]).is_err(), "{name}");
    }
    let entry = Entry::new("term-bridge_2", "/path with \"quotes\"\\/tb", ["mcp"]).expect("valid");
    let home = Home::linux();
    for (client, file) in [(Client::Cursor, CURSOR), (Client::Codex, CODEX)] {
        home.install_as(client, &entry);
        assert!(home.read(file).contains(r#""/path with \"quotes\"\\/tb""#), "{}", home.read(file));
        let plan = Plan::uninstall(home.place(client), &entry, Overwrite::Never, &home.environment);
        assert_eq!(plan.expect("ours by its command").action(), Action::RemoveFile);
    }
}

#[test]
fn arguments_that_someone_chose_are_kept_unless_others_are_chosen() {
    let plain = entry().keeping_arguments();
    let home = Home::linux();
    let text = "{\"mcpServers\": {\"termbridge\": {\"command\": \"/old/termbridge\", \"args\": [\"mcp\", \"--connect\"]}}}";
    home.write(CURSOR, text);
    assert_eq!(home.install_as(Client::Cursor, &plain).0, Action::Update);
    assert_eq!(home.read(CURSOR), text.replace("/old/termbridge", COMMAND));
    assert_eq!(home.install_as(Client::Cursor, &plain).0, Action::AlreadyThere);
    assert_eq!(home.install(Client::Cursor), Action::Update, "others were chosen");
    let text = "[mcp_servers.termbridge]\ncommand = \"termbridge\"\nargs = [\"mcp\", \"--toolsets\", \"all\"]\n";
    home.write(CODEX, text);
    assert_eq!(home.install_as(Client::Codex, &plain).0, Action::Update);
    assert_eq!(home.read(CODEX), text.replace("\"termbridge\"\n", &format!("\"{COMMAND}\"\n")));
}

#[test]
fn an_entry_that_runs_the_package_is_ours() {
    let npx = Entry::new("termbridge", "npx", ["-y", "termbridge", "mcp"]).expect("valid");
    let home = Home::linux();
    home.write(CURSOR, "{\"mcpServers\": {}}");
    assert_eq!(home.install_as(Client::Cursor, &npx).0, Action::Add);
    assert_eq!(home.install_as(Client::Cursor, &npx).0, Action::AlreadyThere);
    assert_eq!(home.uninstall(Client::Cursor), Action::Remove);
    for (command, args) in [
        ("npx", "\"-y\", \"termbridge@latest\", \"mcp\""),
        ("/usr/bin/uvx", "\"termbridge==1.0\", \"mcp\", \"--connect\""),
        ("pnpm", "\"dlx\", \"termbridge\", \"mcp\""),
    ] {
        home.write(CURSOR, format!("{{\"mcpServers\": {{\"termbridge\": {{\"command\": \"{command}\", \"args\": [{args}]}}}}}}"));
        assert_eq!(home.install(Client::Cursor), Action::Update, "{command}");
        assert_eq!(home.uninstall(Client::Cursor), Action::Remove, "{command}");
    }
    for (command, args) in [
        ("npx", "\"-y\", \"termbridge-other\", \"mcp\""),
        ("docker", "\"run\", \"termbridge\", \"mcp\""),
        ("npx", "\"mcp\""),
    ] {
        home.write(CURSOR, format!("{{\"mcpServers\": {{\"termbridge\": {{\"command\": \"{command}\", \"args\": [{args}]}}}}}}"));
        assert!(
            matches!(home.plan(Client::Cursor, &entry()), Err(Error::Foreign { .. })),
            "{command} {args}"
        );
    }
}
