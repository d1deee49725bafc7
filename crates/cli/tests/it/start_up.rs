//! Start-up files as people have them, as an agent sees them.

use serde_json::json;
use termbridge_testkit::TestEnvironment;

use crate::TERMBRIDGE;

#[test]
fn an_agent_is_warned_of_files_that_start_tmux() {
    let environment = TestEnvironment::new();
    let tmux = format!("TMUX_TMPDIR={} tmux -f /dev/null", environment.path().display());
    environment.write(".bashrc", format!("export FROM_RC=yes\n{tmux}\n"));
    let mut server = environment.server(TERMBRIDGE, &["--shell", "bash"]);
    let answer = server.ok("execute_command", json!({"command": "echo $FROM_RC"}));
    assert_eq!(answer.structured["output"], "yes\n");
    assert_eq!(answer.structured["exit_code"], 0);
    let note = answer.structured["note"].as_str().expect("a note");
    assert!(note.contains("~/.bashrc runs tmux before the first prompt"), "{note}");
    assert!(note.contains("[ -n \"$TERMBRIDGE_SESSION\" ] || tmux"), "{note}");
    // The text is enough by itself, and the warning takes no line more.
    assert!(answer.text.contains(note), "{}", answer.text);
    assert_eq!(answer.text.lines().count(), 2, "{}", answer.text);

    let answer = server.ok("execute_command", json!({"command": "echo again"}));
    assert_eq!(answer.structured["note"], json!(null), "once is enough");

    let answer = server.ok("execute_command", json!({"command": "cd /; export A=b; exec sh"}));
    assert_eq!(answer.structured["exit_code"], 0, "{}", answer.text);
    assert!(answer.text.contains("was restarted"), "{}", answer.text);
    let answer = server.ok("execute_command", json!({"command": "echo $0 $A"}));
    assert_eq!(answer.structured["output"], "/usr/bin/dash b\n");
    assert_eq!(answer.structured["cwd"], "/");
}
