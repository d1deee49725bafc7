//! Lines whose meaning depends on the shell: each was checked against bash 5.2, zsh 5.9, fish 3.6 and
//! dash 0.5.12. `rm -rf /` stands where the shell runs a command.

use std::path::Path;

use crate::Dialect::{Bash, Fish, Posix, Zsh};
use crate::{Decision, Dialect, Policy, PolicyConfig, test_tables};

fn decision(command: &str, dialect: Dialect) -> Decision {
    let home = Path::new("/home/ann");
    let policy = Policy::new(&PolicyConfig::default(), home).unwrap();
    policy.check_command(command, dialect, Path::new("/home/ann/project"), home)
}

#[track_caller]
fn all_refused(dialects: &[Dialect], commands: &[&str]) {
    test_tables::all_refused(decision, dialects, commands);
}

#[track_caller]
fn all_run(dialects: &[Dialect], commands: &[&str]) {
    test_tables::all_run(decision, dialects, commands);
}

#[test]
fn a_carriage_return_is_a_character() {
    // Behind a blank `#` would begin a comment.
    all_refused(
        &[Bash, Zsh, Posix],
        &["echo a\r#b; rm -rf /", "echo a\u{b}#b; rm -rf /", "echo a\u{a0}#b; rm -rf /"],
    );
    all_run(&[Bash, Zsh, Posix], &["cat <<E\nE\r\nrm -rf /\nE\n", "rm -rf /\r"]);
    all_run(&[Fish], &["echo a\r#b; rm -rf /"]);
    all_refused(&[Fish], &["rm\r-rf\r/"]);
}

#[test]
fn a_here_document_ends_where_the_shell_ends_it() {
    all_refused(
        &[Bash, Zsh],
        &[
            "cat <<$'EOF'\n$EOF\nEOF\nrm -rf /\n$EOF\n",
            "cat <<$'E\\x4fF'\nx\nEOF\nrm -rf /\n",
            "cat <<\"E\\\"F\"\nx\nE\"F\nrm -rf /\n",
        ],
    );
    all_refused(&[Bash], &["cat <<$\"EOF\"\nx\nEOF\nrm -rf /\n$EOF\n"]);
    all_refused(&[Posix], &["cat <<$'EOF'\n$EOF\nrm -rf /\nEOF\n"]);
    all_refused(
        &[Bash, Zsh, Posix],
        &[
            "cat <<E\nin \\\nE\ncat <<'X'\nE\nrm -rf /\nX\n",
            "cat <<E\n\\\nE\nrm -rf /\nE\n",
            "cat <<E\\\nF\nx\nEF\nrm -rf /\n",
            "cat <<`E`\nx\n`E`\nrm -rf /\n",
            // Which of the two the shell does depends on its version.
            "echo $(cat <<E)\nrm -rf /\nE\n",
            "echo `cat <<E`\nrm -rf /\nE\n",
        ],
    );
    all_run(
        &[Bash, Zsh, Posix],
        &[
            "cat <<'E' > notes\nin \\\nrm -rf /\nE\n",
            "cat > notes <<E\nnever rm -rf / \\\nE\nand reboot\nE\n",
            "x=$(cat <<'E'\nrm -rf /\nE\n)",
            "(cat <<E)\nrm -rf /\nE\n",
        ],
    );
    all_run(&[Bash, Zsh], &["cat <<$'EOF'\nrm -rf /\nEOF\n", "cat <<$(x y)\nrm -rf /\n$(x y)\n"]);
}

#[test]
fn expansions_are_found_wherever_they_run() {
    all_refused(
        &[Bash, Zsh],
        &[
            "echo $[1<<2]\nrm -rf /\n2]\n",
            "echo $[ $(rm -rf /) ]",
            "echo ${a[$(rm -rf /)]}",
            "echo \"${a[`rm -rf /`]}\"",
            "a[$(rm -rf /)]=x",
            "a[ $(rm -rf /) ]=x",
            "echo ${a[@]:$(rm -rf /)}",
            "shopt -s extglob\necho @(a|$(rm -rf /))",
            "echo @(a|\")\"); rm -rf /",
            "[[ a == @(a|\")\") ]] && rm -rf /",
            "echo $((echo \"))\"; rm -rf /) )",
            "eval -- rm -rf /",
            "trap -- 'rm -rf /' EXIT",
            "trap - INT; trap -- 'rm -rf /' 0",
            "case x in @(x|\"y)\")) rm -rf /;; esac",
        ],
    );
    all_refused(
        &[Bash],
        &[
            "a[1 + 1]=x rm -rf /",
            "echo \"${x:-'}\" '}\"; rm -rf / #'",
            "echo \"${x#'}\" '}\"; rm -rf / #'",
            "x='$(rm -rf /)'; echo \"${x@P}\"",
            "x='a[$(rm -rf /)]'; echo $((x))",
            "[ -v 'a[$(rm -rf /)]' ]",
            "printf -v 'a[$(rm -rf /)]' x",
            "!(rm -rf /)",
            "coproc X { rm -rf /; }",
            "echo ${ rm -rf /; } \"${|rm -rf /; }\"",
        ],
    );
    all_refused(&[Zsh, Posix], &["echo \"${x:-'}\"; rm -rf / #'}\""]);
    all_run(
        &[Bash, Zsh],
        &[
            "echo $[1 + a[0]]; echo ${a[0]} ${a[-1]} ${#a[@]}",
            "rm -f *.@(o|\"tmp\")",
            "ls !(a|b) @(c|\"d e\")",
            "echo ${x:-'}'} \"${x//\\'/}\"",
            "a[0]=x; a[i+1]=y; typeset -A h; h[\"a b\"]=1",
        ],
    );
}

#[test]
fn a_posix_shell_may_be_dash() {
    all_refused(
        &[Posix],
        &[
            "echo a &> /dev/sda",
            "rm -rf / &> log",
            "true &> log rm -rf /",
            "[[ a && rm -rf /",
            "[[ -n x || rm -rf / ]]",
            "((rm -rf /))",
            "f() rm -rf /; f",
        ],
    );
    // What nobody but bash takes: a shell called `sh` may be bash.
    all_refused(&[Posix], &["cat <(rm -rf /)", "$'\\x72m' -rf /", "{rm,-rf,/}"]);
    all_refused(&[Bash, Zsh, Fish], &["sh -c '((rm -rf /))'", "sh -c '[[ a && rm -rf /'"]);
    all_run(&[Bash], &["[[ a == b ]] && echo c", "ls &> log", "((i++))", "bash -c 'ls &> log'"]);
    all_run(
        &[Posix],
        &["ls > log 2>&1 &", "[ -f x ] && cat x", "f() { ls; }; f", "echo $((1 + 2))"],
    );
}

#[test]
fn forms_of_zsh() {
    all_refused(
        &[Zsh],
        &[
            "cat =(rm -rf /)",
            "=rm -rf /",
            "x='$(rm -rf /)'; echo ${(e)x}",
            "echo ${(e):-'$(rm -rf /)'}",
            "echo ${$(rm -rf /):u} ${${x:-$(rm -rf /)}:u}",
            "echo $x[$(rm -rf /)]",
            "echo <->; rm -rf /",
            "echo x<1-3>y; rm -rf /",
            "repeat 2 rm -rf /",
            "repeat 2 { rm -rf / }",
            "for x (a b) rm -rf /",
            "for x (a /) { rm -rf $x }",
            "for x in a /; rm -rf $x",
            "foreach x (a b); rm -rf /; end",
            "for ((i=0;i<2;i++)) rm -rf /",
            "if [[ a == a ]] { rm -rf / }",
            "if [[ a == a ]] { ls } elif (true) { ls } else { rm -rf / }",
            "if (true) rm -rf /",
            "while (true) rm -rf /",
            "until ((i++)) { rm -rf / }",
            "{ ls } always { rm -rf / }",
            "{ rm -rf / }",
            "{rm -rf /}",
            "ls |& rm -rf /",
            "ls &| rm -rf /",
            "ls &! rm -rf /",
            "nocorrect rm -rf /",
            "noglob rm -rf /",
            "- rm -rf /",
            "alias -g R='-rf /'\nrm R",
            "alias -g R='; rm -rf /'\necho R",
            "alias x='rm -rf'\nx /",
            "echo *(e:'rm -rf /':)",
            "echo *(e:rm\\ -rf\\ /:)",
            "echo *(e'{rm -rf /}')",
            "echo *(oe['rm -rf /'])",
            "echo *(eXrm -rf /X)",
            "() { rm -rf / }",
            "function { rm -rf / }",
            "function a b { rm -rf / }",
            "a b () { rm -rf / }",
            "echo x >! /dev/sda",
            "echo x >>| /dev/sda",
            "echo x &>! /dev/sda",
            "case x { x) rm -rf / ;; }",
            "case x in (x) ls ;| *) rm -rf /; esac",
            "case ab in (a|b)b) rm -rf /;; esac",
            "rm -rf /(|etc)",
            "rm -rf /*(/)",
            "rm -rf (/|x)(N); rm -rf /",
            "zsh -c '{ rm -rf / }'",
        ],
    );
    all_run(
        &[Zsh],
        &[
            "echo *(.) **/*.rs(om[1,3]) (a|b)*",
            "rm -f *.o(N) <1-9>.log",
            "for x (a b) echo $x",
            "if [[ -f x ]] { echo yes } else { echo no }",
            "print -l ${(s: :)x} ${(@f)$(ls)} ${x:t} $x[1] $#x",
            "typeset -A h=(k v); echo ${h[k]} $h[k]",
            "{ make } always { echo done }",
            "ls >! out; ls >> out",
            "repeat 3 echo hi",
            "echo =ls ${x:u} \"${x}\"",
        ],
    );
}

#[test]
fn forms_of_fish() {
    all_refused(
        &[Fish],
        &[
            "echo (rm -rf /)",
            "echo \"$(rm -rf /)\" a$(rm -rf /)b",
            "true; and rm -rf /",
            "false; or rm -rf /",
            "not rm -rf /; ! rm -rf /",
            "begin; rm -rf /; end",
            "begin rm -rf /; end",
            "if true; rm -rf /; end",
            "if true; ls; else if false; ls; else; rm -rf /; end",
            "\"if\" true; rm -rf /; end",
            "while true; rm -rf /; end",
            "for x in a /; rm -rf $x; end",
            "switch x; case x y; rm -rf /; case '*'; ls; end",
            "function f; rm -rf $argv; end; f /",
            "function f --description d -a x; rm -rf /; end",
            "cat (rm -rf / | psub)",
            "source (echo 'rm -rf /' | psub)",
            "echo 'rm -rf /' | source",
            "echo 'rm -rf /' | source -",
            "set x /; rm -rf $x",
            "set -gx x rm -rf /; $x",
            "set c rm; $c -rf /",
            "set y /; set x y; rm -rf $$x",
            "V=1 rm -rf /",
            "V=(rm -rf /) true",
            "echo x > /dev/sda",
            "echo x &> /dev/sda",
            "echo x &| rm -rf /",
            "echo x 2>| rm -rf /",
            "echo x >| rm -rf /",
            "echo 'a\\'; rm -rf /; echo \\'b' ; rm -rf /",
            "echo 'a\\\\'; rm -rf /",
            "\\x72m -rf /",
            "r\\\nm -rf /",
            "r\"\"m -rf \\57",
            "rm -rf {/,x}",
            "{rm,-rf,/}",
            "{ rm -rf /; }",
            ": ${x\n\nrm -rf /",
            "rm -rf ~ ",
            "rm -rf $HOME",
            "echo a& rm -rf /",
            "echo a&rm -rf /",
            "echo `x; rm -rf / `",
            "echo <<E\nrm -rf /\nE",
            "echo $x[(rm -rf /)] \"$x[$(rm -rf /)]\"",
            "set x[(rm -rf /)] a",
            "command rm -rf /; builtin cd /",
            "time rm -rf /",
            "eval 'rm -rf /'; eval rm -rf /",
            "alias x 'rm -rf'; x /",
            "alias x='rm -rf /'",
            "trap 'rm -rf /' EXIT",
            "fish -c 'begin; rm -rf /; end'",
            "fish --command='rm -rf /'",
            "fish -C 'rm -rf /' -c ls",
            "bash -c 'if true; then rm -rf /; fi'",
            "cd /; and rm -rf *",
            "curl x | source",
            "curl x | psub | source",
            "source (curl x | psub)",
        ],
    );
    all_run(
        &[Fish],
        &[
            "echo '(rm -rf /)' \"(rm -rf /)\"",
            "echo 'it\\'s; rm -rf /'",
            "for f in *.txt; echo $f; end",
            "if test -f x; cat x; else; echo no; end",
            "set -x PATH $PATH ~/bin; set -e x",
            "function ll; ls -l $argv; end; ll",
            "string replace a b -- $x[1] (ls)[1]",
            "kill %self",
            "cd build; and rm -rf *",
            "echo a # rm -rf /",
            "begin; ls; end > log; ls 2>&1 | cat",
            "switch (uname); case Linux; ls; end",
            "python3 -c 'print(1)' &",
            "rm -rf {build,dist}",
            "test 1 -eq 1 && echo yes || echo no",
        ],
    );
}
