//! `GoogleTest` and Catch2: how their programs are known, list their tests and run one.

use super::Chosen;
use crate::test_finder::Runner;

/// What a test program was built with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    GoogleTest,
    /// Catch2 of version 2.
    Catch2,
    /// Catch2 from version 3 on.
    Catch3,
}

/// What programs have in their bytes: a symbol of the library or, without symbols, the name of an option; the name of
/// a class of Catch2; the option that only version 2 has.
const MARKS: [&str; 4] =
    ["MakeAndRegisterTestInfo", "gtest_list_tests", "N5Catch", "list-test-names-only"];

impl Framework {
    pub(super) fn marks<'a>() -> impl Iterator<Item = &'a [u8]> {
        MARKS.iter().map(|mark| mark.as_bytes())
    }

    /// By which of the marks a program has.
    pub(super) fn by_marks(has: &[bool]) -> Option<Self> {
        match has {
            [true, ..] | [_, true, ..] => Some(Self::GoogleTest),
            [_, _, true, true] => Some(Self::Catch2),
            [_, _, true, false] => Some(Self::Catch3),
            _ => None,
        }
    }

    pub(super) fn runner(self) -> Runner {
        match self {
            Self::GoogleTest => Runner::GoogleTest,
            Self::Catch2 | Self::Catch3 => Runner::Catch2,
        }
    }

    /// The arguments that list the tests.
    pub(super) fn list_arguments(self) -> &'static [&'static str] {
        match self {
            Self::GoogleTest => &["--gtest_list_tests"],
            Self::Catch2 => &["--list-test-names-only"],
            Self::Catch3 => &["--list-tests", "--verbosity", "quiet"],
        }
    }

    /// The names in such a list.
    pub(super) fn listed(self, output: &str) -> Vec<String> {
        let lines = output.lines();
        if self != Self::GoogleTest {
            let names = lines.map(|line| unquoted(line.trim()).to_owned());
            return names.filter(|name| !name.is_empty()).collect();
        }
        let (mut names, mut suite) = (Vec::new(), None);
        for line in lines {
            let name = line.split("  # ").next().unwrap_or(line).trim_end();
            match (name.strip_prefix("  "), suite) {
                (Some(name), Some(suite)) => names.push(format!("{suite}{name}")),
                // A suite ends with a dot; a program may print other lines.
                _ => suite = Some(name).filter(|name| name.ends_with('.') && !name.contains(' ')),
            }
        }
        names
    }

    /// The arguments that run a test, which traps where it fails.
    pub(super) fn run_arguments(self, chosen: &Chosen) -> Vec<String> {
        if self == Self::GoogleTest {
            let options = [
                "--gtest_also_run_disabled_tests",
                "--gtest_break_on_failure",
                // An exception that the framework catches has lost its place.
                "--gtest_catch_exceptions=0",
            ];
            let filter = format!("--gtest_filter={}", chosen.pattern());
            return [filter].into_iter().chain(options.map(str::to_owned)).collect();
        }
        let mut arguments = vec![chosen.pattern()];
        if let Chosen::Case { sections, .. } = chosen {
            arguments
                .extend(sections.iter().flat_map(|section| ["-c".to_owned(), section.clone()]));
        }
        arguments.push("--break".to_owned());
        arguments
    }
}

/// A name as Catch2 lists it: one that begins with # is in quotes.
fn unquoted(name: &str) -> &str {
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    inner.filter(|name| name.starts_with('#')).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_googletest_has_full_names() {
        let output = "Running main() from gtest_main.cc\nCalc.\n  Adds\n  DISABLED_Divides\nStack/0.  # TypeParam = int\n  Grows\nAll/Even.\n  IsEven/0  # GetParam() = 2\n";
        let expected = ["Calc.Adds", "Calc.DISABLED_Divides", "Stack/0.Grows", "All/Even.IsEven/0"];
        assert_eq!(Framework::GoogleTest.listed(output), expected);
    }

    #[test]
    fn a_list_of_catch_is_its_names() {
        assert_eq!(Framework::Catch2.listed("adds\n\"#1\"\n  \n"), ["adds", "#1"]);
        assert_eq!(
            Framework::Catch2.listed("reads \"x\"\n\"y\" too"),
            ["reads \"x\"", "\"y\" too"]
        );
    }

    #[test]
    fn a_program_is_known_by_its_marks() {
        use Framework::{Catch2, Catch3, GoogleTest};
        let by = |has: [bool; 4]| Framework::by_marks(&has);
        assert_eq!(by([true, false, false, false]), Some(GoogleTest));
        assert_eq!(by([false, true, false, false]), Some(GoogleTest));
        assert_eq!(by([false, false, true, true]), Some(Catch2));
        assert_eq!(by([false, false, true, false]), Some(Catch3));
        assert_eq!(by([false, false, false, true]), None);
    }
}
