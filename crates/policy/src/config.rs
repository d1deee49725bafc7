//! The `[policy]` table of the configuration file.

use std::path::PathBuf;

use serde::Deserialize;

/// The `[policy]` table.
///
/// ```toml
/// [policy]
/// deny = ["git push --force", "npm publish"]
/// allow = []
/// allowed_directories = ["~/projects"]
/// rate_limit = { calls = 100, per_seconds = 10 }
/// secrets_by_person = true
/// default_rules = true
/// disabled_rules = ["pipe-to-shell"]
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyConfig {
    /// Commands that never run. See [`Pattern`](crate::Pattern) for how to write one.
    pub deny: Vec<String>,
    /// When not empty, the only commands that run. Denial wins over it. Beside commands it may name
    /// variables that may be set (`RUST_LOG=*`) and files that may be redirected to or from
    /// (`> /tmp/*`, `< data/*`). `*` allows everything.
    pub allow: Vec<String>,
    /// When not empty, the directories in which sessions and programs start, commands begin and `cwd`
    /// may point to; links are resolved. Absolute, or below `~`. What a command does then is not
    /// checked: it may open files elsewhere, by an absolute path for example. Their files, and no others, can be read
    /// as resources.
    pub allowed_directories: Vec<PathBuf>,
    /// How many calls an agent may make. None by default.
    pub rate_limit: Option<RateLimit>,
    /// Whether only a person may type a hidden line, such as a password. Ctrl+C and its like are
    /// typed in any case.
    pub secrets_by_person: bool,
    /// Whether the built-in rules apply.
    pub default_rules: bool,
    /// Built-in rules to leave out, by name.
    pub disabled_rules: Vec<String>,
}

impl Default for PolicyConfig {
    fn default() -> Self {
        Self {
            deny: Vec::new(),
            allow: Vec::new(),
            allowed_directories: Vec::new(),
            rate_limit: None,
            secrets_by_person: false,
            default_rules: true,
            disabled_rules: Vec::new(),
        }
    }
}

/// A number of calls in a time: as many at once, then evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// How many calls.
    pub calls: u32,
    /// In how many seconds.
    pub per_seconds: u32,
}

/// Why a configuration is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A rule that is not one command of plain words.
    #[error("the rule `{rule}` is not a command: {problem}")]
    Rule {
        /// The rule as written.
        rule: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A name that no built-in rule has.
    #[error("there is no built-in rule `{name}`: the rules are {}", known.join(", "))]
    UnknownRule {
        /// The name as written.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A directory that depends on where the server was started.
    #[error("the directory `{}` is not absolute: write it from `/` or `~/`", path.display())]
    RelativeDirectory {
        /// The directory as written.
        path: PathBuf,
    },
    /// A rate limit that lets nothing through or has no time.
    #[error("the rate limit must be at least 1 call per 1 second")]
    RateLimit,
}
