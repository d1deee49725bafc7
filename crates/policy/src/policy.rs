//! The policy: configuration made ready to decide.

use std::path::{Path, PathBuf};

use crate::allow::AllowList;
use crate::config::{ConfigError, PolicyConfig, RateLimit};
use crate::decision::{Decision, Explanation};
use crate::dialect::Dialect;
use crate::directories::{self, FileSystem, NoLooks, ReadLink};
use crate::judge::Judge;
use crate::parse::{MAX_NESTING, MAX_PARTS};
use crate::pattern::Pattern;
use crate::rate::RateLimiter;
use crate::rules::Rule;
use crate::walk::{self, Arg, Findings, MAX_EXPANSION, MAX_STEPS, Purpose, Scene, Stop, Subject};

/// Longest command line that is judged, in bytes.
pub const MAX_COMMAND: usize = 512 * 1024;

/// What may run and where.
pub struct Policy {
    deny: Vec<Pattern>,
    allow: Option<AllowList>,
    rules: Vec<Rule>,
    directories: Vec<PathBuf>,
    rate_limit: Option<RateLimit>,
    secrets_by_person: bool,
    links: Box<dyn ReadLink>,
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("deny", &self.deny)
            .field("allow", &self.allow)
            .field("rules", &self.rules)
            .field("directories", &self.directories)
            .field("rate_limit", &self.rate_limit)
            .finish_non_exhaustive()
    }
}

impl Policy {
    /// Reads a configuration. `home` is what `~` stands for in its directories.
    pub fn new(config: &PolicyConfig, home: &Path) -> Result<Self, ConfigError> {
        Self::with_links(config, home, Box::new(FileSystem))
    }

    /// The same with another way to read links.
    pub fn with_links(
        config: &PolicyConfig,
        home: &Path,
        links: Box<dyn ReadLink>,
    ) -> Result<Self, ConfigError> {
        let patterns = |rules: &[String]| -> Result<Vec<Pattern>, ConfigError> {
            rules.iter().map(|rule| Pattern::new(rule)).collect()
        };
        if config.rate_limit.is_some_and(|limit| limit.calls == 0 || limit.per_seconds == 0) {
            return Err(ConfigError::RateLimit);
        }
        Ok(Self {
            deny: patterns(&config.deny)?,
            allow: AllowList::new(&config.allow)?,
            rules: enabled_rules(config)?,
            directories: config
                .allowed_directories
                .iter()
                .map(|path| absolute(path, home))
                .collect::<Result<_, _>>()?,
            rate_limit: config.rate_limit,
            secrets_by_person: config.secrets_by_person,
            links,
        })
    }

    /// Whether a command line may run in a directory, for a user whose home is `home`.
    pub fn check_command(
        &self,
        command: &str,
        dialect: Dialect,
        cwd: &Path,
        home: &Path,
    ) -> Decision {
        self.decide(command, Scene { dialect, cwd, home, links: &*self.links })
    }

    /// The same decision, or `None` where it takes a look at the file system.
    pub fn check_command_at_once(
        &self,
        command: &str,
        dialect: Dialect,
        cwd: &Path,
        home: &Path,
    ) -> Option<Decision> {
        let links = NoLooks::default();
        let decision = self.decide(command, Scene { dialect, cwd, home, links: &links });
        (!links.was_asked()).then_some(decision)
    }

    fn decide(&self, command: &str, scene: Scene<'_>) -> Decision {
        if let Some(refusal) = too_long(command) {
            return refusal;
        }
        let findings = walk::walk(self.judge(), Subject::Line(command), scene, Purpose::Decide);
        self.conclude(command, &findings)
    }

    /// The same decision with how it came about.
    pub fn explain(&self, command: &str, dialect: Dialect, cwd: &Path, home: &Path) -> Explanation {
        if let Some(decision) = too_long(command) {
            return Explanation { decision, commands: Vec::new(), left_out: 0, syntax_error: None };
        }
        let scene = Scene { dialect, cwd, home, links: &*self.links };
        let findings = walk::walk(self.judge(), Subject::Line(command), scene, Purpose::Explain);
        let decision = self.conclude(command, &findings);
        let Findings { commands, left_out, syntax_error, .. } = findings;
        Explanation { decision, commands, left_out, syntax_error }
    }

    /// Whether a program may be started with these arguments, the program first. No shell reads them.
    pub fn check_program(&self, words: &[impl AsRef<str>], cwd: &Path, home: &Path) -> Decision {
        let args: Vec<Arg> = words.iter().map(|word| Arg::literal(word.as_ref())).collect();
        let part = words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" ");
        if let Some(refusal) = too_long(&part) {
            return refusal;
        }
        let scene = Scene { dialect: Dialect::Bash, cwd, home, links: &*self.links };
        let findings = walk::walk(self.judge(), Subject::Program(&args), scene, Purpose::Decide);
        self.conclude(&part, &findings)
    }

    /// Whether a program or a shell of that dialect may be started with a variable set. Prompts and
    /// the like are code.
    pub fn check_variable(
        &self,
        name: &str,
        value: &str,
        dialect: Dialect,
        cwd: &Path,
        home: &Path,
    ) -> Decision {
        let part = format!("{name}={value}");
        if let Some(refusal) = too_long(&part) {
            return refusal;
        }
        let scene = Scene { dialect, cwd, home, links: &*self.links };
        let function;
        let subject = match name {
            "PROMPT_COMMAND" => Some(Subject::Line(value)),
            "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT" | "RPROMPT" | "RPS1" => {
                Some(Subject::Prompt(value))
            }
            _ if name.starts_with("BASH_FUNC_") => {
                function = format!("f {value}");
                Some(Subject::Line(&function))
            }
            _ => None,
        };
        let found = subject.map(|subject| {
            let findings = walk::walk(self.judge(), subject, scene, Purpose::Decide);
            self.conclude(&part, &findings)
        });
        if let Some(refused @ Decision::Deny { .. }) = found {
            return refused;
        }
        match self.judge().variable(name, Some(value)) {
            Some(hit) => Decision::deny(hit.rule, hit.reason, &part),
            None => Decision::allow("no rule matched"),
        }
    }

    /// Whether only what is listed may run.
    pub fn has_allow_list(&self) -> bool {
        self.allow.is_some()
    }

    /// The directories that are allowed; without any, all are.
    pub fn allowed_directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Whether a session may start in a directory, or a file be used.
    pub fn check_path(&self, path: &Path) -> Decision {
        if self.directories.is_empty() {
            return Decision::allow("all directories are allowed");
        }
        let deny =
            |reason: String| Decision::deny("allowed_directories", reason, &path.to_string_lossy());
        let resolved = match directories::resolve(path, &*self.links) {
            Ok(resolved) => resolved,
            Err(error) => return deny(error.to_string()),
        };
        // Directories are resolved at each check: they too may be links, and may change.
        let within = self.directories.iter().find(|directory| {
            directories::resolve(directory, &*self.links)
                .is_ok_and(|directory| resolved.starts_with(directory))
        });
        match within {
            Some(directory) => Decision::allow(format!("it is in {}", directory.display())),
            None => {
                let allowed: Vec<String> =
                    self.directories.iter().map(|path| path.display().to_string()).collect();
                let allowed = allowed.join(", ");
                deny(match resolved == path {
                    true => format!("allowed are {allowed}"),
                    false => format!("it leads to {}; allowed are {allowed}", resolved.display()),
                })
            }
        }
    }

    /// Whether only a person may type a hidden line, such as a password.
    pub fn secrets_by_person(&self) -> bool {
        self.secrets_by_person
    }

    /// A limiter for this policy's rate, if it has one.
    pub fn rate_limiter(&self) -> Option<RateLimiter> {
        self.rate_limit.map(RateLimiter::new)
    }

    fn judge(&self) -> Judge<'_> {
        Judge { deny: &self.deny, allow: self.allow.as_ref(), rules: &self.rules }
    }

    fn conclude(&self, command: &str, findings: &Findings) -> Decision {
        if let Some(denial) = &findings.denial {
            return denial.clone();
        }
        match findings.stop {
            Some(Stop::TooDeep) => {
                let reason = format!("commands are nested more than {MAX_NESTING} deep");
                return Decision::deny("nesting", reason, command);
            }
            Some(Stop::TooMuch) => {
                let reason = format!(
                    "the line has more than {MAX_PARTS} words, or takes more than {MAX_STEPS} steps or \
                     {MAX_EXPANSION} bytes to follow: put it in a script file"
                );
                return Decision::deny("size", reason, command);
            }
            // A refusal stands in `denial` then.
            Some(Stop::Decided) | None => {}
        }
        if self.allow.is_some() && (findings.doubt || findings.syntax_error.is_some()) {
            let why = findings
                .syntax_error
                .as_deref()
                .unwrap_or("what it runs depends on the shell, or on values that are not known");
            let reason = format!("it cannot be checked against the allow list: {why}");
            return Decision::deny("allow", reason, command);
        }
        if self.allow.is_some() && findings.evaluates {
            let reason = "it evaluates a text as arithmetic or as the name of a variable, which can \
                          run what the text holds: with an allow list only plain numbers are \
                          evaluated, as in $((1 + 2))";
            return Decision::deny("allow", reason, command);
        }
        match &findings.syntax_error {
            Some(error) => {
                Decision::allow(format!("no rule matched its words; it does not parse: {error}"))
            }
            None if self.allow.is_none() => Decision::allow("no rule matched"),
            None => Decision::allow("the allow list names every command in it"),
        }
    }
}

/// The built-in rules: the name of each, and what it refuses.
pub fn built_in_rules() -> [(&'static str, &'static str); Rule::ALL.len()] {
    Rule::ALL.map(|rule| (rule.name(), rule.description()))
}

fn rule_names() -> Vec<&'static str> {
    Rule::ALL.iter().map(|rule| rule.name()).collect()
}

fn enabled_rules(config: &PolicyConfig) -> Result<Vec<Rule>, ConfigError> {
    let unknown = config.disabled_rules.iter().find(|name| !rule_names().contains(&name.as_str()));
    if let Some(name) = unknown {
        return Err(ConfigError::UnknownRule { name: name.clone(), known: rule_names() });
    }
    if !config.default_rules {
        return Ok(Vec::new());
    }
    let enabled = |rule: &Rule| !config.disabled_rules.iter().any(|name| name == rule.name());
    Ok(Rule::ALL.into_iter().filter(enabled).collect())
}

fn absolute(path: &Path, home: &Path) -> Result<PathBuf, ConfigError> {
    let expanded = match path.strip_prefix("~") {
        Ok(rest) => home.join(rest),
        Err(_) => path.to_owned(),
    };
    if expanded.is_absolute() {
        Ok(expanded)
    } else {
        Err(ConfigError::RelativeDirectory { path: path.to_owned() })
    }
}

fn too_long(command: &str) -> Option<Decision> {
    (command.len() > MAX_COMMAND).then(|| {
        let reason = format!(
            "the command is {} bytes long: at most {MAX_COMMAND} are judged, put it in a script file",
            command.len()
        );
        Decision::deny("length", reason, command)
    })
}
