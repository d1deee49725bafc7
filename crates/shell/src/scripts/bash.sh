# termbridge: marks commands of this shell. Functions come before the user's files, so that no alias of
# theirs is read into them. Builtins are asked for as such, and marks go to the terminal itself: neither
# a function of the same name nor a redirection of the shell's output may stand in the way. Errors,
# traces (`set -x`) and what a DEBUG trap prints of the hooks go nowhere. Variables have names of their
# own: what a command made read-only cannot be made local either. With `set -k`, what `local` is to set would be a
# variable for `local` itself: the option is off in hooks.
#
# A call copies the function's body, so what is rarely needed stands in functions of its own.
__termbridge_take() {
    [[ $- != *k* ]] || { builtin local - && builtin set +k; }
    builtin local __termbridge_command=
    # Asks whether there is something first: a limit on each byte would cost more.
    if {
        builtin read -t 0 &&
            { IFS= builtin read -r -d '' __termbridge_command || __termbridge_read __termbridge_command; } &&
            { IFS= builtin read -r -d '' __termbridge_nonce || __termbridge_read __termbridge_nonce; }
    } < @PIPE@; then
        # The end was missed. Where the shell is was reported already: it stays there.
        [[ -z ${__termbridge_undo-} ]] || { __termbridge_there= && __termbridge_restore; }
        ((${#__termbridge_nonce} == @NONCE_LENGTH@)) || __termbridge_prepare
        # Keeps the command out of the history.
        if [[ -z @KEEP_HISTORY@ ]]; then
            if [[ -z ${HISTIGNORE+set} ]]; then __termbridge_ignored= HISTIGNORE='*'; else __termbridge_forget; fi
        fi
        # Without a terminal to write to, the line editor and PS0 are silent.
        [[ -t 3 ]] || builtin printf '\e]633;C;@KEY@\a' >| /dev/tty || builtin :
    else
        __termbridge_command=
    fi
    [[ "${PROMPT_COMMAND[*]-}" == "${__termbridge_hooks-}" ]] || __termbridge_rehook
    READLINE_LINE=$__termbridge_command
    READLINE_POINT=${#__termbridge_command}
}
# Reads a part where IFS is read-only: REPLY keeps blanks at both ends.
__termbridge_read() {
    builtin local REPLY
    builtin read -r -d '' && builtin printf -v "$1" %s "$REPLY"
}
# The same where the user has set HISTIGNORE, unless it is read-only.
__termbridge_forget() {
    ! __termbridge_fixed HISTIGNORE || builtin return 0
    __termbridge_ignored="=$HISTIGNORE"
    HISTIGNORE='*'
}
# The command's own directory and variables come behind its nonce. If one cannot be set, the command does not run.
__termbridge_prepare() {
    builtin local __termbridge_setup="${__termbridge_nonce:@NONCE_LENGTH@}"
    __termbridge_nonce=${__termbridge_nonce:0:@NONCE_LENGTH@}
    __termbridge_undo=:
    # In one list: `set -e` would end the shell.
    builtin eval "$__termbridge_setup || __termbridge_refuse"
}
__termbridge_refuse() {
    __termbridge_command=@NOT_PREPARED@
}
__termbridge_enter() {
    # Where they are read-only, `cd` fails after it has changed directory.
    (\builtin unset -v PWD OLDPWD) || builtin return 1
    __termbridge_home=${PWD:-$(\builtin pwd)} __termbridge_old=${OLDPWD-}
    builtin cd -- "$1" && __termbridge_there=$PWD
}
# A variable of a kind that does not take the value as it is cannot be set: what is assigned to an integer is evaluated.
__termbridge_export() {
    builtin local __termbridge_kind
    __termbridge_kind=$(\builtin declare -p "$1")
    __termbridge_kind=${__termbridge_kind#declare -}
    __termbridge_kind=${__termbridge_kind%%[[:space:]]*}
    case $__termbridge_kind in
        *[!xti-]*) builtin return 1 ;;
        *i*) case ${2#-} in '' | *[!0-9]* | 0?*) builtin return 1 ;; esac ;;
    esac
    if [[ -z ${!1+set} ]]; then
        __termbridge_undo+="; \\builtin unset -v $1"
    elif [[ $__termbridge_kind == *x* ]]; then
        __termbridge_undo+="; \\builtin export $1=${!1@Q}"
    else
        __termbridge_undo+="; \\builtin declare -g +x $1=${!1@Q}"
    fi
    builtin export "$1=$2"
}
# The shell returns, unless the command changed directory itself.
__termbridge_restore() {
    builtin eval "$__termbridge_undo" || builtin :
    if [[ -n ${__termbridge_there-} && ${PWD-} == "$__termbridge_there" ]]; then
        builtin cd -- "$__termbridge_home" && OLDPWD=$__termbridge_old || builtin :
    fi
    __termbridge_undo= __termbridge_there=
}
# Where no hook can be set, the end follows the command itself.
__termbridge_rehook() {
    if __termbridge_fixed PROMPT_COMMAND; then
        [[ -z $__termbridge_command ]] || __termbridge_command+=$'\n{ \\__termbridge_end; } 3>&1 > /dev/null 2>&1'
    else
        __termbridge_hook
    fi
}
__termbridge_end() {
    __termbridge_status=${1-$?}
    [[ $- != *k* ]] || { builtin local - && builtin set +k; }
    builtin local __termbridge_mark="${__termbridge_nonce-}" __termbridge_answer
    # Before it waits, where Ctrl+C may end it: the next end is not this command's.
    if [[ -n $__termbridge_mark ]]; then
        __termbridge_nonce=
        if [[ -z @KEEP_HISTORY@ && ${HISTIGNORE-} == '*' ]]; then
            if [[ -n $__termbridge_ignored ]]; then HISTIGNORE=${__termbridge_ignored#=}; else builtin unset HISTIGNORE; fi
        fi
        [[ -z ${__termbridge_undo-} ]] || __termbridge_restore
    fi
    builtin printf '\e]633;D;%s;%s\a' "$__termbridge_status" "${__termbridge_mark:-@KEY@}" >| /dev/tty ||
        builtin printf '\e]633;D;%s;%s\a' "$__termbridge_status" "${__termbridge_mark:-@KEY@}" >&3 || builtin :
    # The server believes the mark when the kernel shows this shell waiting here.
    [[ -z $__termbridge_mark ]] || builtin read -r -d '' -t 5 __termbridge_answer < @PIPE@ || builtin :
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)) && [[ $- != *e* ]]; then
        builtin return "$__termbridge_status"
    fi
}
# The last hook has the last word on the prompt.
__termbridge_prompt() {
    __termbridge_status=$?
    [[ $- != *k* ]] || { builtin local - && builtin set +k; }
    [[ -z ${__termbridge_nonce-} ]] || __termbridge_end "$__termbridge_status"
    [[ "${PS0-}"$'\n'"${PS1-}"$'\n'"${PS2-}" == "${__termbridge_marked-}" ]] || __termbridge_marks
}
# The status stands in the prompt as well, for a command that took the hooks away. What others have put around the
# prompt since (`(venv) `) comes between the marks.
__termbridge_marks() {
    [[ ${PS0-} == *'633;C;@KEY@\a' ]] || __termbridge_fixed PS0 || PS0='\e]633;E;;@KEY@\a'${PS0-}'\e]633;C;@KEY@\a'
    [[ ${PS2-} == *'633;F;@KEY@'* ]] || __termbridge_fixed PS2 || PS2='\[\e]633;F;@KEY@\a\]'${PS2-}
    builtin local __termbridge_before='\[\e]633;D;$?;@KEY@\a\e]633;A;@KEY@\a\]' __termbridge_after='\[\e]633;B;@KEY@\a\]'
    [[ ${PS1-} == "$__termbridge_before"*"$__termbridge_after" ]] || __termbridge_fixed PS1 || {
        PS1=${PS1-}
        PS1=${PS1//"$__termbridge_before"/}
        PS1=$__termbridge_before${PS1//"$__termbridge_after"/}$__termbridge_after
    }
    __termbridge_marked="${PS0-}"$'\n'"${PS1-}"$'\n'"${PS2-}"
}
# A variable that must not be changed: an attempt would end more than the function.
__termbridge_fixed() {
    [[ -n ${!1+set} && ${!1@a} == *r* ]]
}
# Puts our hooks first and last: the first sees the command's own status and comes before anything that
# others print.
__termbridge_hook() {
    builtin local __termbridge_each __termbridge_first='{ \__termbridge_end; } 3>&1 > /dev/null 2>&1' __termbridge_last='{ \__termbridge_prompt; } 3>&1 > /dev/null 2>&1'
    builtin local IFS=$'\n'
    ! __termbridge_fixed PROMPT_COMMAND || builtin return 0
    builtin local -a __termbridge_others
    __termbridge_others=()
    for __termbridge_each in "${PROMPT_COMMAND[@]-}"; do
        __termbridge_each=${__termbridge_each//"$__termbridge_first"/}
        __termbridge_each=${__termbridge_each//"$__termbridge_last"/}
        [[ $__termbridge_each != *[![:space:]\;]* ]] || __termbridge_others[${#__termbridge_others[@]}]=$__termbridge_each
    done
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
        PROMPT_COMMAND="$__termbridge_first"$'\n'"${__termbridge_others[*]-}"$'\n'"$__termbridge_last"
    elif ((${#__termbridge_others[@]})); then
        PROMPT_COMMAND=("$__termbridge_first" "${__termbridge_others[@]}" "$__termbridge_last")
    else
        PROMPT_COMMAND=("$__termbridge_first" "$__termbridge_last")
    fi
    # For a quick look, joined as with the usual IFS; with another one it is looked at closely.
    builtin unset -v IFS
    __termbridge_hooks="${PROMPT_COMMAND[*]}"
}
__termbridge_install() {
    [[ $- != *k* ]] || { builtin local - && builtin set +k; }
    builtin local __termbridge_map
    # `!` is a character.
    builtin set +o histexpand || builtin :
    [[ -n @KEEP_HISTORY@ ]] || __termbridge_fixed HISTFILE || builtin unset HISTFILE || builtin :
    for __termbridge_map in emacs-standard emacs-meta emacs-ctlx vi-insert vi-command; do
        # This text is read with the aliases of the moment. `$_` is handed on as the last argument.
        builtin bind -m "$__termbridge_map" -x '"\e[5151;2~": \__termbridge_take "$_" 3>&2 2> /dev/null'
        builtin bind -m "$__termbridge_map" '"\e[5151;3~": accept-line'
        # One key for both: a lost one must not run whatever stands in the line.
        builtin bind -m "$__termbridge_map" '"\e[5151;1~": "\e[5151;2~\e[5151;3~"'
    done || builtin :
    builtin unset -f __termbridge_install __termbridge_builtin
    __termbridge_marks
    __termbridge_hook
}
# A function called `builtin` would stand before all of them. In POSIX mode, and only there, `unset` is
# the shell's own whatever functions there are.
__termbridge_builtin() {
    if [[ -o posix ]]; then
        unset -f builtin
    else
        POSIXLY_CORRECT=1
        unset -f builtin
        unset POSIXLY_CORRECT
    fi
}
# Interactive in POSIX mode, this file is read as ENV, in place of theirs.
if [[ -n @ENV@ ]]; then
    ENV=@ENV@
else
    unset ENV
fi
if [[ -z @START_UP_FILES@ ]]; then
    :
elif [[ ! -o posix ]]; then
    if [[ -r ~/.bashrc ]]; then
        . ~/.bashrc || :
    fi
elif [[ -n ${ENV-} && -r $ENV ]]; then
    . "$ENV" || :
fi
\__termbridge_builtin
{ \__termbridge_install; } 2> /dev/null
