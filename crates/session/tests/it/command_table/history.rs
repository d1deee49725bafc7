//! Commands stay out of the shell's history, in memory and in its file, unless asked for.

use termbridge_session::Launch;

use super::{Bash, Fish, Kind, Zsh, home, launch, ready, run};
use crate::support::{end, sessions};

const SECRET: &str = "echo tb_secret_word";

fn with_file(kind: Kind, home: &std::path::Path) -> (Launch, std::path::PathBuf) {
    let (name, rc, file) = match kind {
        Bash => (".bashrc", "HISTFILE=~/.hist; HISTCONTROL=; PROMPT_COMMAND='history -a'", ".hist"),
        Zsh => (
            ".zshrc",
            "HISTFILE=~/.hist; HISTSIZE=100; SAVEHIST=100; setopt inc_append_history",
            ".hist",
        ),
        _ => (".config/fish/config.fish", "", ".local/fish/fish_history"),
    };
    let rc_path = home.join(name);
    std::fs::create_dir_all(rc_path.parent().expect("a folder")).expect("a folder");
    std::fs::write(rc_path, rc).expect("written");
    let file = home.join(file);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let before = if kind == Fish { "- cmd: echo old\n  when: 1700000000\n" } else { "echo old\n" };
    std::fs::write(&file, before).expect("written");
    (launch(kind, home), file)
}

/// What the shell has in memory and what it leaves in its file.
async fn histories(kind: Kind, keep: bool) -> (String, String, String) {
    let (sessions, home) = (sessions(), home());
    let (launch, file) = with_file(kind, home.path());
    let before = std::fs::read_to_string(&file).expect("readable");
    let session = ready(&sessions, launch.keep_history(keep)).await;
    run(&session, SECRET).await;
    run(&session, "echo several\necho tb_lines").await;
    run(&session, "true").await;
    let memory = run(&session, if kind == Zsh { "fc -l 1" } else { "history" }).await.output;
    run(&session, "exit").await;
    end(&session).await;
    // fish writes from a thread that may outlast the prompt, but not the shell.
    let after = std::fs::read_to_string(&file).expect("readable");
    sessions.shutdown().await;
    (memory, before, after)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_default_nothing_is_remembered() {
    for kind in [Bash, Zsh, Fish] {
        let (memory, before, after) = histories(kind, false).await;
        assert!(!memory.contains("tb_secret_word"), "{kind:?}: {memory}");
        assert!(!memory.contains("tb_lines"), "{kind:?}: {memory}");
        // Nor is what the user did told to the agent.
        assert!(!memory.contains("echo old"), "{kind:?}: {memory}");
        assert_eq!(after, before, "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_remembered_on_request() {
    for kind in [Bash, Zsh, Fish] {
        let (memory, before, after) = histories(kind, true).await;
        assert!(memory.contains(SECRET), "{kind:?}: {memory}");
        assert!(memory.contains("echo old"), "{kind:?}: {memory}");
        assert!(after.contains(SECRET) && after.contains(before.trim_end()), "{kind:?}: {after}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_ignores_is_ignored_as_before() {
    let (sessions, home) = (sessions(), home());
    std::fs::write(home.path().join(".bashrc"), "HISTIGNORE='ls:pwd'").expect("written");
    let session = ready(&sessions, launch(Bash, home.path())).await;
    run(&session, "true").await;
    session.send_keys("echo $HISTIGNORE > seen; pwd > there<Enter>").await.expect("sent");
    let seen = || async { std::fs::metadata(home.path().join("there")).is_ok() };
    crate::support::until("the person's line", seen).await;
    let text = std::fs::read_to_string(home.path().join("seen")).expect("readable");
    assert_eq!(text, "ls:pwd\n");
    // What a person types is remembered by the shell itself.
    let memory = run(&session, "history").await.output;
    assert!(memory.contains("pwd > there"), "{memory}");
    sessions.shutdown().await;
}
