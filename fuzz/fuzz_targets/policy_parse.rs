//! Whatever a model writes as a command: the policy decides, in bounded work, and a refusal holds
//! wherever the refused command stands.
//!
//! Run: `cargo +nightly fuzz run policy_parse`.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use termbridge_policy::{Decision, Dialect, Policy, PolicyConfig};

const DIALECTS: [Dialect; 4] = [Dialect::Bash, Dialect::Zsh, Dialect::Fish, Dialect::Posix];
const DENIED: &str = "git push --force";

static POLICIES: LazyLock<[Policy; 2]> = LazyLock::new(|| {
    let deny = vec![DENIED.to_owned()];
    let allow = vec!["echo".to_owned(), "true".to_owned(), "A=*".to_owned(), "> /tmp/*".to_owned()];
    let open = PolicyConfig { deny: deny.clone(), ..PolicyConfig::default() };
    let listed = PolicyConfig { deny, allow, ..PolicyConfig::default() };
    [open, listed].map(|config| Policy::new(&config, Path::new("/home/ann")).expect("sound"))
});

fn decide(policy: &Policy, command: &str, dialect: Dialect) -> Decision {
    policy.check_command(command, dialect, Path::new("/home/ann/project"), Path::new("/home/ann"))
}

fuzz_target!(|command: &str| {
    let [open, listed] = &*POLICIES;
    for dialect in DIALECTS {
        let decision = decide(open, command, dialect);
        let explained =
            open.explain(command, dialect, Path::new("/home/ann/project"), Path::new("/home/ann"));
        assert_eq!(decision, explained.decision, "an explanation decides as a check does");
        // What an allow list lets pass, the deny list has let pass.
        if !decision.is_allowed() {
            assert!(!decide(listed, command, dialect).is_allowed(), "{dialect:?}");
        }
        // Nothing before a line of its own that was read whole hides it.
        let refused_by_name = matches!(&decision, Decision::Deny { rule, .. } if rule == DENIED);
        if refused_by_name {
            let behind = format!("true; {command}");
            assert!(!decide(open, &behind, dialect).is_allowed(), "{dialect:?}: {behind:?}");
        }
        // The value of a variable makes nothing a listed command.
        let set = decide(listed, &format!("x=echo\n{command}"), dialect).is_allowed();
        assert!(!set || decide(listed, command, dialect).is_allowed(), "{dialect:?}");
        if decide(listed, command, dialect).is_allowed() {
            // The first newline may be part of the line, behind a backslash.
            let followed = format!("{command}\n\n{DENIED}");
            assert!(!decide(listed, &followed, dialect).is_allowed(), "{dialect:?}: {followed:?}");
        }
    }
});
