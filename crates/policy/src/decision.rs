//! What the policy says, and why.

/// Longest piece of a command line quoted in a refusal, in characters.
const MAX_PART: usize = 200;

/// The answer to "may this be done?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may.
    Allow {
        /// What that rests on.
        why: String,
    },
    /// It may not.
    Deny {
        /// The rule: the name of a default rule, or a rule of the configuration as written.
        rule: String,
        /// What would have happened, in words for the agent.
        reason: String,
        /// The piece that hit, cut at 200 characters.
        part: String,
    },
}

impl Decision {
    /// Whether it may be done.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    pub(crate) fn allow(why: impl Into<String>) -> Self {
        Self::Allow { why: why.into() }
    }

    pub(crate) fn deny(rule: impl Into<String>, reason: impl Into<String>, part: &str) -> Self {
        let part = part.trim();
        let part = match part.char_indices().nth(MAX_PART) {
            Some((end, _)) => format!("{}…", &part[..end]),
            None => part.to_owned(),
        };
        Self::Deny { rule: rule.into(), reason: reason.into(), part }
    }
}

/// How a decision on a command line came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The decision, the same as without an explanation.
    pub decision: Decision,
    /// The simple commands found, in the order in which they were reached. A command that runs
    /// another comes before it.
    pub commands: Vec<Judged>,
    /// How many commands were found beyond the [`MAX_EXPLAINED`](crate::MAX_EXPLAINED) listed.
    pub left_out: usize,
    /// Where the text is no shell syntax; what follows was scanned for words.
    pub syntax_error: Option<String>,
}

/// One simple command and what was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Its words after expansion; `…` stands for what is not known before it runs.
    pub words: Vec<String>,
    /// How it was reached, outermost first: `sudo`, `$(…)`, `function f`. Empty for a command that
    /// stands in the line itself.
    pub via: Vec<String>,
    /// What was said of it.
    pub verdict: Verdict,
}

/// What was said of one simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No rule matched.
    Passed,
    /// A rule matched.
    Denied {
        /// The rule.
        rule: String,
        /// What would have happened.
        reason: String,
    },
}
