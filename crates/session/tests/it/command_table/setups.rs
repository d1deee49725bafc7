//! The directory and variables of one command: set for it alone, or the command does not run.

use std::path::Path;

use termbridge_session::{
    CommandReport, CommandSetup, CommandState, NewCommand, Session, SessionError,
};

use super::{home, launch_program, over, ready, run};
use crate::support::{A_WHILE, LIMIT, limited, see, sessions, until};

/// Every shell that has an integration.
pub(super) const PROGRAMS: [&str; 6] = ["bash", "zsh", "fish", "dash", "ksh", "mksh"];

/// Those of them on this machine; ksh and mksh may be missing.
pub(super) fn installed(programs: &[&'static str]) -> Vec<&'static str> {
    let is_there = |program: &&&str| {
        !matches!(**program, "ksh" | "mksh")
            || ["/bin", "/usr/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
    };
    programs.iter().filter(is_there).copied().collect()
}

async fn try_with(
    session: &Session,
    text: &str,
    cwd: Option<&str>,
    env: &[(&str, &str)],
) -> Result<CommandReport, SessionError> {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let setup = CommandSetup { cwd: cwd.map(Into::into), env, ..CommandSetup::default() };
    let command = NewCommand { text: text.into(), setup, ..NewCommand::default() };
    let id = session.submit_new(command, LIMIT).await?;
    Ok(limited(text, over(session, id)).await)
}

async fn run_with(
    session: &Session,
    text: &str,
    cwd: Option<&str>,
    env: &[(&str, &str)],
) -> CommandReport {
    try_with(session, text, cwd, env).await.expect(text)
}

fn done(exit_code: i32) -> CommandState {
    CommandState::Done { exit_code }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_needs_no_programs_to_take_a_command() {
    for program in installed(&PROGRAMS) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        let report = run_with(&session, "echo first", None, &[("PATH", "/nonexistent")]).await;
        assert_eq!((&*report.output, &report.state), ("first\n", &done(0)), "{program}");
        let report = run(&session, "echo 'a\\nb'; sh -c 'exit 4'").await;
        assert_eq!(report.state, done(4), "{program}");
        let path = if program == "fish" { "set PATH /nonexistent" } else { "PATH=/nonexistent" };
        run(&session, path).await;
        let report = run(&session, "echo last").await;
        assert_eq!((&*report.output, &report.state), ("last\n", &done(0)), "{program}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_value_of_a_variable_is_never_run() {
    const NUMBERS: [&str; 20] = [
        "RANDOM",
        "SECONDS",
        "LINENO",
        "HISTCMD",
        "OPTIND",
        "COLUMNS",
        "LINES",
        "HISTSIZE",
        "SAVEHIST",
        "TMOUT",
        "KEYTIMEOUT",
        "SHLVL",
        "MAILCHECK",
        "LISTMAX",
        "SRANDOM",
        "PERIOD",
        "LOGCHECK",
        "ERRNO",
        "OWN",
        "UNSET",
    ];
    for program in installed(&PROGRAMS) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        let declare = match program {
            "bash" | "zsh" | "ksh" => "typeset -i OWN=5 UNSET",
            // A command runs in a function there.
            "mksh" => "typeset -g -i OWN=5 UNSET",
            _ => "true",
        };
        assert_eq!(run(&session, declare).await.state, done(0), "{program}");
        let mark = home.path().join("ran");
        for name in NUMBERS {
            let value = format!("a[$(touch {})]", mark.display());
            let report = run_with(&session, "echo out", None, &[(name, &value)]).await;
            assert!(!mark.exists(), "{program}: {name}");
            let ran = report.output == "out\n" && report.state == done(0);
            let refused = report.output.starts_with("termbridge: ") && report.state == done(126);
            assert!(ran || refused, "{program}: {name}: {report:?}");
        }
        // fish sets the size of the terminal itself.
        if program != "fish" {
            let report = run_with(&session, "printenv COLUMNS", None, &[("COLUMNS", "123")]).await;
            assert_eq!(report.output, "123\n", "{program}");
        }
        if declare != "true" {
            let report = run_with(&session, "printenv OWN", None, &[("OWN", "7")]).await;
            assert_eq!(report.output, "7\n", "{program}");
            let report = run_with(&session, "printenv OWN", None, &[("OWN", "abc")]).await;
            assert_eq!(report.state, done(126), "{program}");
            assert_eq!(run(&session, "echo \"$OWN\"").await.output, "5\n", "{program}");
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_of_the_shell_itself_are_refused() {
    for (program, names) in [
        ("bash", &["PS0", "PROMPT_COMMAND", "FUNCNEST", "UID"][..]),
        ("zsh", &["UID", "EUID", "GID", "EGID", "USERNAME", "FUNCNEST"]),
        ("fish", &[]),
        ("dash", &[]),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        for name in names.iter().chain(&["__termbridge_undo", "__termbridge"]) {
            let refused = try_with(&session, "echo out", None, &[(name, "echo ran")]).await;
            let Err(SessionError::Invalid(why)) = refused else { panic!("{program}: {refused:?}") };
            assert!(why.contains(name), "{program}: {why}");
        }
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{program}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_array_is_not_replaced_by_a_variable() {
    for program in installed(&["bash", "zsh", "ksh", "mksh"]) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        run(&session, "FILES=(a b c)").await;
        let report = run_with(&session, "printenv FILES", None, &[("FILES", "x")]).await;
        assert_eq!(report.state, done(126), "{program}: {report:?}");
        assert_eq!(run(&session, "echo \"${FILES[*]}\"").await.output, "a b c\n", "{program}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_and_aliases_of_the_shell_do_not_keep_a_setup_away() {
    for (program, before) in [
        ("bash", "set -k"),
        ("bash", "set -e"),
        ("zsh", "set -e"),
        ("dash", "set -e"),
        ("bash", "alias builtin='echo aliased'"),
        ("bash", "unset PWD"),
        ("zsh", "alias builtin='echo aliased'"),
        ("dash", "alias command='echo aliased' unset='echo aliased' export='echo aliased'"),
        ("dash", "unset PWD"),
    ] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        run(&session, before).await;
        for _ in 0..2 {
            let report = run_with(&session, "pwd; printenv QQ", Some("/usr"), &[("QQ", "1")]).await;
            assert_eq!(report.output, "/usr\n1\n", "{program}: {before}");
            let (last, code) = if before == "set -e" { ("true", 0) } else { ("false", 1) };
            let report = run(&session, &format!("pwd; echo \"[$QQ]\"; {last}")).await;
            let expected = format!("{}\n[]\n", home.path().display());
            assert_eq!(
                (report.output, report.state),
                (expected, done(code)),
                "{program}: {before}"
            );
        }
        if before == "set -k" {
            assert_eq!(run(&session, "printenv X X=kept").await.output, "kept\n", "still set");
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_a_command_changed_is_no_output() {
    for program in installed(&["bash", "zsh", "dash", "ksh", "mksh"]) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        for change in
            ["PS1=\"(venv) $PS1\"; export PS1", "PS1=\"$PS1 after \"", "PS1=\"1\n2 $PS1\""]
        {
            for command in [change, "echo hi"] {
                let id = run(&session, command).await.id;
                tokio::time::sleep(A_WHILE).await;
                let report = session.command(id, 0, 100).await.expect("there").expect("known");
                assert_eq!(report.background_bytes, 0, "{program}: {change}");
            }
        }
        let screen = session.screen().await.expect("a screen").text();
        assert!(screen.contains("(venv)") && screen.contains("after"), "{program}:\n{screen}");
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_of_fish_print_nothing_into_a_command() {
    let (sessions, home) = (sessions(), home());
    let session = ready(&sessions, launch_program("fish", home.path())).await;
    run(&session, "function __h --on-variable PWD; echo HOOK; end").await;
    run(&session, "function __i --on-variable QQ; sh -c 'echo HOOK'; end").await;
    for _ in 0..3 {
        let report = run_with(&session, "echo out; false", Some("/usr"), &[("QQ", "1")]).await;
        assert_eq!((&*report.output, report.state), ("out\n", done(1)));
        assert_eq!(report.cwd.as_deref(), Some(home.path()));
    }
    assert_eq!(run(&session, "cd /usr").await.output, "HOOK\n", "its own");
    sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_for_one_command_does_not_change_the_shell_of_ksh() {
    for program in installed(&["ksh", "mksh"]) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        let options = run(&session, "set -o").await.output;
        assert!(options.contains("emacs"), "{program}: {options}");
        for name in ["EDITOR", "VISUAL"] {
            let command = format!("printenv {name}");
            let report = run_with(&session, &command, None, &[(name, "vi")]).await;
            assert_eq!(report.output, "vi\n", "{program}");
            assert_eq!(run(&session, "set -o").await.output, options, "{program}: {name}");
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_with_a_read_only_directory_stays_where_it_is() {
    let all = installed(&["bash", "zsh", "dash", "ksh", "mksh"]);
    for (program, name) in all.iter().flat_map(|program| [(program, "PWD"), (program, "OLDPWD")]) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        run(&session, &format!("readonly {name}")).await;
        let report = run_with(&session, "/bin/pwd", Some("/usr"), &[]).await;
        assert_eq!(report.state, done(126), "{program}, {name}: {report:?}");
        let report = run(&session, "/bin/pwd").await;
        assert_eq!(report.output, format!("{}\n", home.path().display()), "{program}, {name}");
        sessions.shutdown().await;
    }
}

/// The shell returns however its command ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_returns_from_the_directory_of_a_command_that_was_cut_short() {
    for program in installed(&PROGRAMS) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        let read = |path: &Path| std::fs::read_to_string(path).expect("text");
        let back = format!("{} []\n", home.path().display());
        let is_posix = matches!(program, "dash" | "ksh" | "mksh");
        let setup = CommandSetup {
            cwd: Some("/usr".into()),
            env: [("QQ".into(), "1".into())].into(),
            ..CommandSetup::default()
        };
        // At the top level, mksh ends by it.
        let leaves = ["return 3", "sh -c 'exit 3'"][usize::from(program == "mksh" || !is_posix)];
        for (text, code) in [("echo be''gan; sleep 60", 130), (leaves, 3), ("cd /nowhere/x", 1)] {
            let command =
                NewCommand { text: text.into(), setup: setup.clone(), ..NewCommand::default() };
            let id = session.submit_new(command, LIMIT).await.expect(text);
            if code == 130 {
                see(&session, "began").await;
                assert!(session.interrupt(id).await.expect("there"), "{program}");
            }
            let report = limited(text, over(&session, id)).await;
            assert_eq!(report.cwd.as_deref(), Some(home.path()), "{program}: {text}");
            let code = match (program, code) {
                // They count in their own way.
                ("dash" | "mksh", 1) => 2,
                ("ksh", 130) => 258,
                _ => code,
            };
            assert_eq!(report.state, done(code), "{program}: {text}");
            // What somebody types runs there too.
            session.send_keys("echo $PWD \"[$QQ]\" > typed<Enter>").await.expect("sent");
            let typed = home.path().join("typed");
            until("the line", || async { typed.exists() && !read(&typed).is_empty() }).await;
            assert_eq!(read(&typed), back, "{program}");
            std::fs::remove_file(&typed).expect("there");
            let report = run(&session, "echo $PWD \"[$QQ]\"").await;
            assert_eq!(report.output, back, "{program}: {text}");
        }
        sessions.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_declares_is_there_for_the_next() {
    for program in installed(&["bash", "zsh", "ksh", "mksh"]) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        let report = run(&session, "typeset -i n=2+3; typeset t=text; (exit 4)").await;
        assert_eq!(report.state, done(4), "{program}");
        assert_eq!(run(&session, "echo $? $n $t").await.output, "4 5 text\n", "{program}");
        let report = run_with(&session, "typeset u=$PWD; echo $QQ", Some("/usr"), &[("QQ", "1")]);
        assert_eq!(report.await.output, "1\n", "{program}");
        let report = run(&session, "echo $u \"[$QQ]\"").await;
        assert_eq!(report.output, "/usr []\n", "{program}");
        sessions.shutdown().await;
    }
}
