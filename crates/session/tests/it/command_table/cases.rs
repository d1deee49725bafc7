//! The cases that one shell runs in a row.

use std::path::Path;

use super::Output::{Any, Exactly, Has};
use super::{Bash, Case, Dash, Fish, Zsh, case};

pub(super) fn table(home: &Path) -> Vec<Case> {
    [
        plain(),
        many_lines(),
        state(home),
        characters(),
        screen(),
        statuses(),
        jobs(),
        marks(),
        settings(),
        prompts(),
        descriptors(),
        places(home),
    ]
    .concat()
}

fn plain() -> Vec<Case> {
    vec![
        case("one line", "echo hi").prints("hi\n"),
        case("nothing printed", "true"),
        case("no newline at the end", "printf nonl").prints("nonl"),
        case("no newline but a percent sign", "printf '%%'").prints("%"),
        case("only newlines", r"printf '\n\n'").prints("\n\n"),
        case("two in a line", "echo one; echo two").prints("one\ntwo\n"),
        case("both streams", "sh -c 'echo out; echo err >&2; echo out'").prints("out\nerr\nout\n"),
        case("a pipeline", r"printf 'b\na\n' | sort | head -n 1").prints("a\n"),
        case("a substitution", r#"echo "$(echo inner)""#).prints("inner\n"),
        case("backticks", "echo `echo inner`").prints("inner\n").not(Fish),
        case("arithmetic", "echo $((6*7))").fish("math '6*7'").prints("42\n"),
        case("braces", "echo {a,b}{1,2}")
            .prints("a1 a2 b1 b2\n")
            .not(Dash)
            .but(Fish, Exactly("a1 b1 a2 b2\n".into())),
        case("nothing at all", ""),
        case("blanks", " \t "),
        case("newlines alone", "\n\n"),
        case("a comment alone", "# nothing to do"),
        case("a leading space", "   echo led").prints("led\n"),
        case("a trailing newline", "echo trail\n").prints("trail\n"),
        case("many trailing newlines", "echo trail\n\n\n").prints("trail\n"),
        case("a trailing comment", "echo said # not this").prints("said\n"),
        case("more than 4096 bytes", format!("echo {} | wc -c", "x".repeat(6000))).prints("6001\n"),
        case("more than 64 KB", format!("echo {} | wc -c", "x".repeat(70_000))).prints("70001\n"),
    ]
}

fn many_lines() -> Vec<Case> {
    let numbers: Vec<_> = (1..=200).map(|number| number.to_string()).collect();
    vec![
        case("two lines", "echo a\necho b").prints("a\nb\n"),
        case("lines with gaps", "echo a\n\n   \n# why\necho b").prints("a\nb\n"),
        case("carriage returns before newlines", "echo a\r\necho b\r\n").prints("a\nb\n"),
        case("a loop", "for i in 1 2 3\ndo\n  echo $i\ndone")
            .fish("for i in 1 2 3\n  echo $i\nend")
            .prints("1\n2\n3\n"),
        case("a condition, indented by tabs", "if true\nthen\n\techo tab\nfi")
            .fish("if true\n\techo tab\nend")
            .prints("tab\n"),
        case("a string over lines", "echo 'line 1\nline 2'").prints("line 1\nline 2\n"),
        case("a continued line", "echo a \\\n  b").prints("a b\n"),
        case("a here-document", "cat <<EOF\na $((1+1))\n\tb\nEOF")
            .fish("printf 'a %s\\n\\tb\\n' (math 1+1) | cat")
            .prints("a 2\n\tb\n"),
        case("a quoted here-document", "cat <<'EOF'\n$HOME `x` !! \\n \"\nEOF")
            .fish("echo '$HOME `x` !! \\n \"' | cat")
            .prints("$HOME `x` !! \\n \"\n"),
        case("a here-document and more", "cat <<A; echo after\nin\nA\necho last")
            .fish("echo in | cat; echo after\necho last")
            .prints("in\nafter\nlast\n"),
        case("a here-document without tabs", "cat <<-EOF\n\t\tx\n\tEOF").prints("x\n").not(Fish),
        case("200 lines", format!("echo {}", numbers.join("\necho ")))
            .prints(numbers.join("\n") + "\n"),
        case("a failure in the middle", "echo a\nfalse\necho b").prints("a\nb\n"),
        case("a failure at the end", "echo a\nfalse").prints("a\n").exits(1),
    ]
}

fn state(home: &Path) -> Vec<Case> {
    vec![
        case("change of directory", "cd /tmp").ends_in("/tmp"),
        case("it stays", "pwd").prints("/tmp\n").ends_in("/tmp"),
        case("and back", "cd").ends_in(home),
        case("a variable", "x='1 2'").fish("set -g x '1 2'"),
        case("it stays", r#"echo "$x""#).prints("1 2\n"),
        case("an exported one", "export TB_Y=val").fish("set -gx TB_Y val"),
        case("reaches programs", "sh -c 'echo $TB_Y'").prints("val\n"),
        case("a function", "f() { echo \"f:$1\"; return 3; }")
            .fish("function f\n  echo f:$argv[1]\n  return 3\nend"),
        case("is called", "f arg").prints("f:arg\n").exits(3),
        case("an alias", "alias tb_say='echo aliased'"),
        case("is used", "tb_say x").prints("aliased x\n"),
        case("a subshell", "(cd / && x=other && pwd); echo $x")
            .fish("sh -c 'cd /; pwd'; echo $x")
            .prints("/\n1 2\n"),
        case("the last argument", "true one two"),
        case("is known", "echo $_").prints("two\n").only(&[Bash, Zsh]),
        case("a status", "sh -c 'exit 7'").exits(7),
        case("is known to the next", "echo $?").fish("echo $status").prints("7\n"),
        case("a status of 0", "true"),
        case("is known too", "echo $?").fish("echo $status").prints("0\n"),
        case("of a pipeline's parts", "true | sh -c 'exit 4' | true").fish("false | true"),
        case("each is known", r#"echo "${PIPESTATUS[*]}""#).prints("0 4 0\n").only(&[Bash]),
        case("nothing of it in the history", "history").only(&[Bash, Fish]),
        // zsh shows the line at hand, whatever becomes of it.
        case("nor here", "fc -l 1").prints("    1  fc -l 1\n").only(&[Zsh]),
        case("nor in the variables", "set | grep -c 'tb_[s]ay x'").prints("0\n").exits(1),
    ]
}

fn characters() -> Vec<Case> {
    vec![
        case("a tab", "echo 'a\tb'").prints("a\tb\n"),
        case("exclamation marks", r#"echo 'a!!b' "c!d" e!f !! !1 !x"#)
            .prints("a!!b c!d e!f !! !1 !x\n"),
        case("quotes", r#"printf '%s\n' "it's" 'say "x"' back\\slash"#)
            .prints("it's\nsay \"x\"\nback\\slash\n"),
        case("backslashes", r"printf '%s\n' '\0101 \c \n \\ \e[31m'")
            .fish(r"printf '%s\n' '\0101 \c \n \\\\ \e[31m'")
            .prints("\\0101 \\c \\n \\\\ \\e[31m\n"),
        case("an escaped string", r"printf '%s\n' $'a\tb'").prints("a\tb\n").only(&[Bash, Zsh]),
        case("dollars and percents", "echo '$HOME %s %d %% `x` ~ * ?'")
            .prints("$HOME %s %d %% `x` ~ * ?\n"),
        case("accents and other scripts", "echo 'naïve 漢字 ñ Ω ру'").prints("naïve 漢字 ñ Ω ру\n"),
        case("emoji", "echo '🙂👩‍👩‍👧🇩🇪'").prints("🙂👩‍👩‍👧🇩🇪\n"),
        case("combining marks", "echo 'e\u{301}a\u{308}'").prints("e\u{301}a\u{308}\n"),
        case("control characters", "printf %s 'a\u{3}b\u{4}c\u{1a}d\u{7f}e\u{11}f' | wc -c")
            // fish puts the command into the window's title, where they do harm.
            .not(Fish)
            .prints("11\n"),
        case("a lone carriage return", "printf %s 'a\rb' | wc -c").prints("3\n"),
        case("control bytes of output", r"/usr/bin/printf '\001\002a\007b\n'").prints("ab\n"),
        case("bytes that are not UTF-8", r"/usr/bin/printf 'a\377\376b\n'")
            .prints("a\u{fffd}\u{fffd}b\n"),
        case("NULs", r"/usr/bin/printf 'a\000b\n'").prints("ab\n"),
        case("binary output", "head -c 300 /bin/sh; echo; echo end").says("end\n"),
    ]
}

fn screen() -> Vec<Case> {
    vec![
        case("a progress bar", r"printf '10%%\r50%%\r100%%\n'").prints("100%\n"),
        case("a progress bar that shrinks", r"printf 'working\r\033[Kok\n'").prints("ok\n"),
        case("lines rewritten", r"printf 'a: 0\nb: 0\n\033[2Aa: 9\nb: 9\n'").prints("a: 9\nb: 9\n"),
        case("marks rewritten", "printf '\\r\u{26a0}\u{fe0f} %s' '1%' '40%' '100%'; echo")
            .prints("\u{26a0}\u{fe0f} 100%\n"),
        case("a line rewritten over two rows", "printf '%0200d\\r\\033[A%0200d\\n' 0 1")
            .prints(format!("{:0200}\n", 1)),
        case("more rows up than there are", r"printf 'a\nb\033[999A\033[999B\rc\n'")
            .prints("a\nc\n"),
        case("colours", r"printf '\033[1;31mred\033[0m \033[38;5;9mx\033[m\n'").prints("red x\n"),
        case("a title", r"printf '\033]0;title\007text\n'").prints("text\n"),
        case("a cleared screen", r"printf 'one\n\033[H\033[2Jtwo\n'").prints("one\ntwo\n"),
        case("clear", "echo one; clear; echo two").prints("one\ntwo\n"),
        case("tput", "tput bold; echo x; tput sgr0").prints("x\n"),
        case("a reset", r"printf 'one\n\033ctwo\n'").prints("one\ntwo\n"),
        case("a full-screen program", r"printf '\033[?1049h\033[Hfull\033[?1049l'; echo after")
            .prints("after\n")
            .full_screen(),
        case("an editor", "vim -u NONE -i NONE -N -c q").prints_anything().full_screen(),
        case("is forgotten", "echo plain").prints("plain\n"),
        case("echo off", "stty -echo"),
        case("is bearable", "echo hi").prints("hi\n"),
        case("echo on", "stty echo"),
        case("sane", "stty sane; echo sane").prints("sane\n"),
    ]
}

fn statuses() -> Vec<Case> {
    vec![
        case("failure", "false").exits(1),
        case("255", "sh -c 'exit 255'").exits(255),
        case("a negation", "! true").exits(1),
        case("of the last in a pipeline", "false | true"),
        case("failure of the last", "true | false").exits(1),
        case("of a subshell", "(exit 9)").fish("sh -c 'exit 9'").exits(9),
        case("an unknown command", "no_such_command_tb").says("no_such_command_tb").exits(127),
        case("a file that is no program", "/etc/passwd")
            .says("ermission denied")
            .exits(126)
            .but(Fish, Any),
        case("a syntax error", "echo )")
            .says("syntax error")
            .but(Zsh, Has("parse error".into()))
            .but(Fish, Has("Unexpected ')'".into()))
            .but(Dash, Has("Syntax error".into()))
            .exits(2)
            .exits_in(Zsh, 1)
            .exits_in(Fish, 123),
        case("and the shell lives", "echo alive").prints("alive\n"),
        case("TERM", "sh -c 'kill -TERM $$'").prints_anything().exits(143),
        case("KILL", "sh -c 'kill -KILL $$'").prints_anything().exits(137),
        case("SEGV", "sh -c 'kill -SEGV $$'").prints_anything().exits(139),
        case("of a multi-line syntax error", "echo a\necho )")
            .says("a\n")
            .exits(2)
            .exits_in(Zsh, 1)
            .exits_in(Fish, 123)
            .but(Zsh, Has("parse error".into()))
            .but(Fish, Has("Unexpected".into())),
    ]
}

fn jobs() -> Vec<Case> {
    vec![
        case("a job in the background", "true\nsleep 0.01 &").prints_anything(),
        case("is waited for", "wait").prints_anything(),
        case("and leaves no noise", "echo clean").prints("clean\n"),
        // Its words come when they come: whatever command is open then has them, as on any screen.
        case("one that prints later", "sh -c 'until [ -e go ]; do sleep 0.01; done; echo late' &")
            .prints_anything(),
        case("prints into the next", "echo now; touch go; wait").says("late\n"),
        case("but not beyond", "echo clean; rm go").prints("clean\n"),
    ]
}

fn marks() -> Vec<Case> {
    vec![
        case("an end mark", r"printf '\033]633;D;0\007'; sh -c 'echo after; exit 7'")
            .prints("after\n")
            .exits(7),
        case("one with a nonce", r"printf '\033]633;D;0;0123456789abcdef\007'; echo after")
            .prints("after\n"),
        case(
            "a whole prompt",
            r"printf '\033]633;D;0\007\033]633;A\007$ \033]633;B\007'; sh -c 'exit 6'",
        )
        .prints("$ ")
        .exits(6),
        case("an output mark", r"echo a; printf '\033]633;C\007'; echo b").prints("a\nb\n"),
        case("a continuation", r"printf '\033]633;F\007'; echo b").prints("b\n"),
        case("another directory", r"printf '\033]633;P;Cwd=/fake\007\033]7;file:///fake\007'")
            .ends_in("/tmp"),
        case("OSC 133", r"printf '\033]133;D;0\007\033]133;A\007'; sh -c 'exit 5'").exits(5),
    ]
    .into_iter()
    .fold(vec![case("somewhere", "cd /tmp")], |mut all, case| {
        all.push(case);
        all
    })
}

fn settings() -> Vec<Case> {
    let posix = [Bash, Zsh, Dash];
    vec![
        case("tracing", "set -x").only(&posix),
        case("shows the command, not the hooks", "echo hi")
            .prints("+ echo hi\nhi\n")
            .but(Zsh, Has("hi\nhi\n".into()))
            .only(&posix),
        case("in a later line too", "echo hi\necho ho")
            .prints("+ echo hi\nhi\n+ echo ho\nho\n")
            .but(Zsh, Has("hi\nhi\n".into()))
            .only(&posix),
        case("no tracing", "set +x").prints_anything().only(&posix),
        case("verbose", "set -v").only(&posix),
        case("shows no hooks", "echo hi").prints("hi\n").only(&posix),
        case("not verbose", "set +v").only(&posix),
        case("no unset variables", "set -u").only(&posix),
        case("is no harm", "echo ok").prints("ok\n").only(&posix),
        case("but they fail", "echo $tb_unset")
            .says("tb_unset")
            .exits(1)
            .exits_in(Dash, 2)
            .only(&posix),
        case("unset variables again", "set +u").only(&posix),
        case("vi keys", "set -o vi").fish("fish_vi_key_bindings"),
        case("work", "echo vi").prints("vi\n"),
        case("vi keys of zsh", "bindkey -v").only(&[Zsh]),
        case("work there", "echo vi").prints("vi\n").only(&[Zsh]),
        case("emacs keys", "set -o emacs").fish("fish_default_key_bindings"),
        case("work as well", "echo emacs").prints("emacs\n"),
        case("a key of one's own", "bind '\"\\C-xq\": \"quiet\"'").only(&[Bash]),
        case("history expansion", "set -o histexpand").only(&[Bash]),
        case("a trap on every command", "trap 'tb_seen=$BASH_COMMAND' DEBUG").only(&[Bash]),
        case("sees them", "echo \"$tb_seen\"").prints("echo \"$tb_seen\"\n").only(&[Bash]),
        case("no trap", "trap - DEBUG").only(&[Bash]),
        case("a trap on errors", "trap 'echo failed' ERR").only(&[Bash]),
        case("fires once", "false").prints("failed\n").exits(1).only(&[Bash]),
        case("not for others", "true").only(&[Bash]),
        case("no trap on errors", "trap - ERR").only(&[Bash]),
        case("another IFS", "IFS=/:1").only(&posix),
        case("is no harm", "echo ifs").prints("ifs\n").only(&posix),
        case("the usual IFS", "unset IFS").only(&posix),
    ]
}

fn prompts() -> Vec<Case> {
    vec![
        case("another prompt", "PS1='new> '").fish("function fish_prompt; echo 'new> '; end"),
        case("is no harm", "echo hi").prints("hi\n"),
        case("no prompt", "PS1=").fish("functions -e fish_prompt"),
        case("is no harm either", "echo hi").prints("hi\n"),
        case("a prompt that fails", "PS1='$(false)> '").fish("function fish_prompt; false; end"),
        case("keeps the status", "sh -c 'exit 3'").exits(3),
        case("for the next", "echo $?").fish("echo $status").prints("3\n"),
        case("a usual one", "PS1='$ '").fish("function fish_prompt; echo '$ '; end"),
        case("a hook that prints", "PROMPT_COMMAND='echo noise'").prints_anything().only(&[Bash]),
        case("is not heard", "echo hi").prints("hi\n").only(&[Bash]),
        case("hooks as a list", "PROMPT_COMMAND=(false 'echo x')").prints_anything().only(&[Bash]),
        case("are not heard", "sh -c 'exit 5'").exits(5).only(&[Bash]),
        case("no hooks", "unset PROMPT_COMMAND").only(&[Bash]),
        case("are mended", "sh -c 'echo hi; exit 5'").prints("hi\n").exits(5).only(&[Bash]),
        case("no start mark", "PS0=").only(&[Bash]),
        case("is mended", "echo hi").prints("hi\n").only(&[Bash]),
        case("a start hook that prints", "PS0='[$((tb_n+=1))]'").only(&[Bash]),
        case("is not heard", "echo hi").prints("hi\n").only(&[Bash]),
        case("no start hook", "unset PS0").only(&[Bash]),
        case("a hook that prints", "precmd() { echo noise; false; }")
            .prints_anything()
            .only(&[Zsh]),
        case("is not heard", "sh -c 'echo hi; exit 4'").prints("hi\n").exits(4).only(&[Zsh]),
        case("no such hook", "unfunction precmd").only(&[Zsh]),
        case("a hook before", "preexec() { echo \"about: $1\"; }").only(&[Zsh]),
        case("is not heard either", "echo hi").prints("hi\n").only(&[Zsh]),
        case("no hook before", "unfunction preexec").only(&[Zsh]),
        case("no hooks", "precmd_functions=() preexec_functions=()").only(&[Zsh]),
        case("are mended", "sh -c 'echo hi; exit 5'").prints("hi\n").exits(5).only(&[Zsh]),
        case("no array of hooks", "unset precmd_functions preexec_functions").only(&[Zsh]),
        case("is mended", "sh -c 'echo hi; exit 5'").prints("hi\n").exits(5).only(&[Zsh]),
        case("a hook that prints", "function tb_post --on-event fish_postexec; echo noise; end")
            .prints_anything()
            .only(&[Fish]),
        case("is not heard", "sh -c 'echo hi; exit 4'").prints("hi\n").exits(4).only(&[Fish]),
        case("no such hook", "functions -e tb_post").prints_anything().only(&[Fish]),
    ]
}

fn descriptors() -> Vec<Case> {
    let posix = [Bash, Zsh, Dash];
    vec![
        case("errors with the rest", "exec 2>&1").only(&posix),
        case("as before", "echo hi").prints("hi\n").only(&posix),
        case("output thrown away", "exec >/dev/null").only(&posix),
        case("is not there", "echo hi").only(&posix),
        case("but the status is", "sh -c 'exit 3'").exits(3).only(&posix),
        case("errors thrown away", "exec 2>/dev/null").only(&posix),
        case("and still the status", "sh -c 'exit 4'").exits(4).only(&posix),
        case("output on the terminal", "exec >/dev/tty").only(&posix),
        case("is there, without prompts", "echo hi").prints("hi\n").only(&posix),
        case("all on the terminal", "exec 2>/dev/tty").only(&posix),
        case("as ever", "echo hi; echo ho >&2").prints("hi\nho\n").only(&posix),
        case("input from nowhere", "cat </dev/null"),
    ]
}

fn places(home: &Path) -> Vec<Case> {
    vec![
        case("home", "cd").ends_in(home),
        case("a space and accents", "mkdir 'a b ñ 漢'; cd 'a b ñ 漢'")
            .ends_in(home.join("a b ñ 漢")),
        case("a newline", "cd ..; mkdir 'x\ny'; cd 'x\ny'").ends_in(home.join("x\ny")),
        case("a semicolon and a backslash", "cd ..; mkdir 'x;y\\z'; cd 'x;y\\z'")
            .fish("cd ..; mkdir 'x;y\\\\z'; cd 'x;y\\\\z'")
            .ends_in(home.join("x;y\\z")),
        case("a bell", "cd ..; mkdir 'x\u{7}y'; cd 'x\u{7}y'")
            .not(Fish)
            .ends_in(home.join("x\u{7}y")),
        case("through a link", "cd ..; ln -s /tmp link; cd link").ends_in("/tmp"),
        case("home again", "cd"),
        case("a directory that is gone", "mkdir gone; cd gone; rmdir ../gone").prints_anything(),
        case("is bearable", "echo still").prints("still\n"),
        case("home at last", "cd").but(Bash, Exactly(String::new())).ends_in(home),
    ]
}
