# termbridge: marks commands of this shell. Functions come before the user's files, so that no alias of
# theirs is read into them.
__termbridge_take() {
    local command
    IFS= builtin read -r -d '' command < @PIPE@ || builtin return 0
    READLINE_LINE=$command
    READLINE_POINT=${#command}
    __termbridge_open=1
}
__termbridge_end() {
    local status=$? nonce=
    if [[ -n ${__termbridge_open-} ]]; then
        __termbridge_open=
        IFS= builtin read -r -d '' -t 5 nonce < @PIPE@ || :
        builtin printf '\e]633;D;%s;%s\a' "$status" "$nonce"
    else
        builtin printf '\e]633;D;%s\a' "$status"
    fi
    builtin printf '\e]633;P;Cwd=%s\a' "$PWD"
    builtin return "$status"
}
__termbridge_prompt() {
    local status=$?
    [[ ${PS1-} == *'633;B'* ]] || PS1='\[\e]633;A\a\]'${PS1-}'\[\e]633;B\a\]'
    [[ ${PS2-} == *'633;F'* ]] || PS2='\[\e]633;F\a\]'${PS2-}
    [[ ${PS0-} == *'633;C'* ]] || PS0=${PS0-}'\e]633;C\a'
    builtin return "$status"
}
__termbridge_install() {
    local map
    builtin set +o histexpand
    builtin unset HISTFILE
    # Ours come first and last: the first sees the command's own status, the last has the last word
    # on the prompt.
    PROMPT_COMMAND=(__termbridge_end "${PROMPT_COMMAND[@]-}" __termbridge_prompt)
    for map in emacs-standard emacs-meta vi-insert vi-command; do
        builtin bind -m "$map" -x '"\e[5151;1~": __termbridge_take'
        builtin bind -m "$map" '"\e[5151;2~": accept-line'
    done 2> /dev/null
    builtin unset -f __termbridge_install
}
if [[ -r ~/.bashrc ]]; then
    . ~/.bashrc
fi
\__termbridge_install
