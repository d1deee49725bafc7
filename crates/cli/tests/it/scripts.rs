//! The scripts of this repository.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use termbridge_testkit::TestEnvironment;

/// With folders of its own, apt needs neither root nor a network.
#[test]
fn a_taken_lock_of_apt_is_waited_for_and_reported() {
    if !Path::new("/usr/bin/apt-get").exists() {
        eprintln!("skipped: there is no apt-get");
        return;
    }
    let environment = TestEnvironment::new();
    let folder = environment.path();
    for name in ["lists/partial", "archives/partial", "etc"] {
        std::fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    // apt's locks are those of fcntl, which std does not have.
    let hold = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); \
        print('held', flush=True); sys.stdin.read()";
    let mut holder = Command::new("python3")
        .args(["-c", hold])
        .arg(folder.join("lists/lock"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut held = String::new();
    BufReader::new(holder.stdout.take().expect("piped")).read_line(&mut held).expect("a line");
    assert_eq!(held, "held\n");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/apt-get");
    let option = |name: &str, value: &str| format!("{name}={}", folder.join(value).display());
    let mut update = Command::new(script)
        .args(["-o", &option("Dir::State::Lists", "lists")])
        .args(["-o", &option("Dir::Cache", "")])
        .args(["-o", &option("Dir::Etc", "etc")])
        .args(["-o", "APT::Sandbox::User=", "update"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the script");
    let mut reported = BufReader::new(update.stderr.take().expect("piped"));
    let mut line = String::new();
    reported.read_line(&mut line).expect("a line");
    assert!(line.contains("lists/lock") && line.contains("waiting"), "{line}");
    drop(holder.stdin.take());
    holder.wait().expect("it ends");
    let mut rest = String::new();
    reported.read_to_string(&mut rest).expect("text");
    assert!(update.wait().expect("it ends").success(), "{rest}");
}
