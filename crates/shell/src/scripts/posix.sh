# termbridge: marks commands of this shell, which has no line editor to speak to. A command comes
# through the pipe as one line, escaped for printf's %b. Marks go to the terminal itself; errors and
# traces (`set -x`) of the hooks go nowhere. The hooks need nothing from PATH.
__termbridge_steps='{ __termbridge_take "$?"; } 2> /dev/null && \eval "$__termbridge_text"; { __termbridge_end "$?"; } 2> /dev/null'
__termbridge() { eval "$__termbridge_steps"; }
__termbridge_take() {
    __termbridge_result=$1 __termbridge_nonce=
    # The end was missed: an interrupt, `return`, an error of the shell.
    [ -z "${__termbridge_undo-}" ] || __termbridge_restore
    # An empty line is the answer to one who waits in vain.
    { IFS= command read -r __termbridge_line && [ -n "$__termbridge_line" ] && IFS= command read -r __termbridge_nonce; } < @PIPE@ ||
        return 1
    # The dot keeps the trailing newlines, and shows that the text is complete.
    __termbridge_text=$(__termbridge_print "$__termbridge_line.")
    case $__termbridge_text in
    *.) __termbridge_text=${__termbridge_text%.} ;;
    *) __termbridge_text=@NOT_DECODED@ ;;
    esac
    [ "${#__termbridge_nonce}" = @NONCE_LENGTH@ ] || __termbridge_prepare
    __termbridge_text="{ __termbridge_start; } 2> /dev/null
$__termbridge_text"
    __termbridge_prompts
    __termbridge_print "$__termbridge_line\n" > /dev/tty
}
# The command's own directory and variables come behind its nonce. If one cannot be set, the command does not run.
__termbridge_prepare() {
    __termbridge_setup=${__termbridge_nonce#@NONCE_PATTERN@}
    __termbridge_nonce=${__termbridge_nonce%"$__termbridge_setup"}
    __termbridge_undo=: __termbridge_there=
    __termbridge_setup=$(__termbridge_print "$__termbridge_setup")
    # In one list: `set -e` would end the shell.
    eval "${__termbridge_setup:-false} || __termbridge_refuse"
    unset __termbridge_setup
}
__termbridge_refuse() {
    __termbridge_text=@NOT_PREPARED@
}
__termbridge_enter() {
    # Where they are read-only, `cd` fails after it has changed directory.
    (unset PWD OLDPWD) || return 1
    __termbridge_home=${PWD:-$(\command pwd)} __termbridge_old=${OLDPWD-}
    command cd -- "$1" && __termbridge_there=$PWD
}
__termbridge_export() {
    __termbridge_accepts "$1" "$2" || return 1
    if eval "[ -z \"\${$1+set}\" ]"; then
        __termbridge_undo="$__termbridge_undo; \\unset $1"
    else
        eval "__termbridge_kept_$1=\$$1"
        __termbridge_undo="$__termbridge_undo; $__termbridge_unexport $1; $1=\$__termbridge_kept_$1; \\unset __termbridge_kept_$1"
        case "
$(\command export -p)" in
        *"
export $1="* | *"
typeset -x $1="*) __termbridge_undo="$__termbridge_undo; \\export $1" ;;
        esac
    fi
    case $__termbridge_typeset$1 in
    ?*EDITOR | ?*VISUAL) __termbridge_keep_editor ;;
    esac
    command export "$1=$2"
}
# ksh and mksh choose their line editor when these variables are set.
__termbridge_keep_editor() {
    __termbridge_undo="$__termbridge_undo; \\set +o vi; \\set +o emacs; \\set +o gmacs"
    for __termbridge_editor in vi emacs gmacs; do
        # A table: `emacs      on`.
        __termbridge_option="
$(\set -o)"
        __termbridge_option=${__termbridge_option#*[!a-z-]"$__termbridge_editor" }
        case ${__termbridge_option#"${__termbridge_option%%[! ]*}"} in
        on*) __termbridge_undo="$__termbridge_undo; \\set -o $__termbridge_editor" ;;
        esac
    done
}
# The shell returns, unless the command changed directory itself.
__termbridge_restore() {
    command eval "$__termbridge_undo" || :
    if [ -n "$__termbridge_there" ] && [ "$PWD" = "$__termbridge_there" ]; then
        command cd -- "$__termbridge_home" && OLDPWD=$__termbridge_old || :
    fi
    __termbridge_undo= __termbridge_there=
}
__termbridge_start() {
    __termbridge_print '\033]633;C;@KEY@\007' > /dev/tty
    # The status of the command before, for this one to ask for.
    case $- in *e*) return 0 ;; esac
    return "$__termbridge_result"
}
__termbridge_end() {
    # Nothing was taken.
    [ -n "${__termbridge_nonce-}" ] || return "$__termbridge_result"
    __termbridge_result=$1
    [ -z "${__termbridge_undo-}" ] || __termbridge_restore
    __termbridge_print "\033]633;D;$__termbridge_result;$__termbridge_nonce\007" > /dev/tty
    # The server believes the mark when the kernel shows this shell waiting here.
    IFS= command read -r __termbridge_text < @PIPE@ || :
    __termbridge_text= __termbridge_nonce=
    __termbridge_prompts
    return "$__termbridge_result"
}
__termbridge_strip() {
    while :; do
        case $PS1 in
        *"$1"*) PS1=${PS1%%"$1"*}${PS1#*"$1"} ;;
        *) return 0 ;;
        esac
    done
}
# The status stands in the prompt as well, for a command that never came back: a syntax error, an
# interrupt. What others have put around the prompt since (`(venv) `) comes between the marks.
__termbridge_prompts() {
    case ${PS1-} in
    "$__termbridge_before"*"$__termbridge_after") ;;
    *)
        PS1=${PS1-\$ }
        __termbridge_strip "$__termbridge_before"
        __termbridge_strip "$__termbridge_after"
        PS1=$__termbridge_before$PS1$__termbridge_after
        ;;
    esac
    case ${PS2-} in
    *'633;F;@KEY@'*) ;;
    *) PS2=$__termbridge_more${PS2-> } ;;
    esac
}
# Whether a variable can have a value; how it stops being exported. ksh and mksh evaluate what is assigned to an integer:
# only a number may be, and to unset it would make it an ordinary variable. An array is more than one value.
__termbridge_accepts() {
    __termbridge_unexport='\unset'
    [ -n "$__termbridge_typeset" ] || return 0
    case "
LINENO HISTSIZE $(\command typeset -i)
" in
    *[!A-Za-z0-9_]"$1"[!A-Za-z0-9_]*)
        case ${2#-} in '' | *[!0-9]* | 0?*) return 1 ;; esac
        __termbridge_unexport=$__termbridge_typeset
        ;;
    *) eval "[ -z \"\${$1+set}\" ] || [ \"\${#$1[*]}\" -lt 2 ]" ;;
    esac
}
# Without -g, it would be a variable of the function in all but ksh93.
case $(command -v typeset)${KSH_VERSION-} in
typesetVersion*)
    __termbridge_typeset='\command typeset +x'
    # In braces, a DEBUG trap would change the status.
    __termbridge_steps=${__termbridge_steps%\{*}'__termbridge_end "$?" 2> /dev/null'
    ;;
typeset*) __termbridge_typeset='\command typeset -g +x' ;;
*) __termbridge_typeset= ;;
esac
# Prints a text in which backslashes are escapes. mksh has no printf of its own.
if [ "$(command -v printf)" = printf ]; then
    __termbridge_print() { command printf %b "$1"; }
else
    __termbridge_print() { command print -n -- "$1"; }
fi
__termbridge_before=$(__termbridge_print '\033]633;D;$?;@KEY@\007\033]633;A;@KEY@\007')
__termbridge_after=$(__termbridge_print '\033]633;B;@KEY@\007')
__termbridge_more=$(__termbridge_print '\033]633;F;@KEY@\007')
__termbridge_install() {
    unset -f command
    __termbridge_prompts
    # Without a function around it: what a command declares would be the function's.
    case $__termbridge_typeset in *-g*) alias __termbridge='\eval "$__termbridge_steps"' ;; esac
    if [ -z @KEEP_HISTORY@ ]; then
        unset HISTFILE
        # Without the variable, ksh writes to ~/.sh_history.
        HISTFILE=/dev/null
    fi
}
# Before the user's file, which may end here by a syntax error, and after it.
__termbridge_install
if [ -n @ENV@ ]; then
    ENV=@ENV@
    # Its value is expanded when it is used.
    eval "ENV=\"$ENV\""
    if [ -n @START_UP_FILES@ ] && [ -r "$ENV" ]; then
        . "$ENV" || :
    fi
    ENV=@ENV@
else
    unset ENV
fi
\__termbridge_install
