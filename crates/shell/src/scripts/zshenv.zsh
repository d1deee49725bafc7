# termbridge: marks commands of this shell. Functions come before the user's files, so that no alias of
# theirs is read into them. Marks go to the terminal itself, not where the shell's output may have been
# sent; errors and traces (`set -x`) of the hooks go nowhere.
__termbridge_take() {
    {
        emulate -L zsh
        local __termbridge_command
        typeset -g __termbridge_nonce
        { IFS= builtin read -r -d '' -t 5 __termbridge_command && IFS= builtin read -r -d '' __termbridge_nonce } < @PIPE@ ||
            return 0
        # The end was missed. Where the shell is was reported already: it stays there.
        [[ -z ${__termbridge_undo-} ]] || { typeset -g __termbridge_there= && __termbridge_restore }
        (( ${#__termbridge_nonce} == @NONCE_LENGTH@ )) || __termbridge_prepare
        # A half-typed line comes back at the next prompt.
        [[ -z $BUFFER ]] || zle .push-line
        BUFFER=$__termbridge_command
        typeset -g __termbridge_ran=
        [[ "$precmd_functions $preexec_functions $+functions[precmd]" == "$__termbridge_hooks" ]] ||
            __termbridge_hook
        zle .accept-line
    } 2> /dev/null
}
# The command's own directory and variables come behind its nonce. If one cannot be set, the command does not run.
__termbridge_prepare() {
    local __termbridge_setup=${__termbridge_nonce:@NONCE_LENGTH@}
    typeset -g __termbridge_nonce=${__termbridge_nonce:0:@NONCE_LENGTH@} __termbridge_undo=:
    # In one list: `set -e` would end the shell.
    eval "$__termbridge_setup || __termbridge_refuse"
}
__termbridge_refuse() {
    __termbridge_command=@NOT_PREPARED@
}
__termbridge_enter() {
    # Where they are read-only, the shell could not come back.
    [[ ${(t)PWD}${(t)OLDPWD} != *readonly* ]] || return 1
    typeset -g __termbridge_home=$PWD __termbridge_old=$OLDPWD
    # Without hooks: the shell comes back.
    builtin cd -q -- "$1" && typeset -g __termbridge_there=$PWD
}
__termbridge_export() {
    case ${(tP)1} in
        # To set it would end more than the function.
        (*(readonly|array|association)*) return 1 ;;
        # What is assigned to a number is evaluated.
        (*(integer|float)*) case ${2#-} in (''|*[^0-9]*|0?*) return 1 ;; esac ;;
    esac
    case ${(tP)1} in
        ('') __termbridge_undo+="; unset $1" ;;
        (*export*) __termbridge_undo+="; \\builtin export $1=${(qq)${(P)1}}" ;;
        (*) __termbridge_undo+="; typeset -g +x $1=${(qq)${(P)1}}" ;;
    esac
    builtin export "$1=$2"
}
# The shell returns, unless the command changed directory itself.
__termbridge_restore() {
    emulate -L zsh
    eval "$__termbridge_undo"
    if [[ -n ${__termbridge_there-} && $PWD == "$__termbridge_there" ]]; then
        # `cd -` goes by where the shell was, not by OLDPWD.
        builtin cd -q -- "$__termbridge_home" &&
            builtin cd -q -- "$__termbridge_old" && builtin cd -q -- "$__termbridge_home"
    fi
    typeset -g __termbridge_undo= __termbridge_there=
}
__termbridge_end() {
    {
        local -i __termbridge_result=$? __termbridge_fatal=0
        [[ ! -o err_exit && ! -o err_return ]] || __termbridge_fatal=1
        setopt local_options no_err_exit no_err_return
        local __termbridge_mark=${__termbridge_nonce-} __termbridge_answer
        if [[ -n $__termbridge_mark ]]; then
            typeset -g __termbridge_nonce=
            # A syntax error has no status of its own.
            [[ -n $__termbridge_ran ]] || __termbridge_result=1
            [[ -z ${__termbridge_undo-} ]] || __termbridge_restore
        fi
        builtin printf '\e]633;D;%s;%s\a' $__termbridge_result "${__termbridge_mark:-@KEY@}" >| /dev/tty ||
            builtin printf '\e]633;D;%s;%s\a' $__termbridge_result "${__termbridge_mark:-@KEY@}"
        # The server believes the mark when the kernel shows this shell waiting here.
        [[ -z $__termbridge_mark ]] || IFS= builtin read -r -d '' -t 5 __termbridge_answer < @PIPE@
        (( __termbridge_fatal )) || return $__termbridge_result
        return 0
    } 2> /dev/null
}
__termbridge_start() {
    {
        typeset -g __termbridge_ran=1
        builtin printf '\e]633;C;@KEY@\a' >| /dev/tty || builtin printf '\e]633;C;@KEY@\a'
        return 0
    } 2> /dev/null
}
# The last hook has the last word on the prompt. The status stands in the prompt as well, for a command
# that took the hooks away. What others have put around the prompt since (`(venv) `) comes between the marks.
__termbridge_prompt() {
    {
        # `emulate -R zsh` brings these back.
        setopt no_prompt_sp no_prompt_cr
        local __termbridge_before=$'%{\e]633;D;%?;@KEY@\a\e]633;A;@KEY@\a%}' __termbridge_after=$'%{\e]633;B;@KEY@\a%}'
        if [[ ${PS1-} != "$__termbridge_before"*"$__termbridge_after" ]]; then
            local __termbridge_own=${${PS1-}//"$__termbridge_before"/}
            PS1=$__termbridge_before${__termbridge_own//"$__termbridge_after"/}$__termbridge_after
        fi
        [[ ${PS2-} == *'633;F;@KEY@'* ]] || PS2=$'%{\e]633;F;@KEY@\a%}'${PS2-}
        return 0
    } 2> /dev/null
}
# Only what is not ours goes into the history.
__termbridge_history() {
    setopt local_options no_err_exit no_err_return
    [[ -z ${__termbridge_nonce-} ]]
}
# Puts our hooks where they belong: the end before anything that others print, the start after it.
__termbridge_hook() {
    emulate -L zsh
    typeset -ga precmd_functions preexec_functions zshaddhistory_functions
    if [[ "$precmd_functions" != '__termbridge_end '*__termbridge_prompt ]]; then
        precmd_functions=(__termbridge_end ${precmd_functions:#__termbridge_(end|prompt)} __termbridge_prompt)
    fi
    if [[ "$preexec_functions" != *__termbridge_start ]]; then
        preexec_functions=(${preexec_functions:#__termbridge_start} __termbridge_start)
    fi
    if [[ -z @KEEP_HISTORY@ && "$zshaddhistory_functions" != *__termbridge_history* ]]; then
        zshaddhistory_functions+=(__termbridge_history)
    fi
    # The function `precmd` comes before the list.
    if (( $+functions[precmd] )) && [[ $functions[precmd] != *__termbridge_end* ]]; then
        functions -c precmd __termbridge_precmd && eval 'precmd() { { __termbridge_end } 2> /dev/null; __termbridge_precmd "$@"; }'
    fi
    # For a quick look. A function `precmd` is looked at anew each time.
    typeset -g __termbridge_hooks="$precmd_functions $preexec_functions 0"
    return 0
}
__termbridge_install() {
    {
        emulate -L zsh
        local __termbridge_map
        __termbridge_hook
        zle -N __termbridge_take
        for __termbridge_map in emacs viins vicmd; do
            bindkey -M $__termbridge_map '\e[5151;1~' __termbridge_take
        done
        [[ -n @KEEP_HISTORY@ ]] || unset HISTFILE
        unfunction __termbridge_install
        return 0
    } 2> /dev/null
}
# The user's own .zshenv, as if ZDOTDIR had not been ours.
__termbridge_folder=$ZDOTDIR
if [[ -n @ZDOTDIR@ ]]; then
    ZDOTDIR=@ZDOTDIR@
else
    unset ZDOTDIR
fi
if [[ -n @START_UP_FILES@ && -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    . "${ZDOTDIR-$HOME}/.zshenv" || :
fi
__termbridge_original=${ZDOTDIR-}
ZDOTDIR=$__termbridge_folder
