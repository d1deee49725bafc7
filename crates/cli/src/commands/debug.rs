//! `termbridge debug`: the debugging tools for people, each a command that the catalogue describes.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value, json};
use termbridge_bridge::catalog::{Catalog, CommandLine, Flag, Kind, Tool};
use termbridge_mcp::CallToolResult;
use tokio_util::sync::CancellationToken;

use super::{Debugging, print, printable, tell};
use crate::args::{DebugArguments, McpArguments};
use crate::config::Config;
use crate::logging;

/// Exit codes: of a command that failed, and of one that made no sense.
const FAILED: u8 = 1;
const NO_SENSE: u8 = 2;
/// Tools of this category stand at the top: `termbridge debug start`.
const AT_THE_TOP: &str = "debug";

pub(crate) fn run(arguments: DebugArguments) -> Result<ExitCode> {
    let DebugArguments { debugging, json, config, words } = arguments;
    let mut settings = McpArguments { config, debugging, ..McpArguments::default() };
    // What the tools have to say is in their answers.
    settings.log.log_level = Some("error".into());
    let config = Config::load(settings)?;
    logging::start(&config.log)?;
    let runtime = super::runtime()?;
    let code = runtime.block_on(async {
        let mut debugging = CommandLineDebugging { debugging: Debugging::new(&config)?, json };
        let code = match words.is_empty() {
            true => debugging.lines().await,
            false => debugging.only_command(words).await,
        };
        debugging.debugging.end().await;
        code.map(ExitCode::from)
    });
    runtime.shutdown_background();
    code
}

struct CommandLineDebugging {
    debugging: Debugging,
    json: bool,
}

impl CommandLineDebugging {
    fn catalog(&self) -> &Catalog {
        self.debugging.server.debugging().expect("the debugging tools are offered").catalog()
    }

    /// Runs one command, and says what ends with it.
    async fn only_command(&mut self, words: Vec<String>) -> Result<u8> {
        let sets_breakpoint = words.first().is_some_and(|word| word == "breakpoint");
        let code = self.command(words).await?;
        let native =
            self.debugging.server.debugging().is_some_and(|debugging| debugging.native().is_open());
        if code == 0 && !self.json && (native || (sets_breakpoint && !self.has_editor().await)) {
            tell(
                "termbridge: breakpoints and programs end with this command; to keep them, pass several \
                 commands to `termbridge debug`, one per line.",
            );
        }
        Ok(code)
    }

    async fn has_editor(&self) -> bool {
        let debugging = self.debugging.server.debugging().expect("the debugging tools are offered");
        debugging.has_editor().await
    }

    /// Runs one command.
    async fn command(&mut self, words: Vec<String>) -> Result<u8> {
        let (tool, arguments) = match self.read(words) {
            Ok(read) => read,
            Err(error) => {
                // Help is an answer, anything else a complaint; who reads it may stop early.
                let _ = error.print();
                return Ok(if error.use_stderr() { NO_SENSE } else { 0 });
            }
        };
        let cancelled = CancellationToken::new();
        let interrupted = cancelled.clone();
        let watch = tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                interrupted.cancel();
            }
        });
        let result = self.debugging.server.run_tool(&tool, arguments, cancelled).await;
        watch.abort();
        let result = result.context("the tool is gone")?;
        self.show(&result)?;
        Ok(if result.is_error == Some(true) { FAILED } else { 0 })
    }

    /// Runs the commands that stdin has, one a line; the code is that of the last that failed.
    async fn lines(&mut self) -> Result<u8> {
        let is_terminal = std::io::stdin().is_terminal();
        if is_terminal {
            tell("Enter commands, one per line; `help` lists them, Ctrl+D ends the session.");
        }
        let mut code = 0;
        loop {
            if is_terminal {
                let _ = write!(std::io::stderr(), "debug> ");
            }
            // Reading blocks a thread that nothing else needs.
            let line = tokio::task::spawn_blocking(|| {
                let mut line = String::new();
                std::io::stdin().lock().read_line(&mut line).map(|read| (read > 0).then_some(line))
            });
            let line = tokio::select! {
                line = line => line.context("cannot read")??,
                _ = tokio::signal::ctrl_c() => None,
            };
            let Some(line) = line else { break };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let ended = match shlex::split(line) {
                Some(words) => self.command(words).await?,
                None => {
                    tell(&format!("termbridge: a quote is not closed: {line}"));
                    NO_SENSE
                }
            };
            if ended != 0 {
                code = ended;
                if !is_terminal {
                    break;
                }
            }
        }
        Ok(code)
    }

    /// The tool that words name, and its arguments.
    fn read(&self, words: Vec<String>) -> Result<(String, Map<String, Value>), clap::Error> {
        let matches = commands(self.catalog()).try_get_matches_from(words)?;
        let mut path = Vec::new();
        let mut matches = &matches;
        while let Some((name, inside)) = matches.subcommand() {
            path.push(name);
            matches = inside;
        }
        let tool = self.catalog().all().find(|tool| words_of(tool) == path);
        let tool = tool.expect("the commands are those of the catalogue");
        Ok((tool.name().to_owned(), arguments(&tool.command_line(), matches)?))
    }

    /// A hint with commands and flags in place of the tools and arguments that agents have.
    fn in_commands(&self, hint: &str) -> String {
        let tools: Vec<&Tool> = self.catalog().enabled().collect();
        let word = |word: &str| {
            if let Some(tool) = tools.iter().find(|tool| tool.name() == word) {
                return format!("`{}`", words_of(tool).join(" "));
            }
            let is_argument = word.contains(|c: char| c.is_ascii_uppercase());
            let mut flags = tools.iter().flat_map(|tool| tool.command_line().flags);
            let flag = flags.find(|flag| is_argument && flag.name == word);
            flag.map_or_else(|| word.to_owned(), |flag| format!("--{}", flag.long))
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let pieces: Vec<&str> = hint.split_inclusive(|c| !is_name(c)).collect();
        let renamed = pieces.iter().map(|piece| {
            let name = piece.trim_end_matches(|c| !is_name(c));
            word(name) + &piece[name.len()..]
        });
        renamed.collect()
    }

    fn show(&self, result: &CallToolResult) -> Result<()> {
        let text: Vec<&str> = result
            .content
            .iter()
            .filter_map(|block| Some(block.as_text()?.text.as_str()))
            .collect();
        let text = match (&result.structured_content, self.json) {
            (Some(structured), true) => structured.to_string(),
            (Some(structured), false) => {
                // Behind the message come the hint and the next tools.
                let message = structured["error"]["message"].as_str().unwrap_or_default();
                let text = text.join("\n");
                match text.split_once(message).filter(|_| !message.is_empty()) {
                    Some((code, hint)) => [code, message, &self.in_commands(hint)].concat(),
                    None => text,
                }
            }
            _ => text.join("\n"),
        };
        match result.is_error == Some(true) && !self.json {
            true => tell(&printable(&text)),
            false => {
                print(&format!("{}\n", printable(&text)))?;
            }
        }
        Ok(())
    }
}

/// The words of a tool's command: `breakpoint set`, and without its category `start`.
fn words_of(tool: &Tool) -> Vec<String> {
    let mut words = tool.command_line().words;
    if words.len() > 1 && words[0] == AT_THE_TOP {
        words.remove(0);
    }
    words
}

/// How several go together.
const SEVERAL: &str = "Without a command, commands are read from stdin, one per line; the debugged program \
lives until the last one.";

/// All tools as one command with others inside.
fn commands(catalog: &Catalog) -> Command {
    let mut root = Command::new("termbridge debug")
        .bin_name("termbridge debug")
        .no_binary_name(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .about("The debugging tools")
        .after_help(SEVERAL);
    for tool in catalog.enabled() {
        let line = tool.command_line();
        root = insert(root, &words_of(tool), line);
    }
    root.mut_subcommands(|group| {
        let names: Vec<String> =
            group.get_subcommands().map(|inside| inside.get_name().to_owned()).collect();
        if names.is_empty() { group } else { group.about(names.join(", ")) }
    })
}

fn insert(command: Command, words: &[String], line: CommandLine) -> Command {
    match words {
        [] => command,
        [last] => {
            let mut inside = Command::new(last.clone()).about(printable(&line.about));
            if !line.long_about.is_empty() {
                inside = inside.after_help(printable(&line.long_about));
            }
            command.subcommand(inside.args(line.flags.iter().map(argument)))
        }
        [first, rest @ ..] => {
            let is_there = command.find_subcommand(first).is_some();
            let command = match is_there {
                true => command,
                false => command.subcommand(Command::new(first.clone()).subcommand_required(true)),
            };
            command.mut_subcommand(first, |inside| insert(inside, rest, line))
        }
    }
}

fn argument(flag: &Flag) -> Arg {
    let mut help = flag.help.clone();
    if let Some(default) = &flag.default {
        help.push_str(&format!(" [default: {}]", shown(default)));
    }
    let arg = Arg::new(flag.name.clone())
        .long(flag.long.clone())
        .required(flag.required)
        // A value may begin with a dash; a switch may have none, so what follows it is its own.
        .allow_hyphen_values(flag.kind != Kind::Boolean)
        .help(printable(help.trim()));
    let arg = match flag.kind {
        Kind::Boolean => arg.num_args(0..=1).default_missing_value("true").value_name("true|false"),
        Kind::Array => arg.action(ArgAction::Append).value_name("ITEM"),
        Kind::Object => arg.action(ArgAction::Append).value_name("NAME=VALUE"),
        Kind::Integer | Kind::Number => arg.value_name("N"),
        Kind::String | Kind::Any => arg.value_name("TEXT"),
    };
    match flag.options.is_empty() {
        true => arg,
        false => arg.value_parser(PossibleValuesParser::new(flag.options.clone())),
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What was given, as the tool takes it.
fn arguments(line: &CommandLine, matches: &ArgMatches) -> Result<Map<String, Value>, clap::Error> {
    let mut arguments = Map::new();
    for flag in &line.flags {
        let Some(given) = matches.get_many::<String>(&flag.name) else { continue };
        let given: Vec<&String> = given.collect();
        let value = value(flag, &given).map_err(|why| {
            let message = format!("--{}: {why}\n", flag.long);
            clap::Error::raw(clap::error::ErrorKind::ValueValidation, message)
        })?;
        arguments.insert(flag.name.clone(), value);
    }
    Ok(arguments)
}

fn value(flag: &Flag, given: &[&String]) -> Result<Value, String> {
    let last = given.last().map_or("", |text| text.as_str());
    match flag.kind {
        Kind::String => Ok(json!(last)),
        Kind::Integer | Kind::Number => last
            .parse::<serde_json::Number>()
            .map(Value::Number)
            .map_err(|_| format!("{last:?} is not a number")),
        Kind::Boolean => last
            .parse::<bool>()
            .map(Value::Bool)
            .map_err(|_| format!("{last:?} is neither true nor false")),
        Kind::Array => Ok(json!(given)),
        Kind::Any => Ok(serde_json::from_str(last).unwrap_or_else(|_| json!(last))),
        Kind::Object if last.starts_with('{') => {
            serde_json::from_str(last).map_err(|error| error.to_string())
        }
        Kind::Object => {
            let pairs = given.iter().map(|pair| {
                let (name, value) = pair.split_once('=').ok_or(format!("{pair:?} has no `=`"))?;
                Ok((name.to_owned(), json!(value)))
            });
            pairs.collect::<Result<Map<_, _>, String>>().map(Value::Object)
        }
    }
}
