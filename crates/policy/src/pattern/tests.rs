use std::path::Path;

use super::{Pattern, Use};
use crate::walk::Arg;

fn matches(rule: &str, command: &str) -> bool {
    let args: Vec<Arg> = command.split(' ').map(Arg::literal).collect();
    let (cwd, home) = (Path::new("/work"), Path::new("/home/ann"));
    Pattern::new(rule).unwrap().matches(&args, Some(cwd), home, Use::Deny)
}

#[test]
fn rules_match_by_their_words() {
    for (rule, command, expected) in [
        ("rm", "/bin/rm x", true),
        ("/bin/rm", "/bin/rm x", true),
        ("/bin/rm", "rm x", false),
        ("mkfs*", "mkfs.ext4 x", true),
        ("mkfs", "mkfs.ext4 x", true),
        ("mkfs", "/sbin/mkfs x", true),
        ("mkfs", "mkfsx x", false),
        ("dd if=", "dd of=/dev/sda if=/dev/zero", true),
        ("dd if=", "dd of=x", false),
        ("curl --proxy=", "curl --proxy=http://x y", true),
        ("curl --proxy=", "curl y", false),
        ("rm -rf", "rm -f -r x", true),
        ("rm -rf", "rm --recursive -f x", true),
        ("rm -rf", "rm -r x", false),
        ("git push", "git push", true),
        ("git push", "git -C d push", true),
        ("git push", "git log push", false),
        ("docker system prune", "docker system prune -a", true),
        ("curl --proxy=http*", "curl --proxy=http://x y", true),
        ("curl --proxy=http*", "curl --proxy=socks y", false),
        ("cat ~/.ssh/*", "cat /home/ann/.ssh/id", true),
        ("cat ~/.ssh/*", "cat ../home/ann/.ssh/id", true),
        ("cat /work/x", "cat ./x", true),
        ("cat /work/x", "cat ./y", false),
        ("tar -x *.zip", "tar -x a.zip", true),
    ] {
        assert_eq!(matches(rule, command), expected, "{rule} on {command}");
    }
}

#[test]
fn an_allow_rule_takes_no_chances_with_values() {
    let matches = |rule: &str, command: &str| {
        let args: Vec<Arg> = command.split(' ').map(Arg::literal).collect();
        let (cwd, home) = (Path::new("/work"), Path::new("/home/ann"));
        Pattern::new(rule).unwrap().matches(&args, Some(cwd), home, Use::Allow)
    };
    assert!(matches("git status", "git status -s"));
    assert!(!matches("git status", "git -C status push"));
    assert!(!matches("git status", "git -p push status"));
    assert!(!matches("git status", "git -C dir status"));
    assert!(matches("git -C status", "git -C dir status"));
    assert!(matches("cat /work/*", "cat a b"));
    assert!(!matches("cat /work/*", "cat a ../b"));
}
