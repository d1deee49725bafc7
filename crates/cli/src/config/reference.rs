//! The configuration's reference, `docs/configuration.md`.
//!
//! A setting that has a flag takes its variable, default and meaning from the flag's help; the others
//! have them here. The tests compare the list with the file's entries, the flags, and the defaults.

use clap::{Arg, Command, CommandFactory};

use crate::args::Arguments;

/// A setting of the configuration file, of a flag, or of both.
struct Setting {
    /// Its key in the file; empty if only a flag has it.
    key: &'static str,
    /// The flag's long name; empty if only the file has it.
    flag: &'static str,
    /// In place of the flag's default and meaning.
    text: Option<Text>,
}

struct Text {
    default: &'static str,
    meaning: &'static str,
}

/// A setting that the file and a flag have.
const fn both(key: &'static str, flag: &'static str) -> Setting {
    Setting { key, flag, text: None }
}

/// A setting that only a flag has.
const fn flag(flag: &'static str) -> Setting {
    Setting { key: "", flag, text: None }
}

/// A setting that only the file has.
const fn file(key: &'static str, default: &'static str, meaning: &'static str) -> Setting {
    Setting { key, flag: "", text: Some(Text { default, meaning }) }
}

/// A setting whose flag says the opposite.
const fn negated(
    key: &'static str,
    flag: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting { key, flag, text: Some(Text { default, meaning }) }
}

const GROUPS: &[(&str, &[Setting])] = &[
    (
        "Tools",
        &[
            both("toolsets", "toolsets"),
            both("tools", "tools"),
            both("exclude_tools", "exclude-tools"),
            both("structured", "structured"),
            file(
                "text_clients",
                "[]",
                "Names (`clientInfo.name`) of further clients that show their model structured content instead of the text",
            ),
        ],
    ),
    (
        "Commands and sessions",
        &[
            both("workspace", "workspace"),
            both("commands.shell", "shell"),
            file("commands.pager", "\"cat\"", "Pager for agents' commands; `\"\"` leaves your own"),
            file("commands.env", "{}", "Environment variables of every new shell"),
            file(
                "commands.keep_shell_history",
                "false",
                "Whether agents' commands also go to the shell's own history",
            ),
            both("max_sessions", "max-sessions"),
            both("session_timeout", "session-timeout"),
            both("keep_finished", "keep-finished"),
            both("scrollback_lines", "scrollback-lines"),
            both("scrollback_memory_mb", "scrollback-memory-mb"),
            both("output_memory_mb", "output-memory-mb"),
            both("output_disk_mb", "output-disk-mb"),
            both("buffer_size", "buffer-size"),
        ],
    ),
    (
        "Policy",
        &[
            file("policy.deny", "[]", "Commands that never run"),
            file("policy.allow", "[]", "If not empty, the only commands that run"),
            file(
                "policy.allowed_directories",
                "[]",
                "If not empty, the only directories where sessions and commands start",
            ),
            file(
                "policy.rate_limit",
                "none",
                "Calls that an agent may make: `{ calls = 100, per_seconds = 10 }`",
            ),
            file(
                "policy.secrets_by_person",
                "false",
                "Whether only a person may type where the terminal hides input",
            ),
            file("policy.default_rules", "true", "Whether the built-in rules apply"),
            file("policy.disabled_rules", "[]", "Built-in rules to leave out"),
        ],
    ),
    (
        "History",
        &[
            negated(
                "history.enabled",
                "no-history",
                "true",
                "Whether commands, and the output of debugged programs, are kept on disk",
            ),
            file("history.path", "`$XDG_STATE_HOME/termbridge/history.db`", "File of the history"),
            file("history.max_entries", "1000000", "Maximum number of commands"),
            file("history.max_age", "0", "Forget older commands; 0 = never"),
            file("history.max_megabytes", "1024", "Maximum size of the text, in megabytes"),
        ],
    ),
    (
        "Debugger",
        &[
            both("debug.backend", "debug-backend"),
            both("debug.timeout", "timeout"),
            both("debug.workspace_tools", "workspace-tools"),
            both("debug.raw", "debug-raw"),
            file("debug.adapters.python", "detected", "Python interpreter that has debugpy"),
            file("debug.adapters.lldb", "detected", "`lldb-dap`, for C, C++ and Rust"),
            file("debug.adapters.delve", "detected", "`dlv`, for Go"),
            file("debug.adapters.js_debug", "detected", "js-debug's `dapDebugServer.js`"),
            file("debug.adapters.node", "detected", "`node`, which runs js-debug"),
        ],
    ),
    (
        "Editors",
        &[
            negated("editor.enabled", "no-editor", "true", "Whether editors may connect"),
            flag("editor"),
            both("editor.port", "editor-port"),
            both("editor.require_token", "require-editor-token"),
        ],
    ),
    (
        "Shared server",
        &[
            both("port", "port"),
            both("serve.listen", "listen"),
            both("serve.tls_cert", "tls-cert"),
            both("serve.tls_key", "tls-key"),
            both("serve.allow_hosts", "allow-host"),
            both("serve.allow_origins", "allow-origin"),
            both("serve.max_connections", "max-connections"),
            both("serve.max_connections_per_token", "max-connections-per-token"),
            both("serve.rate_limit", "rate-limit"),
            both("serve.max_clients", "max-clients"),
            both("serve.client_timeout", "client-timeout"),
        ],
    ),
    (
        "Logs and the file itself",
        &[
            both("log_level", "log-level"),
            both("log_format", "log-format"),
            both("log_file", "log-file"),
            flag("config"),
        ],
    ),
];

const INTRODUCTION: &str = "\
# Configuration

Generated from the program's own settings; do not edit.

Settings come from the configuration file, the environment and flags. Flags override the environment, and the environment
overrides the file. The file is `$XDG_CONFIG_HOME/termbridge/config.toml` (`~/.config/termbridge/config.toml`), or the one that
`--config` or `TERMBRIDGE_CONFIG` names.

```toml
max_sessions = 20
session_timeout = \"1h\"

[commands]
shell = \"zsh\"

[policy]
deny = [\"git push --force\"]
```

- A key with a dot belongs to a table: `commands.shell` is `shell` in `[commands]`.
- In the file, texts are quoted (`structured = \"auto\"`) and lists are in brackets (`toolsets = [\"terminal\"]`).
- A time is `\"30m\"`, `\"1h\"`, `\"45s\"`, `\"500ms\"` or a number of seconds.
- Switches such as `TERMBRIDGE_NO_HISTORY` take 1/0, true/false, yes/no or on/off.
- An empty variable counts as unset.
- An unknown setting is an error that names the file and the line.

With a [shared server](shared-server.md), settings apply to the server and not to the agents that connect to it.
[Policy](policy.md), [history](history.md) and [VS Code](vscode.md) explain their settings further.
";

/// The page `docs/configuration.md`.
pub fn configuration_page() -> String {
    let serve = serve();
    let mut page = INTRODUCTION.to_owned();
    for (title, settings) in GROUPS {
        page.push_str(&format!("\n## {title}\n\n"));
        page.push_str("| setting | default | meaning, flag, variable |\n| --- | --- | --- |\n");
        for setting in *settings {
            page.push_str(&row(setting, &serve));
        }
    }
    page
}

fn row(setting: &Setting, serve: &Command) -> String {
    let arg = (!setting.flag.is_empty()).then(|| argument(serve, setting.flag));
    let help = arg.map(help).unwrap_or_default();
    let (meaning, default) = help.split_once(" [default: ").unwrap_or((&help, ""));
    let text = setting.text.as_ref();
    let default = match (text, arg) {
        (Some(text), _) => text.default,
        (None, Some(arg)) if default.is_empty() && is_switch(arg) => "false",
        _ => default.trim_end_matches(']'),
    };
    let meaning = text.map_or(meaning, |text| text.meaning);
    let mut meaning = meaning.replace('|', "\\|");
    if let Some(arg) = arg {
        meaning.push_str(&format!("<br>`--{}`", setting.flag));
        if let Some(variable) = arg.get_env() {
            meaning.push_str(&format!(", `{}`", variable.display()));
        }
    }
    let default = if is_value(default) { code(default) } else { default.to_owned() };
    format!("| {} | {default} | {meaning} |\n", code(setting.key))
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn is_switch(arg: &Arg) -> bool {
    arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "BOOL"))
}

/// Whether a default is a value and not a description of one.
fn is_value(default: &str) -> bool {
    !default.contains([' ', '`']) && !["detected", "none", "stderr"].contains(&default)
}

/// `termbridge serve`, which has every setting's flag.
fn serve() -> Command {
    Arguments::command().find_subcommand("serve").cloned().unwrap_or_default()
}

fn argument<'a>(serve: &'a Command, flag: &str) -> &'a Arg {
    let found = serve.get_arguments().find(|arg| arg.get_long() == Some(flag));
    found.unwrap_or_else(|| panic!("`serve` has no --{flag}"))
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::builder::{OsStr as Name, Resettable};
    use clap::{Args, FromArgMatches};

    use super::*;
    use crate::args::ServeArguments;
    use crate::config::{Config, File, ServeConfig};

    fn settings() -> impl Iterator<Item = &'static Setting> {
        GROUPS.iter().flat_map(|(_, settings)| settings.iter())
    }

    #[test]
    fn every_entry_of_the_file_is_listed() {
        let tables =
            ["commands", "history", "debug", "debug.adapters", "policy", "serve", "editor"];
        let mut entries = BTreeSet::new();
        for table in [""].iter().chain(&tables) {
            let heading = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
            let error = toml::from_str::<File>(&format!("{heading}nothing_like_it = 1\n"));
            let error = error.expect_err("no such entry").to_string();
            let (_, expected) = error.split_once("expected ").expect("the entries that there are");
            let names = expected.split('`').skip(1).step_by(2);
            let dot = if table.is_empty() { "" } else { "." };
            entries.extend(names.map(|name| format!("{table}{dot}{name}")));
        }
        entries.retain(|entry| !tables.contains(&entry.as_str()));
        let keys = settings().map(|setting| setting.key.to_owned()).filter(|key| !key.is_empty());
        assert_eq!(keys.collect::<BTreeSet<_>>(), entries);
    }

    #[test]
    fn every_flag_that_is_a_setting_is_listed() {
        let serve = serve();
        let flags = serve.get_arguments().filter(|arg| !arg.is_hide_set());
        let flags: BTreeSet<_> =
            flags.filter_map(Arg::get_long).filter(|flag| *flag != "replace").collect();
        let listed = settings().map(|setting| setting.flag).filter(|flag| !flag.is_empty());
        assert_eq!(listed.collect::<BTreeSet<_>>(), flags);
    }

    /// The configuration of a server with these flags and this file.
    fn configured(flags: &[String], file: &str) -> String {
        let command = Command::new("serve").no_binary_name(true);
        let unset = |arg: Arg| arg.env(Resettable::<Name>::Reset);
        let matches = ServeArguments::augment_args(command).mut_args(unset);
        let matches = matches.try_get_matches_from(flags).expect("flags");
        let mut arguments = ServeArguments::from_arg_matches(&matches).expect("arguments");
        let file: File = toml::from_str(file).expect("a file");
        let mcp = std::mem::take(&mut arguments.mcp);
        let mut config = Config::merge(mcp, file).expect("a configuration");
        let serve = ServeConfig::new(arguments, &mut config).expect("a server");
        config.port = None;
        format!("{config:#?}{serve:#?}")
    }

    #[test]
    fn a_default_that_is_listed_is_the_default() {
        let serve = serve();
        let usual = configured(&[], "");
        let mut compared = 0;
        for setting in settings() {
            let help = if setting.flag.is_empty() {
                String::new()
            } else {
                help(argument(&serve, setting.flag))
            };
            let of_flag =
                help.split_once(" [default: ").map(|(_, rest)| rest.trim_end_matches(']'));
            let given = match (&setting.text, of_flag) {
                (Some(text), _) if is_value(text.default) => {
                    configured(&[], &format!("{} = {}", setting.key, text.default))
                }
                (None, Some(default)) if is_value(default) => {
                    configured(&[format!("--{}={default}", setting.flag)], "")
                }
                _ => continue,
            };
            assert_eq!(given, usual, "{} --{}", setting.key, setting.flag);
            compared += 1;
        }
        assert!(compared > 35, "{compared}");
    }
}
