//! A test file of libvterm as a list of named tests.

/// A named part of a file.
pub(crate) struct Test {
    /// The name behind `!`; the file's name before the first one.
    pub(crate) name: String,
    /// What is done.
    pub(crate) steps: Vec<Step>,
}

/// A command with what it has to cause, or an assertion.
pub(crate) struct Step {
    /// Number of the line.
    pub(crate) line: usize,
    /// What the line is.
    pub(crate) action: Action,
}

/// A line that begins a step.
pub(crate) enum Action {
    /// A command, and the events that are expected.
    Command {
        /// Its name.
        name: String,
        /// What is behind the name.
        argument: String,
        /// Lines of events.
        events: Vec<String>,
    },
    /// `?query = wanted`.
    Assertion {
        /// What is asked.
        query: String,
        /// The answer.
        wanted: String,
    },
}

/// Reads a file.
pub(crate) fn parse(file: &str, text: &str) -> Vec<Test> {
    let mut tests = vec![Test { name: format!("(start of {file})"), steps: Vec::new() }];
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        if line == "__END__" {
            break;
        }
        if !line.is_empty() && !line.starts_with('#') {
            parse_line(line, index + 1, &mut tests);
        }
    }
    tests
}

fn parse_line(line: &str, number: usize, tests: &mut Vec<Test>) {
    if let Some(rest) = line.strip_prefix("$SEQ ") {
        let (range, inner) = rest.split_once(':').expect("a line behind $SEQ");
        let mut limits =
            range.split_whitespace().map(|limit| limit.parse::<u32>().expect("a number"));
        let (low, high) = (limits.next().expect("a limit"), limits.next().expect("a limit"));
        for value in low..=high {
            parse_line(inner.replace("\\#", &value.to_string()).trim_start(), number, tests);
        }
        return;
    }
    if let Some(rest) = line.strip_prefix("$REP ") {
        let (count, inner) = rest.split_once(':').expect("a line behind $REP");
        for _ in 0..count.trim().parse().expect("a number") {
            parse_line(inner.trim_start(), number, tests);
        }
        return;
    }
    if let Some(name) = line.strip_prefix('!') {
        tests.push(Test { name: name.trim().to_owned(), steps: Vec::new() });
        return;
    }
    let steps = &mut tests.last_mut().expect("there is one").steps;
    let action = if let Some(rest) = line.strip_prefix('?') {
        let (query, wanted) = rest.split_once('=').expect("an answer behind the query");
        Action::Assertion { query: query.trim().to_owned(), wanted: wanted.trim().to_owned() }
    } else if line.starts_with(|c: char| c.is_ascii_uppercase()) {
        let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
        Action::Command {
            name: name.to_owned(),
            argument: argument.trim().to_owned(),
            events: Vec::new(),
        }
    } else {
        // An assertion can be between a command and its events.
        let command = steps.iter_mut().rev().find_map(|step| match &mut step.action {
            Action::Command { events, .. } => Some(events),
            Action::Assertion { .. } => None,
        });
        command.expect("a command before its events").push(line.trim_end().to_owned());
        return;
    };
    steps.push(Step { line: number, action });
}
