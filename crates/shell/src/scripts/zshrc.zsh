# termbridge: marks commands of this shell. Functions come before the user's files, so that no alias of
# theirs is read into them.
__termbridge_take() {
    emulate -L zsh
    local command
    IFS= builtin read -r -d '' command < @PIPE@ || return 0
    BUFFER=$command
    typeset -g __termbridge_open=1
    zle .accept-line
}
__termbridge_end() {
    local result=$?
    emulate -L zsh
    local nonce=
    if [[ -n ${__termbridge_open-} ]]; then
        __termbridge_open=
        IFS= builtin read -r -d '' -t 5 nonce < @PIPE@
        builtin printf '\e]633;D;%s;%s\a' $result "$nonce"
    else
        builtin printf '\e]633;D;%s\a' $result
    fi
    builtin printf '\e]633;P;Cwd=%s\a' "$PWD"
    return $result
}
__termbridge_start() {
    builtin printf '\e]633;C\a'
}
__termbridge_prompt() {
    local result=$?
    emulate -L zsh
    [[ ${PS1-} == *'633;B'* ]] || PS1=$'%{\e]633;A\a%}'${PS1-}$'%{\e]633;B\a%}'
    [[ ${PS2-} == *'633;F'* ]] || PS2=$'%{\e]633;F\a%}'${PS2-}
    return $result
}
__termbridge_install() {
    emulate -L zsh
    local map
    typeset -ga precmd_functions preexec_functions
    precmd_functions=(__termbridge_end $precmd_functions __termbridge_prompt)
    preexec_functions=($preexec_functions __termbridge_start)
    zle -N __termbridge_take
    for map in emacs viins vicmd; do
        bindkey -M $map '\e[5151;1~' __termbridge_take
    done
    unset HISTFILE
    unfunction __termbridge_install
}
if [[ -n $__termbridge_original ]]; then
    ZDOTDIR=$__termbridge_original
else
    unset ZDOTDIR
fi
unset __termbridge_original __termbridge_folder
if [[ -r ${ZDOTDIR-$HOME}/.zshrc ]]; then
    . ${ZDOTDIR-$HOME}/.zshrc
fi
\__termbridge_install
# A partial line stays as it is, and `!` is a character.
setopt no_prompt_sp no_prompt_cr no_bang_hist
