//! Help texts fit a terminal of 80 columns, and are wrapped once: by the terminal's width.

use clap::{Command, CommandFactory};

use super::Arguments;

const WIDTH: usize = 80;

#[test]
fn paragraphs_are_wrapped_by_the_terminal_alone() {
    let mut checked = 0;
    check(&Arguments::command(), &mut checked);
    assert!(checked > 10, "{checked}");
}

fn check(command: &Command, checked: &mut u32) {
    let name = command.get_name();
    if let Some(text) = command.get_after_help() {
        let text = text.to_string();
        let lines: Vec<&str> = text.lines().collect();
        let is_prose =
            |line: &str| !line.is_empty() && !line.starts_with(' ') && !line.ends_with(':');
        for pair in lines.windows(2) {
            let is_wrapped = is_prose(pair[0]) && is_prose(pair[1]);
            assert!(!is_wrapped, "{name}: one paragraph, two lines: {pair:#?}");
        }
        for line in lines.iter().filter(|line| line.starts_with(' ')) {
            assert!(line.chars().count() <= WIDTH, "{name}: wider than {WIDTH}: {line}");
        }
        *checked += 1;
    }
    for arg in command.get_arguments() {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        assert!(!help.contains('\n'), "{name} {}: {help}", arg.get_id());
    }
    for command in command.get_subcommands() {
        check(command, checked);
    }
}
