# termbridge: marks commands of this shell, which has no line editor to speak to. A command comes
# through the pipe as one line, escaped for printf's %b.
__termbridge() {
    IFS= read -r __termbridge_text < @PIPE@ || return 0
    __termbridge_text=$(printf '%b.' "$__termbridge_text")
    __termbridge_text=${__termbridge_text%.}
    printf '%s\n\033]633;C\007' "$__termbridge_text"
    eval "$__termbridge_text"
    __termbridge_result=$?
    IFS= read -r __termbridge_text < @PIPE@
    printf '\033]633;D;%s;%s\007\033]633;P;Cwd=%s\007' "$__termbridge_result" "$__termbridge_text" "$PWD"
    unset __termbridge_text
    return "$__termbridge_result"
}
PS1=$(printf '\033]633;D;$?\007\033]633;A\007')${PS1-\$ }$(printf '\033]633;B\007')
PS2=$(printf '\033]633;F\007')${PS2-> }
