//! Configuration, rules of users, directories, explanations.

use std::path::Path;

use crate::{ConfigError, Decision, Policy, PolicyConfig, RateLimit, Verdict, rule_names};

const HOME: &str = "/home/ann";
const CWD: &str = "/home/ann/project";

fn policy(toml: &str) -> Policy {
    let config: PolicyConfig = toml::from_str(toml).unwrap();
    Policy::new(&config, Path::new(HOME)).unwrap()
}

fn runs(policy: &Policy, command: &str) -> bool {
    policy.check_command(command, Path::new(CWD), Path::new(HOME)).is_allowed()
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
    let decision =
        policy.check_command("ls; sudo npm publish --tag x | cat", Path::new(CWD), Path::new(HOME));
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
        "env A=1 cargo build",
        "bash -c 'ls; git status'",
        "timeout 5 ls",
        "rm -rf /tmp/x /tmp/y",
        "A=1",
    ] {
        assert!(runs(&policy, command), "{command}");
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
    assert_eq!(rule_names().len(), 10);
}

#[test]
fn an_explanation_shows_how_each_command_was_reached() {
    let policy = policy("");
    let explanation =
        policy.explain("ls $X; sudo bash -c 'cd / && rm -rf .'", Path::new(CWD), Path::new(HOME));
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
        let checked = policy.check_command(command, Path::new(CWD), Path::new(HOME));
        let explained = policy.explain(command, Path::new(CWD), Path::new(HOME));
        assert_eq!(checked, explained.decision, "{command}");
    }
}

#[test]
fn every_path_is_allowed_without_directories() {
    assert!(policy("").check_path(Path::new("/etc/passwd")).is_allowed());
}
