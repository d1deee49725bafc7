//! Ways round an allow list, each of which ran a program that the list does not name in bash 5.2, zsh
//! 5.9, fish 3.6 or ksh; and what has to go on running.
//!
//! Variables outlive a line: `x=…` may have come before each of these.

use std::path::Path;

use crate::Dialect::{Bash, Fish, Posix, Zsh};
use crate::{Decision, Dialect, Policy, PolicyConfig, test_tables};

/// Builtins that a person would take for harmless, and one program.
const LISTED: &[&str] = &[
    "ls",
    "cd",
    "echo",
    "test",
    "[",
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "integer",
    "printf",
    "print",
    "read",
    "mapfile",
    "unset",
    "wait",
    "getopts",
    "set",
    "shift",
    "exit",
    "hash",
    "alias",
    "enable",
    "string",
    "fish_add_path",
    "compgen",
    "zmodload",
    "git status",
    "cat src/*",
    "rm -rf /tmp/*",
    "SECONDS=*",
    "> out/*",
    "TZ=*",
];

fn decision(command: &str, dialect: Dialect) -> Decision {
    let allow = LISTED.iter().map(|entry| (*entry).to_owned()).collect();
    let config = PolicyConfig { allow, ..PolicyConfig::default() };
    let home = Path::new("/home/ann");
    let policy = Policy::new(&config, home).unwrap();
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
fn arithmetic_evaluates_what_variables_hold() {
    all_refused(
        &[Bash, Zsh],
        &[
            "[[ 'a[$(touch pw)]' -eq 1 ]]",
            "[[ 1 -lt x ]]",
            "[[ -v $x ]]",
            "[[ -v x[y] ]]",
            "x['$(touch pw)']=y",
            "y[x]=1",
            "y[$x]=1",
            "a=([x]=1)",
            "a=(['$(touch pw)']=1)",
            "echo $((x))",
            "echo $(( $x + 1 ))",
            "echo \"$((x))\"",
            "ls <<E\n$((x))\nE\n",
            "echo $[x]",
            "((x))",
            "for ((i = 0; i < x; i++)); do ls; done",
            "for ((i = 0; i < 3; i++)); do i=$(ls); done",
            "echo ${y[x]}",
            "echo ${y[$x]}",
            "echo \"${y[x]:-a}\"",
            ": ${y[x]:=1}",
            "echo ${y:$x}",
            "echo ${y:0:$x}",
            "echo ${@:$x}",
            "case 1 in $((x))) ls;; esac",
            "echo `echo $((x))`",
            "RANDOM=$x",
            "OPTIND=x",
            "SECONDS='a[0]'",
            "let x",
            "let \"y=$x\"",
            "let 'a[$(touch pw)]'",
            "declare -i y=$x",
            "declare -ri y",
            "typeset -i y=x",
            "declare -n y=x",
            "declare y=$x",
            "declare \"$x=1\"",
            "export $x=1",
            "export \"$x\"",
            "readonly 'a[x]=1'",
            "printf -v 'a[x]' y",
            "printf -v \"$x\" y",
            "printf \"$x\" y",
            "printf -va[x] y",
            "read 'a[x]'",
            "read $x",
            "unset 'a[x]'",
            "unset $x",
            "test -v 'a[x]'",
            "test -v \"$x\"",
            "[ -v $x ]",
            "[ -f $x ]",
            "[ $x ]",
            "[ \"$x\" \"$y\" ]",
            "wait -n -p 'a[x]'",
            "getopts a 'a[x]'",
            "mapfile -C 'touch pw' -c 1 y",
            "compgen -W '$(touch pw)'",
        ],
    );
    all_refused(
        &[Bash],
        &[
            "echo ${!x}",
            "echo ${!1}",
            "echo ${!x@}",
            "echo ${x@P}",
            "echo ${y:x}",
            "ls {a[x]}</dev/null",
            "echo ${ touch pw; }",
            "echo ${|touch pw; }",
        ],
    );
    all_refused(
        &[Zsh],
        &[
            "echo $y[x]",
            "echo $@[x]",
            "echo ${(P)x}",
            "echo ${(e)x}",
            "echo ${(%)x}",
            "echo ${(#)x}",
            "echo ${(l:x:)y}",
            "echo ${~x}",
            "echo $~x",
            "echo ${${x}[y]}",
            "echo *(eXtouch pwX)",
            "repeat $x ls",
            "repeat x { ls }",
            "printf %d x",
            "shift x",
            "exit x",
            "[ x -eq 1 ]",
            "[ -t x ]",
            "integer y=x",
            "HISTSIZE=x",
            "set -A y x",
        ],
    );
    all_refused(&[Posix], &["echo $((x))", "echo $(($x))", "[ x -eq 1 ]", "printf %d x"]);
    all_run(
        &[Bash, Zsh],
        &[
            "echo $((1 + 2)) $((0x1f << 2)) $(( $? + $# ))",
            "((1 > 0)) && ls",
            "for ((; 0;)); do ls; done",
            "[[ 1 -lt 2 && $# -eq 0 && -f $x && $x == a* ]]",
            "echo ${y[0]} ${y[-1]} ${y[@]} ${#y} ${y:1:2} ${y: -1} ${y:?empty} ${y%.*}",
            "y[0]=a; y=(a b); y+=(c)",
            "[ -f \"$x\" ] && [ \"$x\" = y ] && [ 1 -eq 1 ] && test -n \"$x\"",
            "printf '%s\\n' \"$x\" $x; printf %d 5",
            "read -r -p 'Continue? ' y; export y=1; unset y; let 1+2; SECONDS=0",
            "shift 1; set -- a b",
        ],
    );
    all_run(&[Bash], &["printf '%d\\n' $x; exit $x; echo ${!}"]);
    all_run(&[Zsh], &["echo ${x:t} ${x:h:t} $x[1] $x[1,3] *(.) ${(f)x}; repeat 3 ls"]);
    all_run(&[Posix], &["echo $((1 + 2)); [ \"$x\" = a ]; [ 1 -lt 2 ]"]);
}

#[test]
fn what_a_name_runs_does_not_change() {
    all_refused(
        &[Zsh],
        &[
            "path=(/dir $path)",
            "path+=/dir",
            "path[1]=/dir",
            "fpath=(/dir)",
            "cdpath=(/dir)",
            "module_path=(/dir)",
            ": ${path::=/dir}",
            "set -A path /dir",
            "typeset -T X path",
            "typeset -U path=/dir",
            "functions[ls]='touch pw'",
            "aliases[ls]='touch pw'",
            "commands[ls]=/dir/x",
            "options[rcquotes]=on",
            "precmd_functions=(x)",
            "hash ls=/dir/x",
            "hash -d x=/dir",
            "NULLCMD=touch",
            "HISTCHARS=x",
            "zmodload x",
        ],
    );
    all_refused(
        &[Bash],
        &[
            "hash -p /dir/x ls",
            "enable -f x.so ls",
            "BASH_ALIASES[ls]=x",
            "BASH_CMDS[ls]=/dir/x",
            "printf -vPATH /dir",
            "unset PATH",
            "ls {PATH}</dev/null",
            "set -k",
            "PS4=x",
        ],
    );
    all_refused(
        &[Fish],
        &[
            "set PATH /dir $PATH",
            "set -gx PATH /dir",
            "set PATH[1] /dir",
            "set -e PATH",
            "set -a fish_function_path /dir",
            "set $x /dir",
            "fish_add_path /dir",
            "string match -rq '(?<PATH>.*)' /dir",
            "string match -r $x /dir",
            "alias ls 'touch pw'",
        ],
    );
    all_refused(&[Bash, Zsh, Fish, Posix], &["alias ls=ls", "alias ls=$x"]);
    all_run(&[Zsh], &["pathname=x; hash; alias"]);
    all_run(&[Fish], &["set x a b; set x[1] c; string match -r 'a(?=b)(.*)' x; alias"]);
}

#[test]
fn values_may_have_changed() {
    all_refused(
        &[Bash, Zsh, Posix],
        &[
            // A later turn, a trap, a function called by a later line.
            "x=ls; for i in 1 2; do $x pw; x=touch; done",
            "x=ls; while ls; do $x pw; x=touch; done",
            "x=ls; trap '$x pw' EXIT; x=touch",
            "x=ls; ls() { $x pw; }",
            // What the shell sets itself, and what may be read-only.
            "_=ls; echo touch; $_ pw",
            "x=ls; $x pw",
            "set -- ls; \"$@\" pw",
            // Set, or not set, by an earlier line.
            "${x:-ls} pw",
            "${x:+ls} touch pw",
            "rm -rf ${x:-/tmp/y}",
            // Other output than the command's own: `echo` may be a function.
            "$(echo ls) pw",
            "`echo ls` pw",
            "echo ls | xargs -I{} {} pw",
            // Code made of what is not known.
            "eval \"ls $x\"",
            "eval ls $x",
            "eval \"ls '$x'\"",
            "eval ls *",
            "bash -c \"ls $x\"",
            "trap \"ls $x\" EXIT",
            // A directory that was not changed, or to another one.
            "cd /tmp; rm -rf x",
            "cd /tmp && cd - && rm -rf x",
            // A function that is gone by then.
            "touch() { ls; }; trap 'touch pw' EXIT; unset -f touch",
        ],
    );
    all_refused(
        &[Fish],
        &[
            "set x ls; for i in 1 2; $x pw; set x touch; end",
            "set x ls; $x pw",
            "eval ls $x",
            "eval \"ls $x\"",
            "(echo ls) pw",
        ],
    );
    all_run(&[Fish], &["for d in a b; ls $d; end; ls (ls); test -f \"$x\"; eval 'ls a'"]);
    all_run(
        &[Bash, Zsh],
        &[
            "for d in a b; do ls $d; done",
            "ls $x \"$(ls)\" ${x:-y}; cd x && ls",
            "git status $x; git status \"$(ls)\"",
            "f() { ls \"$@\"; }; f a; eval 'ls a'; trap 'ls' EXIT; bash -c 'ls \"$1\"' _ \"$x\"",
            "x=$(ls); TZ=UTC ls; ls | ls",
        ],
    );
}

#[test]
fn a_wrapper_runs_what_it_is_taken_to_run() {
    all_refused(
        &[Bash],
        &[
            "xargs -is touch ls",
            "xargs -ils ls pw <<< touch",
            "xargs -rIls ls pw <<< touch",
            "xargs --replace=ls ls pw <<< touch",
            "xargs --max-lines touch ls",
            "xargs --repl=ls ls pw",
            "env --unse ls touch pw",
            "env -a ls touch pw",
            "env --argv0 ls touch pw",
            "env '-iStouch pw' ls",
            "env -S ls",
            "env -\"$x\" ls",
            "nice -n $x ls",
            "timeout $x ls",
            "timeout --unknown 5 ls",
            "nice --adj ls touch pw",
        ],
    );
    all_run(
        &[Bash],
        &[
            "xargs ls; xargs -0 -n 1 ls; xargs -I{} ls {}; xargs -0rn1 ls; xargs -i ls {}",
            "env ls; env -i ls; env -u X ls; env --unset=X ls; env TZ=UTC ls",
            "nice ls; nice -n 5 ls; nice -5 ls; timeout -k 1 --signal=KILL 5 ls; timeout \"$x\" ls",
            "command ls; exec -a x ls; nohup ls; setsid -w ls; stdbuf -oL ls",
        ],
    );
}

#[test]
fn a_relative_entry_does_not_lead_elsewhere() {
    all_run(&[Bash], &["cat src/a", "cat src/a/b.rs", "ls > out/x"]);
    all_refused(&[Bash], &["cat src/../../secret", "cat src/..", "ls > out/../.bashrc"]);
}

#[test]
fn options_before_a_subcommand_that_no_entry_names() {
    all_refused(
        &[Bash, Fish],
        &[
            "git --config-env=core.fsmonitor=X status",
            "git --git-dir=/tmp/other status",
            "git --exec-path=/tmp/x status",
            "git -c core.fsmonitor=x status",
        ],
    );
    all_run(&[Bash, Fish], &["git status --untracked-files=no", "ls --color=never src"]);
}
