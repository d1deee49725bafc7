//! Generated tables of values: types × edge values, chosen by a seed. The program prints each value itself, and every way
//! to read it (list, evaluate, stop report, log message) must show the same, or before it is set nothing.

mod c;
mod cpp;
mod go;
mod javascript;
mod python;
mod rust;

use std::collections::HashMap;
use std::process::Command;

use termbridge_dap::{DebugSession, EvaluateContext, Resume, VariableInfo};

use crate::flows;
use crate::subject::{Language, Subject, stopped};
use crate::support::LIMIT;

/// The seed; `TERMBRIDGE_VALUES_SEED` replaces it.
const SEED: u64 = 28;
/// What is shown for a variable that has no value yet.
const UNSET: &str = "<not set yet>";

/// A log message with the values of some variables, which [`logged`] finds in the output.
pub(crate) fn log_message<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.fold(String::new(), |message, name| message + "\x1e" + name + "\x1f{" + name + "}")
        + "\x1e"
}

/// What a log message said of a variable.
pub(crate) fn logged(subject: &Subject, session: &DebugSession, name: &str) -> Option<String> {
    let records = subject.debugger.events().since(session.id().as_str(), 0);
    let logged: String = records.iter().filter_map(|record| record.output()).collect();
    let (_, rest) = logged.split_once(&format!("\x1e{name}\x1f"))?;
    rest.split('\x1e').next().map(str::to_owned)
}
/// Log messages take several lines, since one holds so many values.
const LOGGED_AT_ONCE: usize = 12;

/// Numbers by splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("TERMBRIDGE_VALUES_SEED").ok();
        Self(given.map_or(SEED, |seed| seed.parse().expect("a number")))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.below(among.len())]
    }
}

/// What was compared, and what of it was wrong.
#[derive(Default)]
pub(crate) struct Table {
    compared: usize,
    wrong: Vec<String>,
}

impl Table {
    /// Compares a value; none where it is not shown at all.
    pub(crate) fn compare(&mut self, place: &str, name: &str, expected: &str, shown: Option<&str>) {
        self.compared += 1;
        if shown != Some(expected) {
            self.wrong.push(format!("{place}\t{name}\t{expected}\tshown: {shown:?}"));
        }
    }

    /// Compares, at each mark, what a list, a report and an evaluation show of some variables with what the program says of
    /// them; a mark is the name of the variable that its line sets. Returns the last list.
    pub(crate) async fn compare_stops(
        &mut self,
        subject: &Subject,
        session: &DebugSession,
        marks: &[String],
        said: &[(String, String)],
        is_same: impl Fn(&str, &str, &str) -> bool,
    ) -> Vec<VariableInfo> {
        let mut listed = Vec::new();
        for mark in marks {
            let report = subject.stop_at(session, mark).await;
            listed = flows::all_locals(session, &report).await;
            let set = said.iter().position(|(name, _)| name == mark).unwrap_or(said.len());
            let frame = Some(report.frames[0].id);
            for (index, (name, said)) in said.iter().enumerate() {
                let evaluated = session.evaluate(name, frame, EvaluateContext::Repl).await.ok();
                let in_list = listed.iter().find(|local| local.name == *name);
                let in_report = report.locals.iter().find(|local| local.name == *name);
                let ways =
                    [("list", in_list), ("report", in_report), ("evaluate", evaluated.as_ref())];
                for (way, shown) in ways {
                    let (place, shown) = (format!("{mark} {way}"), shown.map(|one| &*one.value));
                    if index >= set {
                        self.compare_unset(&place, name, shown);
                    } else if way != "report" || shown.is_some() {
                        // A report has room for some.
                        let shown =
                            shown.map(|shown| if is_same(way, shown, said) { said } else { shown });
                        self.compare(&place, name, said, shown);
                    }
                }
            }
            if mark != "end" {
                session.resume(Resume::Continue, None).await.expect("goes on");
            }
        }
        listed
    }

    /// Compares a variable that is not set yet: it must not be shown, or as having no value.
    fn compare_unset(&mut self, place: &str, name: &str, shown: Option<&str>) {
        let shown = shown.filter(|shown| !shown.starts_with("<not readable: "));
        self.compare(place, name, UNSET, Some(shown.unwrap_or(UNSET)));
    }

    pub(crate) fn finish(self, at_least: usize) {
        eprintln!("{} values compared", self.compared);
        assert!(self.wrong.is_empty(), "{} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
        assert!(self.compared >= at_least, "{} are too few", self.compared);
    }
}

/// A variable of a program.
struct Local {
    name: String,
    /// The line that sets it.
    line: String,
    /// The line that prints it as `name<TAB>text`.
    print: String,
}

/// A program's source: what is before the function of the values, that function's lines, and what is behind it.
struct Program {
    before: &'static str,
    variables: Vec<Local>,
    after: &'static str,
    /// A statement that does nothing to the values, one for each log message.
    nothing: &'static str,
}

impl Program {
    /// The source, with marks at every quarter of the variables and at its end.
    fn source(&self) -> (String, Vec<String>) {
        let (mut source, mut marks) = (self.before.to_owned(), Vec::new());
        let quarter = self.variables.len() / 4;
        for (index, Local { name, line, .. }) in self.variables.iter().enumerate() {
            source.push_str(line);
            if index % quarter == 0 {
                marks.push(name.clone());
                source.push_str(&format!(" // mark: {name}"));
            }
            source.push('\n');
        }
        for index in 0..=self.variables.len() / LOGGED_AT_ONCE {
            source.push_str(&format!("{} // mark: log{index}\n", self.nothing));
        }
        marks.push("end".to_owned());
        source.push_str(&format!("{} // mark: end\n", self.nothing));
        for Local { print, .. } in &self.variables {
            source.push_str(&format!("{print}\n"));
        }
        (source + self.after, marks)
    }

    /// Runs it plainly and under the debugger, and compares.
    async fn check(self, language: Language, at_least: usize) {
        let (source, marks) = self.source();
        let subject = Subject::written(language, "generated", &source);
        let output = Command::new(subject.program()).output().expect("runs");
        let said = String::from_utf8(output.stdout).expect("text");
        let said: HashMap<_, _> = said.lines().filter_map(|line| line.split_once('\t')).collect();
        let names: Vec<_> = self.variables.iter().map(|local| local.name.as_str()).collect();
        for mark in &marks {
            subject.break_at(mark).await;
        }
        for (index, names) in names.chunks(LOGGED_AT_ONCE).enumerate() {
            let lines: Vec<_> = names.iter().map(|name| format!("1{name}\t{{{name}}}")).collect();
            let message = lines.join("\n") + "\n";
            let log = subject.breakpoint(&format!("log{index}")).log_message(&message);
            subject.debugger.set_breakpoint(log).await.expect("is set");
        }
        let session = subject.start("").await;
        let mut table = Table::default();
        let mut report = stopped(session.wait(LIMIT).await.expect("a stop"));
        for mark in &marks {
            // A line without code moves its breakpoint on.
            let behind = report.location.as_ref().expect("a location").line - subject.line(mark);
            assert!(behind <= 2, "{report:#?}");
            let listed = flows::all_locals(&session, &report).await;
            let set = names.iter().position(|name| name == mark).unwrap_or(names.len());
            let set = set + behind as usize;
            for (index, name) in names.iter().enumerate() {
                let in_list = listed.iter().find(|local| local.name == *name);
                let in_report = report.locals.iter().find(|local| local.name == *name);
                let evaluated = session.evaluate(name, None, EvaluateContext::Repl).await.ok();
                let ways =
                    [("list", in_list), ("report", in_report), ("evaluate", evaluated.as_ref())];
                for (way, shown) in ways {
                    let (place, shown) =
                        (format!("{mark} {way}"), shown.map(|one| one.value.as_str()));
                    if index >= set {
                        table.compare_unset(&place, name, shown);
                    } else if way != "report" || shown.is_some() {
                        // A report has room for some.
                        table.compare(&place, name, said[name], shown);
                    }
                }
            }
            if mark != "end" {
                report = subject.resume(&session, Resume::Continue).await;
            }
        }
        let records = subject.debugger.events().since(session.id().as_str(), 0);
        let logged: String = records.iter().filter_map(|record| record.output()).collect();
        for name in names {
            let line = logged.lines().find_map(|line| line.strip_prefix(&format!("1{name}\t")));
            table.compare("log", name, said[name], line);
        }
        session.stop().await.expect("ends");
        table.finish(at_least);
    }
}
