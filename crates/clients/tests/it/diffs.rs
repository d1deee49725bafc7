//! What is shown of a change.

use termbridge_clients::{Client, Entry, Overwrite, Plan, masked, masked_words};

use crate::support::{Home, entry};

const CURSOR: &str = ".cursor/mcp.json";

fn diff_of(text: &str) -> String {
    let home = Home::linux();
    let path = home.write(CURSOR, text);
    let diff = home.plan(Client::Cursor, &entry()).expect("a plan").diff();
    diff.replace(&path.display().to_string(), "FILE")
}

#[test]
fn a_change_is_shown_with_two_lines_around_it() {
    let text = "{\n  \"far\": \"sk-secret\",\n  \"one\": 1,\n  \"mcpServers\": {\n    \"a\": {}\n  },\n  \"two\": 2,\n  \"away\": \"sk-secret\"\n}\n";
    assert_eq!(
        diff_of(text),
        "--- FILE\n+++ FILE\n@@ -3,5 +3,9 @@\n   \"one\": 1,\n   \"mcpServers\": {\n-    \"a\": {}\n+    \"a\": {},\n\
         +    \"termbridge\": {\n+      \"command\": \"/usr/local/bin/termbridge\",\n+      \"args\": [\"mcp\"]\n\
         +    }\n   },\n   \"two\": 2,\n"
    );
}

#[test]
fn a_new_and_a_removed_file_are_shown_as_such() {
    let home = Home::linux();
    let diff = home.plan(Client::Codex, &entry()).expect("a plan").diff();
    let path = home.path(".codex/config.toml").display().to_string();
    assert_eq!(
        diff,
        format!(
            "--- /dev/null\n+++ {path}\n@@ -0,0 +1,3 @@\n+[mcp_servers.termbridge]\n\
             +command = \"/usr/local/bin/termbridge\"\n+args = [\"mcp\"]\n"
        )
    );
    home.install(Client::Codex);
    let diff = home.plan_removal(Client::Codex).expect("a plan").diff();
    assert!(
        diff.starts_with(&format!("--- {path}\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-[mcp")),
        "{diff}"
    );
    assert_eq!(home.plan(Client::Codex, &entry()).expect("a plan").diff(), "", "nothing changes");
}

#[test]
fn the_examples_of_the_skill_are_not_masked() {
    let home = Home::linux();
    let place = home.place(Client::Codex).skill(&home.environment).expect("knows skills");
    let plan = Plan::install_skill(place, Overwrite::Never, &home.environment).expect("a plan");
    let diff = plan.diff();
    assert!(diff.contains("\"keys\": \"") && !diff.contains("***"), "{diff}");
}

#[test]
fn secrets_beside_a_change_are_masked() {
    let diff =
        diff_of("{\n  \"apiKey\": \"sk-1\",\n  \"mcpServers\": {},\n  \"AUTH_TOKEN\": \"sk-2\"\n}");
    assert!(
        diff.contains("   \"apiKey\": ***,\n") && diff.contains("   \"AUTH_TOKEN\": ***\n"),
        "{diff}"
    );
    assert!(!diff.contains("sk-"), "{diff}");
    let home = Home::linux();
    home.write(".codex/config.toml", "[mcp_servers.a.env]\nAPI_KEY = \"sk-3\"\n");
    let diff = home.plan(Client::Codex, &entry()).expect("a plan").diff();
    assert!(diff.contains(" API_KEY = ***\n") && !diff.contains("sk-3"), "{diff}");
}

#[test]
fn of_a_file_in_one_line_only_the_change_is_shown() {
    let far = "x".repeat(300);
    let diff =
        diff_of(&format!("{{\"token\":\"sk-{far}\",\"mcpServers\":{{}},\"also\":\"{far}\"}}"));
    assert!(!diff.contains("sk-"), "{diff}");
    assert!(diff.contains("\"termbridge\":{\"command\"") && diff.contains("+…"), "{diff}");
    assert!(diff.lines().all(|line| line.chars().count() < 170), "{diff}");
    let long = diff_of(&format!("{{\n\"a\": \"{far}\",\n\"mcpServers\": {{}}\n}}\n"));
    assert!(long.contains("xxx…\n"), "{long}");
}

#[test]
fn who_is_asked_sees_the_whole_of_a_new_line() {
    let home = Home::linux();
    home.write(CURSOR, "{\n  \"mcpServers\": {}\n}\n");
    let command = format!("/home/me/{}/termbridge", "deep/".repeat(50));
    let entry = Entry::new("termbridge", &command, ["mcp"]).expect("an entry");
    let diff = home.plan(Client::Cursor, &entry).expect("a plan").diff();
    assert!(diff.contains(&format!("+      \"command\": \"{command}\",\n")), "{diff}");
}

#[test]
fn secrets_are_masked_however_they_are_written() {
    let home = Home::linux();
    let other = r#""url": "https://x", "env": {"A": "plain-value", "GH": "ghp_abc"}, "args": ["--api-key", "hunter2", "-e", "DB=hunter3", "--x=1"],
      "headers": {"Authorization": "Bearer hunter4"}, "cwd": "https://u:hunter5@host/p", // "token": "hunter6"
      "link": "https://h/?api_key=hunter7", "id": "0123456789abcdef01234567", "pin": 1"#;
    home.write(CURSOR, format!("{{\"mcpServers\": {{\"termbridge\": {{{other}}}}}}}"));
    let place = home.place(Client::Cursor);
    let plan =
        Plan::install(place, &entry(), Overwrite::Foreign, &home.environment).expect("a plan");
    let diff = plan.diff();
    for secret in ["plain-value", "ghp_abc", "hunter", "0123456789abcdef"] {
        assert!(!diff.contains(secret), "{secret}: {diff}");
    }
    for shown in
        ["\"https://x\"", "\"--api-key\"", "\"GH\"", "\"DB=***\"", "\"--x=1\"", "\"pin\": 1"]
    {
        assert!(diff.contains(shown), "{shown}: {diff}");
    }
    let toml = "[mcp_servers.termbridge]\nurl = 'https://x'\nbearer_token = '''hunter1\nhunter2'''\nenv.A = \"hunter3\"\n\
                [mcp_servers.termbridge.env]\nB = \"hunter4\"\n[mcp_servers.termbridge.http_headers]\n\"X-C\" = 'hunter5'\n[other]\nname = 'me'\n";
    home.write(".codex/config.toml", toml.replace("env.A = \"hunter3\"\n", ""));
    let place = home.place(Client::Codex);
    let plan =
        Plan::install(place, &entry(), Overwrite::Foreign, &home.environment).expect("a plan");
    assert!(!plan.diff().contains("hunter"), "{}", plan.diff());
    assert!(
        plan.diff().contains("name = 'me'") && plan.diff().contains("B = ***"),
        "{}",
        plan.diff()
    );
    assert!(!masked(toml).contains("hunter"), "{}", masked(toml));
    assert_eq!(masked(toml).lines().count(), toml.lines().count());
}

#[test]
fn secrets_in_what_a_program_said_are_masked() {
    for (text, expected) in [
        ("login password=hunter2 failed", "login password= ***"),
        (r#"sent {"token":"hunter2","user":"ada"}"#, r#"sent {"token": ***"#),
        ("curl -H 'Authorization: Bearer hunter2' x", "curl -H 'Authorization: ***"),
        ("run --api-key hunter2 --port 80", "run --api-key *** --port 80"),
        (
            r#"at 12:00 {"token":"hunter2","user":"ada"}"#,
            r#"at 12:00 {"token":"***","user":"ada"}"#,
        ),
        ("at 12:00 password=hunter2 failed", "at 12:00 password=*** failed"),
        ("sent Bearer hunter2", "sent Bearer ***"),
        ("the key is missing", "the key is missing"),
    ] {
        assert_eq!(masked_words(text), expected, "{text}");
    }
}

#[test]
fn a_path_cannot_pretend_to_be_part_of_the_diff() {
    let mut home = Home::linux();
    home.environment.home = home.path("x\n+++ /etc/passwd\u{1b}[2J");
    let diff = home.plan(Client::Codex, &entry()).expect("a plan").diff();
    assert_eq!(diff.lines().filter(|line| line.starts_with("+++")).count(), 1, "{diff}");
    assert!(!diff.contains('\u{1b}'), "{diff:?}");
}
