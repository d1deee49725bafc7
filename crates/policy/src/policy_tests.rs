//! Configuration, rules of users, directories, explanations.

use std::path::Path;

use crate::{ConfigError, Decision, Dialect, Policy, PolicyConfig, RateLimit, Verdict};

const HOME: &str = "/home/ann";
const CWD: &str = "/home/ann/project";

fn policy(toml: &str) -> Policy {
    let config: PolicyConfig = toml::from_str(toml).unwrap();
    Policy::new(&config, Path::new(HOME)).unwrap()
}

fn runs(policy: &Policy, command: &str) -> bool {
    policy.check_command(command, Dialect::Bash, Path::new(CWD), Path::new(HOME)).is_allowed()
}

#[test]
fn a_configuration_is_read_from_toml() {
    let config: PolicyConfig = toml::from_str(
        r#"
        deny = ["npm publish"]
        allowed_directories = ["~/project", "/tmp"]
        rate_limit = { calls = 100, per_seconds = 10 }
        "#,
    )
    .unwrap();
    assert!(config.default_rules);
    assert_eq!(config.rate_limit, Some(RateLimit { calls: 100, per_seconds: 10 }));
    assert!(toml::from_str::<PolicyConfig>("denny = []").is_err());
    assert_eq!(toml::from_str::<PolicyConfig>("").unwrap(), PolicyConfig::default());
}

#[test]
fn a_configuration_that_says_nothing_sound_is_refused() {
    let new = |config: PolicyConfig| Policy::new(&config, Path::new(HOME)).map(|_| ());
    for rule in ["", "a | b", "a; b", "$x", "a > b", "x=1 a", "'"] {
        let config = PolicyConfig { deny: vec![rule.to_owned()], ..PolicyConfig::default() };
        assert!(matches!(new(config), Err(ConfigError::Rule { .. })), "{rule}");
    }
    let config = PolicyConfig { disabled_rules: vec!["x".into()], ..PolicyConfig::default() };
    assert!(matches!(new(config), Err(ConfigError::UnknownRule { .. })));
    let config = PolicyConfig { allowed_directories: vec!["a".into()], ..PolicyConfig::default() };
    assert!(matches!(new(config), Err(ConfigError::RelativeDirectory { .. })));
    let rate_limit = Some(RateLimit { calls: 0, per_seconds: 1 });
    assert_eq!(
        new(PolicyConfig { rate_limit, ..PolicyConfig::default() }),
        Err(ConfigError::RateLimit)
    );
}

#[test]
fn the_deny_list_reaches_everywhere() {
    let policy = policy(r#"deny = ["git push --force", "npm publish", "rm -rf /srv/*"]"#);
    for command in [
        "git push --force",
        "git push -f origin main",
        "git -C dir push --force",
        "sudo git push origin --force",
        "bash -c 'cd x && git push --force'",
        "x=publish; npm $x",
        "npm --prefix x publish",
        "cd /srv && rm -rf www",
        "rm --recursive --force /srv/www",
        "env -vS 'git push --force'",
        "env -iS 'git push --force'",
        "env -i0S'git push --force'",
        "bash -c '$0 push --force' git",
        "bash -c '$0 \"$@\"' git push --force",
        "numactl -N 0 git push --force",
        "numactl --membind 0 -C 1 git push --force",
    ] {
        assert!(!runs(&policy, command), "{command}");
    }
    for command in [
        "git push",
        "git push origin main",
        "npm run publish",
        "git commit -m 'git push --force'",
        "rm -r /srv/www",
        "rm -rf /tmp/srv/x",
        "echo npm publish",
    ] {
        assert!(runs(&policy, command), "{command}");
    }
}

#[test]
fn a_denial_names_the_rule_and_the_part() {
    let policy = policy(r#"deny = ["npm publish"]"#);
    let decision = policy.check_command(
        "ls; sudo npm publish --tag x | cat",
        Dialect::Bash,
        Path::new(CWD),
        Path::new(HOME),
    );
    let Decision::Deny { rule, part, .. } = decision else { panic!("{decision:?}") };
    assert_eq!(rule, "npm publish");
    assert_eq!(part, "sudo npm publish --tag x");
}

#[test]
fn with_an_allow_list_nothing_else_runs() {
    let policy = policy(r#"allow = ["git status", "ls", "cargo", "cd", "rm -rf /tmp/*"]"#);
    for command in [
        "git status --short",
        "ls -l | ls",
        "cd x && cargo test",
        "bash -c 'ls; git status'",
        "timeout 5 ls",
        "rm -rf /tmp/x /tmp/y",
        "A=1",
        "/usr/bin/git status",
        "ls > /dev/null 2>&1 < /dev/null",
        "cargo test 2>&1 | ls",
        "true && ls || :",
        "f() { ls; }; f",
        "for d in a b; do ls $d; done",
        "# nothing",
    ] {
        let decision =
            policy.check_command(command, Dialect::Bash, Path::new(CWD), Path::new(HOME));
        assert!(decision.is_allowed(), "{command}: {decision:?}");
    }
    for command in [
        "git push",
        "cat x",
        "ls | sh",
        "ls $(cat x)",
        "sudo ls",
        "$X",
        "rm -rf /tmp/x /home/ann/y",
        "rm -rf /tmp/../home/ann/y",
        "rm -rf /tmp/$X",
        "ls; \"unclosed",
        "bash script.sh",
    ] {
        assert!(!runs(&policy, command), "{command}");
    }
}

#[test]
fn an_allow_list_fails_closed() {
    let policy = policy(r#"allow = ["git", "ls", "cargo", "export", "read", "env", "printf"]"#);
    let many = (0..100).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let beyond = format!("for c in {many} cat; do $c; done");
    for command in [
        // Not understood.
        "ls \"${x:-'}\" '}\"; cat y #'",
        "x='$(cat y)'; ls ${x@P}",
        "ls $(ls <<E)\ncat y\nE\n",
        "ls <<E\nwithout an end",
        // Variables.
        "LD_PRELOAD=/tmp/x.so ls",
        "PATH=. ls",
        "A=1 ls",
        "env A=1 ls",
        "env -- A=1 ls",
        "env -S 'A=1 ls'",
        "PATH=/tmp:$PATH",
        "PATH+=:/tmp; ls",
        "export PATH=/tmp",
        "export LD_PRELOAD",
        "read PATH",
        "printf -v PATH /tmp",
        "for PATH in /tmp; do ls; done",
        ": ${GIT_PAGER:=cat x}; git log",
        "GIT_SSH_COMMAND=x; git fetch",
        "BASH_ENV=x",
        // Redirections.
        "ls > out",
        "ls >> out",
        "ls < in",
        "> out",
        "{ ls; } > out",
        "ls &> out",
        "ls >&$fd",
        "ls <> out",
        // Other programs of that name.
        "./git status",
        "/tmp/git status",
        "../git status",
        "~/bin/git status",
        "bin/ls",
        "/usr/bin/../../tmp/git status",
        "/???/git status",
        "./env ls",
        "/tmp/bash -c ls",
        "./timeout 5 ls",
        "command ./git status",
        // Shells with files of their own, and programs that do more than run another.
        "bash --rcfile x -ic ls",
        "bash -O extglob -c ls",
        "strace -o out ls",
        "parallel ls ::: a",
        "time -o out ls",
        // Beyond the bound.
        beyond.as_str(),
        // A function that may not be there.
        "if ls; then cat() { ls; }; fi; cat x",
        "alias ls=cat; ls x",
    ] {
        assert!(!runs(&policy, command), "{command}");
    }
    let listed = format!("for d in {many}; do ls $d; done");
    assert!(runs(&policy, &listed), "a rule without operands allows any");
}

#[test]
fn an_allow_list_may_name_variables_and_files() {
    let policy = policy(
        r#"allow = ["ls", "cargo", "RUST_LOG=*", "CARGO_*=*", "TZ=UTC", "> /tmp/*", ">> *.log", "< data/*"]"#,
    );
    for command in [
        "RUST_LOG=debug cargo run",
        "env RUST_LOG=debug CARGO_HOME=x cargo run",
        "TZ=UTC ls",
        "ls > /tmp/out",
        "ls >> /tmp/out",
        "ls >> build.log",
        "cargo run < data/in",
        "{ ls; cargo run; } > /tmp/out",
    ] {
        assert!(runs(&policy, command), "{command}");
    }
    for command in [
        "TZ=x ls",
        "TZ=$X ls",
        "RUST_LOGS=x ls",
        "ls > /tmp/../etc/x",
        "ls > build.log",
        "ls > $X",
        "cargo run < /data/in",
    ] {
        assert!(!runs(&policy, command), "{command}");
    }
    let config = PolicyConfig { deny: vec!["> /etc/*".into()], ..PolicyConfig::default() };
    assert!(Policy::new(&config, Path::new(HOME)).is_err(), "a deny list names commands");
}

#[test]
fn programs_and_variables_are_judged_without_a_shell() {
    let free = policy("");
    let listed = policy(r#"allow = ["git", "TZ=*", "/srv/app/*"]"#);
    let (cwd, home) = (Path::new(CWD), Path::new(HOME));
    let program =
        |policy: &Policy, words: &[&str]| policy.check_program(words, cwd, home).is_allowed();
    assert!(!program(&free, &["bash", "-c", "rm -rf /"]));
    assert!(program(&free, &["echo", "; rm -rf /", "$(rm -rf /)"]), "they are words");
    assert!(program(&listed, &["git", "status"]));
    assert!(program(&listed, &["/srv/app/run", "x"]));
    for words in [["./git", "x"], ["/tmp/git", "x"], ["A=1", "git"], ["debug_attach", "python"]] {
        assert!(!program(&listed, &words), "{words:?}");
    }
    let variable = |policy: &Policy, name: &str, value: &str| {
        policy.check_variable(name, value, Dialect::Bash, cwd, home).is_allowed()
    };
    for (name, value) in [
        ("PROMPT_COMMAND", "rm -rf /"),
        ("PS1", "$(rm -rf /)$ "),
        ("PS0", "`rm -rf /`"),
        ("BASH_FUNC_ls%%", "() { rm -rf /; }"),
    ] {
        assert!(!variable(&free, name, value), "{name}");
    }
    for (name, value) in [("PS1", "$ "), ("LD_PRELOAD", "x.so"), ("A", "$(rm -rf /)")] {
        assert!(variable(&free, name, value), "{name}");
    }
    assert!(variable(&listed, "TZ", "UTC"));
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "BASH_ENV",
        "ENV",
        "PS0",
        "PATH",
        "ZDOTDIR",
        "GIT_EDITOR",
        "A",
    ] {
        assert!(!variable(&listed, name, "x"), "{name}");
    }
}

#[test]
fn denial_wins_over_the_allow_list() {
    let policy = policy(r#"allow = ["*"]"#);
    assert!(runs(&policy, "anything at all"));
    assert!(!runs(&policy, "rm -rf /"));
}

#[test]
fn default_rules_can_be_left_out() {
    assert!(runs(&policy("default_rules = false"), "rm -rf /"));
    let policy = policy(r#"disabled_rules = ["pipe-to-shell"]"#);
    assert!(runs(&policy, "curl x | sh"));
    assert!(!runs(&policy, "rm -rf /"));
}

#[test]
fn an_explanation_shows_how_each_command_was_reached() {
    let policy = policy("");
    let explanation = policy.explain(
        "ls $X; sudo bash -c 'cd / && rm -rf .'",
        Dialect::Bash,
        Path::new(CWD),
        Path::new(HOME),
    );
    let lines: Vec<String> = explanation
        .commands
        .iter()
        .map(|found| {
            let denied = matches!(found.verdict, Verdict::Denied { .. });
            let mark = if denied { "!" } else { " " };
            format!("{mark} {} < {}", found.words.join(" "), found.via.join(" < "))
        })
        .collect();
    assert_eq!(
        lines,
        [
            "  ls … < ",
            "  sudo bash -c cd / && rm -rf . < ",
            "  bash -c cd / && rm -rf . < sudo",
            "  cd / < sudo < bash",
            "! rm -rf . < sudo < bash",
        ]
    );
    assert!(!explanation.decision.is_allowed());
}

#[test]
fn an_explanation_decides_as_a_check_does() {
    let policy = policy("");
    for command in ["ls", "rm -rf /", "a && rm -rf / && b", "echo \"open", ":(){ :|:& };:"] {
        let checked = policy.check_command(command, Dialect::Bash, Path::new(CWD), Path::new(HOME));
        let explained = policy.explain(command, Dialect::Bash, Path::new(CWD), Path::new(HOME));
        assert_eq!(checked, explained.decision, "{command}");
    }
}

#[test]
fn every_path_is_allowed_without_directories() {
    assert!(policy("").check_path(Path::new("/etc/passwd")).is_allowed());
}

#[test]
fn a_decision_is_made_at_once_unless_it_takes_a_look_at_the_file_system() {
    let policy = policy("");
    let at_once = |command| {
        policy.check_command_at_once(command, Dialect::Bash, Path::new(CWD), Path::new(HOME))
    };
    for command in ["echo hi", "rm -rf /", "make && ./run", "if true; then cat x; fi"] {
        let decision = at_once(command).map(|decision| decision.is_allowed());
        assert_eq!(decision, Some(runs(&policy, command)), "{command}");
    }
    for command in ["cd build && rm -rf *", "c\\d /slow; ls", "pushd sub"] {
        assert_eq!(at_once(command), None, "{command}");
    }
}
