//! Each client, with configuration as it and its users write it.

use termbridge_clients::{Action, Client, Environment, Error, Scope, System, places};

use crate::support::{Home, entry};

#[test]
fn claude_code() {
    let home = Home::linux();
    let before = r#"{
  "numStartups": 41,
  "installMethod": "native",
  "autoUpdates": true,
  "tipsHistory": {
    "shift-enter": 27
  },
  "projects": {
    "/home/me/work": {
      "allowedTools": [],
      "mcpServers": {
        "local": {
          "type": "stdio",
          "command": "npx",
          "args": [],
          "env": {}
        }
      },
      "hasTrustDialogAccepted": true
    }
  },
  "userID": "5f1c2b",
  "mcpServers": {}
}"#;
    home.write(".claude.json", before);
    let after = home.round_trip(Client::ClaudeCode);
    let expected = before.replace(
        "\"mcpServers\": {}\n",
        r#""mcpServers": {
    "termbridge": {
      "type": "stdio",
      "command": "/usr/local/bin/termbridge",
      "args": ["mcp"]
    }
  }
"#,
    );
    assert_eq!(after, expected);
}

#[test]
fn claude_code_without_servers() {
    let home = Home::linux();
    home.write(".claude.json", "{\n  \"numStartups\": 1,\n  \"projects\": {}\n}\n");
    let after = home.round_trip(Client::ClaudeCode);
    assert!(
        after.contains("\"projects\": {},\n  \"mcpServers\": {\n    \"termbridge\": {\n"),
        "{after}"
    );
}

#[test]
fn claude_desktop() {
    for (system, folder) in [
        (System::Linux, ".config/Claude"),
        (System::MacOs, "Library/Application Support/Claude"),
        (System::Windows, "AppData/Roaming/Claude"),
    ] {
        let home = Home::new(system);
        let file = format!("{folder}/claude_desktop_config.json");
        home.write(
            &file,
            "{\n\t\"mcpServers\": {\n\t\t\"files\": {\n\t\t\t\"command\": \"npx\"\n\t\t}\n\t}\n}",
        );
        let after = home.round_trip(Client::ClaudeDesktop);
        assert_eq!(
            after,
            "{\n\t\"mcpServers\": {\n\t\t\"files\": {\n\t\t\t\"command\": \"npx\"\n\t\t},\n\
             \t\t\"termbridge\": {\n\t\t\t\"command\": \"/usr/local/bin/termbridge\",\n\
             \t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}",
            "{system:?}"
        );
    }
}

#[test]
fn cursor_in_one_line() {
    let home = Home::linux();
    home.write(".cursor/mcp.json", r#"{"mcpServers":{"a":{"url":"https://x"}}}"#);
    let after = home.round_trip(Client::Cursor);
    assert_eq!(
        after,
        concat!(
            r#"{"mcpServers":{"a":{"url":"https://x"},"#,
            r#""termbridge":{"command":"/usr/local/bin/termbridge","args":["mcp"]}}}"#
        )
    );
}

const VS_CODE: &str = r#"{
    // Tokens are asked for once.
    "inputs": [
        {"id": "token", "type": "promptString", "password": true},
    ],
    "servers": {
        "github": {
            "type": "http",
            "url": "https://api.githubcopilot.com/mcp/", /* hosted */
        }, // the last one
    },
}
"#;

#[test]
fn vscode_and_its_variants() {
    for (client, folder) in [
        (Client::VsCode, "Code"),
        (Client::VsCodeInsiders, "Code - Insiders"),
        (Client::VsCodium, "VSCodium"),
    ] {
        let home = Home::linux();
        home.write(&format!(".config/{folder}/User/mcp.json"), VS_CODE);
        let after = home.round_trip(client);
        let expected = VS_CODE.replace(
            "// the last one\n",
            r#"// the last one
        "termbridge": {
            "type": "stdio",
            "command": "/usr/local/bin/termbridge",
            "args": ["mcp"]
        },
"#,
        );
        assert_eq!(after, expected, "{client}");
    }
}

#[test]
fn profiles_of_vscode() {
    let home = Home::linux();
    let user = ".config/Code/User";
    home.write(&format!("{user}/mcp.json"), "{}");
    home.write(&format!("{user}/profiles/-4f2a/settings.json"), "{}");
    home.write(&format!("{user}/profiles/77ab/mcp.json"), "{\n\t\"servers\": {}\n}");
    home.folder(&format!("{user}/profiles/shared"));
    home.folder(&format!("{user}/profiles/builtin/agents"));
    let labels = || -> Vec<String> {
        home.places(Client::VsCode).iter().map(termbridge_clients::Place::label).collect()
    };
    assert_eq!(
        labels(),
        [
            "VS Code",
            "VS Code (profile -4f2a)",
            "VS Code (profile 77ab)",
            "VS Code (profile shared)"
        ],
        "without a list, folders are profiles"
    );
    let storage = r#"{"userDataProfiles": [
        {"location": "-4f2a", "name": "Python"},
        {"location": "77ab", "name": "Writing", "useDefaultFlags": {"settings": true}},
        {"location": "shared", "name": "Shared", "useDefaultFlags": {"mcp": true}},
        {"location": "gone", "name": "Gone"},
        {"location": "../../../..", "name": "Out"},
        {"location": 5}
    ]}"#;
    home.write(&format!("{user}/globalStorage/storage.json"), storage);
    assert_eq!(
        labels(),
        ["VS Code", "VS Code (profile Python)", "VS Code (profile Writing)"],
        "one that uses the default profile's servers is left out"
    );
    let run = |install: bool| {
        for place in home.places(Client::VsCode) {
            use termbridge_clients::{Overwrite, Plan};
            let plan = if install { Plan::install } else { Plan::uninstall };
            let plan = plan(place, &entry(), Overwrite::Never, &home.environment).expect("a plan");
            plan.apply().expect("applied");
        }
    };
    run(true);
    let created = format!("{user}/profiles/-4f2a/mcp.json");
    let files =
        [format!("{user}/mcp.json"), created.clone(), format!("{user}/profiles/77ab/mcp.json")];
    for file in &files {
        assert!(home.read(file).contains("\"termbridge\""), "{file}");
    }
    run(false);
    assert_eq!(home.read(&files[0]), "{}");
    assert_eq!(home.read(&files[2]), "{\n\t\"servers\": {}\n}");
    assert!(!home.path(&created).exists(), "it was made by install");
}

#[test]
fn codex() {
    let home = Home::linux();
    let before = "model = \"gpt-5\"\napproval_policy = \"on-request\" # asks\n\n\
        [mcp_servers.docs]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"docs\",\n]\n\n\
        [mcp_servers.docs.env]\nAPI_KEY = \"sk-123\"\n\n[projects.\"/home/me\"]\ntrust_level = \"trusted\"\n";
    home.write(".codex/config.toml", before);
    let after = home.round_trip(Client::Codex);
    let table =
        "\n[mcp_servers.termbridge]\ncommand = \"/usr/local/bin/termbridge\"\nargs = [\"mcp\"]\n";
    assert_eq!(after, format!("{before}{table}"));
}

#[test]
fn gemini() {
    let home = Home::linux();
    home.write(
        ".gemini/settings.json",
        "{\n  \"theme\": \"GitHub\",\n  \"selectedAuthType\": \"oauth-personal\"\n}",
    );
    let after = home.round_trip(Client::GeminiCli);
    assert!(after.starts_with(
        "{\n  \"theme\": \"GitHub\",\n  \"selectedAuthType\": \"oauth-personal\",\n  \"mcpServers\""
    ));
}

#[test]
fn windsurf() {
    let home = Home::linux();
    home.write(".codeium/windsurf/mcp_config.json", "{\r\n  \"mcpServers\": {\r\n  }\r\n}\r\n");
    let after = home.round_trip(Client::Windsurf);
    assert!(!after.replace("\r\n", "").contains('\n'), "lines end as they did: {after:?}");
}

#[test]
fn zed() {
    let home = Home::linux();
    let before = "// Zed settings\n//\n// For information on how to configure Zed, see the docs\n{\n  \
        \"vim_mode\": true,\n  \"theme\": { \"mode\": \"system\", \"dark\": \"One Dark\" },\n  \
        // servers\n  \"context_servers\": {\n    // none yet\n  },\n}\n";
    home.write(".config/zed/settings.json", before);
    let after = home.round_trip(Client::Zed);
    assert_eq!(
        after,
        before.replace(
            "    // none yet\n",
            "    // none yet\n    \"termbridge\": {\n      \"command\": \"/usr/local/bin/termbridge\",\n      \
             \"args\": [\"mcp\"]\n    }\n"
        )
    );
}

#[test]
fn opencode_of_either_version() {
    let home = Home::linux();
    let first = "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"a\": {\n      \
        \"type\": \"remote\",\n      \"url\": \"https://x\"\n    }\n  }\n}\n";
    home.write(".config/opencode/opencode.json", first);
    let after = home.round_trip(Client::OpenCode);
    assert_eq!(
        after,
        first.replace(
            "    }\n  }\n}\n",
            "    },\n    \"termbridge\": {\n      \"type\": \"local\",\n      \
             \"command\": [\"/usr/local/bin/termbridge\", \"mcp\"]\n    }\n  }\n}\n"
        )
    );
    let second = "{\n  \"mcp\": {\n    \"servers\": {\n      \"a\": { \"type\": \"remote\" },\n    },\n  },\n}\n";
    home.write(".config/opencode/opencode.jsonc", second);
    let after = home.round_trip(Client::OpenCode);
    assert!(
        after.contains("      \"a\": { \"type\": \"remote\" },\n      \"termbridge\": {\n"),
        "{after}"
    );
    assert_eq!(home.read(".config/opencode/opencode.json"), first, "the other file is not touched");
    let server = "{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"servers\"]}}}";
    home.write(".config/opencode/opencode.jsonc", server);
    let after = home.round_trip(Client::OpenCode);
    assert!(after.contains("[\"servers\"]}, \"termbridge\": {"), "a server of that name: {after}");
}

#[test]
fn every_client_in_a_project() {
    let files = [
        (Client::ClaudeCode, ".mcp.json"),
        (Client::Cursor, ".cursor/mcp.json"),
        (Client::VsCode, ".vscode/mcp.json"),
        (Client::Codex, ".codex/config.toml"),
        (Client::GeminiCli, ".gemini/settings.json"),
        (Client::Zed, ".zed/settings.json"),
        (Client::OpenCode, "opencode.json"),
    ];
    let home = Home::project();
    for (client, file) in files {
        let place = home.place(client);
        assert_eq!(place.path, home.path("project").join(file));
        assert!(!place.is_found, "{client}");
        assert_eq!(home.install(client), Action::Add);
        assert!(home.read(&format!("project/{file}")).contains("termbridge"), "{client}");
        #[cfg(unix)]
        assert_eq!(crate::support::mode(&place.path) & 0o600, 0o600);
        assert_eq!(home.uninstall(client), Action::RemoveFile);
        assert!(!place.path.exists(), "{client}");
    }
    for client in [Client::ClaudeDesktop, Client::Windsurf] {
        let refused = places(client, &home.environment, &home.scope).expect_err("no such scope");
        assert!(matches!(refused, Error::NoProjectScope(other) if other == client));
    }
    home.write("project/.mcp.json", "{}");
    home.folder("project/.zed");
    assert!(home.place(Client::ClaudeCode).is_found && home.place(Client::Zed).is_found);
}

#[test]
fn a_client_that_never_ran_is_found_by_its_command() {
    let home = Home::linux();
    let folder = home.path("bin");
    for (client, command) in [
        (Client::ClaudeCode, "claude"),
        (Client::Codex, "codex"),
        (Client::GeminiCli, "gemini"),
        (Client::OpenCode, "opencode"),
    ] {
        let environment =
            Environment::new(System::Linux, home.path(""), home.path("state/backups"))
                .with_variables(|name| (name == "PATH").then(|| folder.clone().into_os_string()));
        let is_found = || {
            let places = places(client, &environment, &Scope::User).expect("places");
            places.iter().any(|place| place.is_found)
        };
        assert!(!is_found(), "{client}");
        home.write(&format!("bin/{command}"), "");
        assert!(is_found(), "{client}");
    }
}

#[test]
fn a_client_is_found_by_its_own_files() {
    let table = [
        (Client::ClaudeCode, System::Linux, ".claude", ".claude.json"),
        (Client::Cursor, System::MacOs, ".cursor", ".cursor/mcp.json"),
        (Client::VsCode, System::Linux, ".config/Code/User", ".config/Code/User/mcp.json"),
        (
            Client::VsCode,
            System::MacOs,
            "Library/Application Support/Code/User",
            "Library/Application Support/Code/User/mcp.json",
        ),
        (
            Client::VsCodium,
            System::Windows,
            "AppData/Roaming/VSCodium/User",
            "AppData/Roaming/VSCodium/User/mcp.json",
        ),
        (Client::Codex, System::Windows, ".codex", ".codex/config.toml"),
        (Client::GeminiCli, System::MacOs, ".gemini", ".gemini/settings.json"),
        (Client::Windsurf, System::Linux, ".codeium/windsurf", ".codeium/windsurf/mcp_config.json"),
        (Client::Zed, System::MacOs, ".config/zed", ".config/zed/settings.json"),
        (Client::Zed, System::Windows, "AppData/Roaming/Zed", "AppData/Roaming/Zed/settings.json"),
        (Client::OpenCode, System::Linux, ".config/opencode", ".config/opencode/opencode.json"),
    ];
    for (client, system, folder, file) in table {
        let home = Home::new(system);
        let place = home.place(client);
        assert!(!place.is_found, "{client} on {system:?} in an empty home");
        assert_eq!(place.path, home.path(file), "{client} on {system:?}");
        home.folder(folder);
        assert!(home.place(client).is_found, "{client} on {system:?}");
    }
}

#[test]
fn variables_move_folders() {
    let environment =
        Environment::new(System::Linux, "/home/me", "/state").with_variables(|name| {
            let value = match name {
                "XDG_CONFIG_HOME" => "/xdg",
                "CLAUDE_CONFIG_DIR" => "/claude",
                "CODEX_HOME" => "/codex",
                "GEMINI_CLI_HOME" => "relative",
                _ => "",
            };
            Some(value.into())
        });
    let path = |client| {
        let places = places(client, &environment, &Scope::User).expect("a place");
        places[0].path.display().to_string()
    };
    assert_eq!(path(Client::ClaudeCode), "/claude/.claude.json");
    assert_eq!(path(Client::Codex), "/codex/config.toml");
    assert_eq!(path(Client::Zed), "/xdg/zed/settings.json");
    assert_eq!(path(Client::VsCode), "/xdg/Code/User/mcp.json");
    assert_eq!(
        path(Client::GeminiCli),
        "/home/me/.gemini/settings.json",
        "a relative path is ignored"
    );
}

#[test]
fn clients_have_names() {
    for client in Client::ALL {
        assert_eq!(client.id().parse(), Ok(client));
    }
    assert_eq!("Claude".parse(), Ok(Client::ClaudeCode));
    let unknown = "emacs".parse::<Client>().expect_err("unknown").to_string();
    assert!(unknown.contains("\"emacs\"") && unknown.contains("claude-code, "), "{unknown}");
}
