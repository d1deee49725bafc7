//! The same table in shells whose start-up files do what such files do, and worse.

use std::path::Path;

use termbridge_session::{CommandState, Launch};

use super::{Bash, Dash, Fish, Kind, Zsh, home, launch, ready, run, run_table};
use crate::support::{limited, sessions};

/// Start-up text, and what else the shell is launched with.
pub(super) struct Hostile {
    name: &'static str,
    rc: &'static str,
    env: &'static [(&'static str, &'static str)],
    /// Cases whose meaning it changes, also for a person.
    changes: &'static [&'static str],
}

pub(super) const fn rc(name: &'static str, rc: &'static str) -> Hostile {
    Hostile { name, rc, env: &[], changes: &[] }
}

impl Hostile {
    const fn but(mut self, changes: &'static [&'static str]) -> Self {
        self.changes = changes;
        self
    }
}

/// Cases that show what the shell runs, of hooks too.
const TRACES: &[&str] = &[
    "tracing",
    "shows the command, not the hooks",
    "in a later line too",
    "no tracing",
    "verbose",
    "shows no hooks",
    "not verbose",
];

/// What a wrapper of a builtin does to whoever did not ask for the builtin itself.
const WRAPPED: &str = r#"
printf() { case "$*" in *'\e]633'*) return 1 ;; esac; builtin printf "$@"; }
read() { case "$*" in *-d*|*-k*|*__termbridge*) return 1 ;; esac; builtin read "$@"; }
"#;

/// The hooks of `starship init bash`, with a function in place of the program.
const STARSHIP_BASH: &str = r#"
starship() {
    case $1 in
    time) date +%s%3N ;;
    prompt) printf '\n\\[\e[1;36m\\]~\\[\e[0m\\] via 🐍 \n\\[\e[1;32m\\]❯\\[\e[0m\\] ' ;;
    esac
}
starship_preexec_all() { starship_preexec "$_"; }
starship_precmd() {
    STARSHIP_CMD_STATUS=$? STARSHIP_PIPE_STATUS=(${PIPESTATUS[@]})
    if [[ -n ${STARSHIP_START_TIME-} ]]; then
        STARSHIP_END_TIME=$(starship time)
        STARSHIP_DURATION=$((STARSHIP_END_TIME - STARSHIP_START_TIME))
        STARSHIP_START_TIME=""
    fi
    local NUM_JOBS=0 job
    for job in $(jobs -p); do [[ $job ]] && ((NUM_JOBS++)); done
    eval "${_PRESERVED_PROMPT_COMMAND-}"
    PS1="$(starship prompt --status=$STARSHIP_CMD_STATUS --jobs=$NUM_JOBS)"
    STARSHIP_PREEXEC_READY=true
}
PS0='${STARSHIP_START_TIME:$((STARSHIP_START_TIME="$(starship time)",STARSHIP_PREEXEC_READY=0,0)):0}'"${PS0-}"
STARSHIP_PROMPT_COMMAND=${PROMPT_COMMAND-}
PROMPT_COMMAND=starship_precmd
PS2="$(printf '∙ ')"
shopt -s checkwinsize
"#;

/// The hooks of `starship init zsh`.
const STARSHIP_ZSH: &str = r#"
starship() { print -Pn '\n%F{cyan}~%f\n%F{green}❯%f ' }
starship_precmd() {
    STARSHIP_CMD_STATUS=$? STARSHIP_PIPE_STATUS=(${pipestatus[@]})
    (( ${+STARSHIP_START_TIME} )) && unset STARSHIP_START_TIME
    STARSHIP_JOBS_COUNT=${#jobstates}
}
starship_preexec() { STARSHIP_START_TIME=$SECONDS }
autoload -Uz add-zsh-hook
add-zsh-hook precmd starship_precmd
add-zsh-hook preexec starship_preexec
starship_zle-keymap-select() { zle reset-prompt }
zle -N zle-keymap-select starship_zle-keymap-select
setopt prompt_subst
PROMPT='$(starship prompt --status="$STARSHIP_CMD_STATUS" --jobs="$STARSHIP_JOBS_COUNT")'
RPROMPT='$(echo right)'
PROMPT2="$(echo '∙ ')"
"#;

/// The functions of `starship init fish`.
const STARSHIP_FISH: &str = r"
function starship; printf '\n\e[1;36m~\e[0m\n\e[1;32m❯\e[0m '; end
function fish_prompt
    set STARSHIP_CMD_PIPESTATUS $pipestatus
    set STARSHIP_CMD_STATUS $status
    set STARSHIP_JOBS (count (jobs -p))
    starship prompt --status=$STARSHIP_CMD_STATUS --jobs=$STARSHIP_JOBS
end
function fish_right_prompt; echo right; end
builtin functions -e fish_mode_prompt
set -g VIRTUAL_ENV_DISABLE_PROMPT 1
";

/// What the instant prompt does: it draws a prompt, sends all output of the start-up files to a file,
/// takes their input away, and puts everything back before the first real prompt.
const INSTANT_PROMPT: &str = r"
() {
    emulate -L zsh
    print -rn -- $'\e[?25l~ instant> \e[?25h'
    typeset -gi __p9k_fd_0 __p9k_fd_1 __p9k_fd_2
    exec {__p9k_fd_0}<&0 {__p9k_fd_1}>&1 {__p9k_fd_2}>&2 0</dev/null 1>$HOME/instant.out 2>&1
    typeset -ga precmd_functions
    _p9k_instant_prompt_precmd_first() {
        emulate -L zsh
        exec 0<&$__p9k_fd_0 1>&$__p9k_fd_1 2>&$__p9k_fd_2 {__p9k_fd_0}>&- {__p9k_fd_1}>&- {__p9k_fd_2}>&-
        unset __p9k_fd_0 __p9k_fd_1 __p9k_fd_2
        print -rn -- $'\r\e[J'
        command cat $HOME/instant.out
        command rm $HOME/instant.out
        precmd_functions=(${precmd_functions:#_p9k_instant_prompt_precmd_first})
    }
    precmd_functions=(_p9k_instant_prompt_precmd_first $precmd_functions)
}
echo 'loading plugins'
sleep 0.3
_p9k_precmd() { PROMPT='%F{blue}%~%f %(?.%F{green}.%F{red})❯%f '; RPROMPT='%D{%H:%M}'; }
precmd_functions+=(_p9k_precmd)
setopt prompt_subst no_prompt_bang prompt_cr prompt_percent
";

const BASH: &[Hostile] = &[
    rc(
        "a prompt framework",
        r#"
__fw_prompt() { local code=$?; PS1="[\$(echo sub) $code \w]\n\$ "; PS2='more> '; echo "frame $code"; }
PROMPT_COMMAND='__fw_prompt; :'
PS0='[start $((1+1))]'
"#,
    )
    .but(TRACES),
    rc(
        "hooks as a list that print and fail",
        r#"
PROMPT_COMMAND=('echo one' false 'history -a; history -n' 'echo -ne "\e]0;title\a"' '')
shopt -s histappend cmdhist lithist
HISTCONTROL=ignoreboth HISTIGNORE='ls:cd *'
"#,
    ),
    rc(
        "bash-preexec",
        r#"
__bp_ran() { __bp_last=$BASH_COMMAND; }
trap '__bp_ran "$_"' DEBUG
shopt -s expand_aliases histverify extglob dotglob globstar autocd checkwinsize
set -o functrace
"#,
    )
    .but(TRACES),
    rc(
        "a trap that prints",
        "trap 'case $BASH_COMMAND in *__termbridge*) echo leaked \"$_\" ;; esac' DEBUG; set -T",
    )
    .but(TRACES),
    rc(
        "aliases over what scripts use",
        r"
alias local='echo aliased' builtin='echo aliased' '[['='echo aliased' declare='echo aliased'
alias __termbridge_take='echo aliased' __termbridge_end='echo aliased' __termbridge_install='echo aliased' PROMPT_COMMAND='echo aliased'
",
    ),
    rc("functions over builtins", WRAPPED),
    rc(
        "functions over the rest",
        r#"
builtin() { :; }
unset() { :; }
bind() { case "$*" in *5151*) return 1 ;; esac; builtin bind "$@"; }
local() { :; }
"#,
    ),
    rc("strict", "set -u\nset -o noclobber\nshopt -s failglob\nIFS=/:")
        .but(&["each is known"]),
    rc(
        "other keys",
        "set -o vi\nbind '\"\\e\": self-insert'\nbind '\"\\e[\": \"x\"'\nbind 'set keyseq-timeout 1'",
    ),
    rc(
        "talkative, and slow",
        "echo welcome; sleep 0.5; printf 'no newline'; read -t 0.01 x; stty -echo",
    ),
    Hostile { name: "POSIX mode", rc: "", env: &[("POSIXLY_CORRECT", "1")], changes: &[] },
    rc("starship", STARSHIP_BASH).but(TRACES),
    rc("no pasting", "bind 'set enable-bracketed-paste off'; bind 'set horizontal-scroll-mode on'"),
];

const ZSH: &[Hostile] = &[
    rc(
        "a prompt framework",
        r#"
setopt prompt_subst
fw_precmd() { echo "frame $?"; PROMPT="[\$(echo sub) %~]
%# "; RPROMPT='%?'; false }
fw_preexec() { print -r -- "about $1" }
typeset -ga precmd_functions=(fw_precmd) preexec_functions=(fw_preexec)
precmd() { print; }
preexec() { print -P '%F{red}go%f'; }
"#,
    ),
    rc(
        "options",
        r"
setopt ksh_arrays sh_word_split no_unset extended_glob no_clobber glob_dots null_glob
setopt hist_ignore_space share_history inc_append_history no_multios
",
    ),
    rc("other emulation", "emulate sh; setopt no_ignore_braces"),
    rc(
        "widgets",
        r"
bindkey -v
zle-line-init() { zle -K vicmd; }
zle-line-finish() { :; }
zle-keymap-select() { zle reset-prompt; }
zle -N zle-line-init; zle -N zle-line-finish; zle -N zle-keymap-select
accept-line() { BUFFER='echo hijacked'; zle .accept-line; }
zle -N accept-line
KEYTIMEOUT=1
bindkey -s '^[[' x
",
    ),
    rc(
        "aliases over what scripts use",
        r"
alias local='echo aliased' builtin='echo aliased' emulate='echo aliased' setopt='echo aliased'
alias -g typeset='echo aliased' zle='echo aliased'
alias __termbridge_install='echo aliased'
",
    ),
    rc("functions over builtins", WRAPPED),
    rc(
        "talkative, and slow",
        "echo welcome; sleep 0.5; print -n 'no newline'; read -t 0.01 x; stty -echo",
    ),
    rc("starship", STARSHIP_ZSH),
    rc("powerlevel10k's instant prompt", INSTANT_PROMPT),
    rc("a partial line kept", "setopt prompt_sp prompt_cr bang_hist; PROMPT_EOL_MARK='%%%%'"),
];

const FISH: &[Hostile] = &[
    rc("starship", STARSHIP_FISH),
    rc(
        "a prompt framework",
        r#"
function fish_prompt; set -l code $status; echo "frame $code"; echo -n '> '; end
function fish_right_prompt; date; end
function fish_mode_prompt; echo '[I]'; end
function fw_pre --on-event fish_preexec; echo "about $argv"; end
function fw_post --on-event fish_postexec; echo "over $status"; false; end
function fw_show --on-event fish_prompt; echo shown; end
"#,
    ),
    rc(
        "functions over builtins, and other keys",
        "function printf; switch \"$argv\"; case '*633;D;%s*'; return 1; end; builtin printf $argv; end\nfunction commandline; return 1; end\nfunction bind; string match -q '*5151*' -- \"$argv\"; and return 1; builtin bind $argv; end\nfish_vi_key_bindings\nbind -M insert \\e 'echo x'\nset -g fish_escape_delay_ms 10",
    ),
];

const DASH: &[Hostile] = &[
    rc("another prompt", "PS1='$(echo sub) $? > '; PS2='more> '"),
    rc(
        "aliases over what scripts use",
        "alias printf='echo aliased' read='echo aliased' command='echo aliased' eval='echo aliased' unset='echo aliased'; unalias printf unset",
    ),
    rc(
        "functions over builtins",
        r#"
printf() { case "$*" in *'633;D;%s'*) return 1 ;; esac; command printf "$@"; }
read() { case "$*" in *__termbridge*) return 1 ;; esac; command read "$@"; }
"#,
    ),
    rc("strict", "set -u; set -C; IFS=/:"),
    rc("talkative, and slow", "echo welcome; sleep 0.5; printf 'no newline'; stty -echo"),
];

/// What leaves the shell with less than all, and must still let commands through.
const CRIPPLED: &[(Kind, &str)] = &[
    (Bash, "if then fi )\necho still"),
    (Bash, "false && x\nreturn 3"),
    (Bash, "set -e"),
    (Bash, "readonly PS1='fixed> '"),
    (Bash, "readonly PROMPT_COMMAND='echo mine'"),
    (Bash, "readonly PS1='fixed> ' PS0= PS2='> '"),
    (Bash, "readonly HISTIGNORE=x HISTFILE=/dev/null"),
    (Bash, "unset PS1 PS2 PWD; set -u"),
    (Zsh, "if then fi )\necho still"),
    (Zsh, "return 3"),
    (Zsh, "set -e"),
    (Zsh, "setopt err_return\nfalse\necho never"),
    (Zsh, "readonly PS1='fixed> '"),
    (Zsh, "setopt xtrace verbose"),
    (Fish, "if then )"),
    (Fish, "no_such_command_at_all"),
    (Dash, "if then fi )"),
    (Dash, "set -e"),
    (Dash, "unset PS1 PS2; set -u"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_get_through_to_a_crippled_shell() {
    for (kind, text) in CRIPPLED {
        let (sessions, home) = (sessions(), home());
        let hostile = rc("crippled", text);
        let launch = prepare(*kind, &hostile, home.path());
        let session = limited(&format!("{kind:?}: {text}"), ready(&sessions, launch)).await;
        for (command, output) in [("echo hi", "hi\n"), ("echo a\necho b", "a\nb\n"), ("true", "")] {
            let report = run(&session, command).await;
            let done = CommandState::Done { exit_code: 0 };
            // Traces come between its lines.
            let same = match *text {
                "setopt xtrace verbose" => {
                    output.lines().all(|line| report.output.lines().any(|shown| shown == line))
                }
                _ => report.output == output,
            };
            assert!(same && report.state == done, "{kind:?}, {text:?}, {command:?}: {report:?}");
        }
        sessions.shutdown().await;
    }
}

pub(super) fn prepare(kind: Kind, hostile: &Hostile, home: &Path) -> Launch {
    let place = |name: &str| {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, hostile.rc).expect("written");
    };
    match kind {
        Bash => place(".bashrc"),
        Zsh => place(".zshrc"),
        Fish => place(".config/fish/config.fish"),
        Dash => place(".shrc"),
    }
    let launch = launch(kind, home).env("ENV", "$HOME/.shrc");
    hostile.env.iter().fold(launch, |launch, (name, value)| launch.env(name, value))
}

async fn table_holds_with(kind: Kind, all: &'static [Hostile]) {
    let sessions = sessions();
    let mut tables = tokio::task::JoinSet::new();
    for hostile in all {
        let sessions = sessions.clone();
        tables.spawn(async move {
            let home = home();
            let launch = prepare(kind, hostile, home.path());
            let session = limited(hostile.name, ready(&sessions, launch)).await;
            let (_, found) = run_table(&session, kind, home.path(), hostile.changes).await;
            let named = found.into_iter().map(|fault| format!("{}: {fault}", hostile.name));
            named.collect::<Vec<_>>()
        });
    }
    let faults = tables.join_all().await.concat();
    sessions.shutdown().await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bash_keeps_the_table_whatever_its_files_do() {
    table_holds_with(Bash, BASH).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn zsh_keeps_the_table_whatever_its_files_do() {
    table_holds_with(Zsh, ZSH).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fish_keeps_the_table_whatever_its_files_do() {
    table_holds_with(Fish, FISH).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dash_keeps_the_table_whatever_its_files_do() {
    table_holds_with(Dash, DASH).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_are_bytes_without_a_locale() {
    for kind in [Bash, Zsh, Fish, Dash] {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch(kind, home.path()).env("LC_ALL", "C")).await;
        let report = run(&session, "printf %s 'é漢' | wc -c").await;
        assert_eq!(report.output.trim(), "5", "{kind:?}");
        assert_eq!(run(&session, "echo next").await.output, "next\n", "{kind:?}");
        sessions.shutdown().await;
    }
}
