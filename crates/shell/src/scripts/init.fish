# termbridge: marks commands of this shell. fish reads this before the user's config.fish.
function __termbridge_take
    set -l taken
    builtin read -z taken < @PIPE@
    set -g __termbridge_open 1
    commandline -r -- $taken
    if commandline --is-valid
        commandline -f execute
        return
    end
    # fish would not run it and keep it in the line: let it say why, as if it had run.
    commandline -r ''
    builtin printf '\r\n\e]633;C\a'
    eval $taken
    __termbridge_end
    commandline -f repaint
end
function __termbridge_start --on-event fish_preexec
    builtin printf '\e]633;C\a'
end
function __termbridge_end --on-event fish_postexec
    set -l result $status
    if set -q __termbridge_open
        set -e __termbridge_open
        set -l nonce
        builtin read -z nonce < @PIPE@
        builtin printf '\e]633;D;%s;%s\a' $result $nonce
    else
        builtin printf '\e]633;D;%s\a' $result
    end
    builtin printf '\e]633;P;Cwd=%s\a' $PWD
end
function __termbridge_install --on-event fish_prompt
    functions -e __termbridge_install
    set -g fish_history ''
    set -g fish_greeting
    for mode in default insert visual
        bind -M $mode \e\[5151\;1~ __termbridge_take 2> /dev/null
    end
    functions -q fish_prompt
    or function fish_prompt
        echo '> '
    end
    functions -c fish_prompt __termbridge_prompt_of_user
    function fish_prompt
        set -l result $status
        builtin printf '\e]633;A\a'
        __termbridge_status $result
        __termbridge_prompt_of_user
        builtin printf '\e]633;B\a'
    end
    builtin printf '\e]633;P;Cwd=%s\a' $PWD
end
function __termbridge_status
    return $argv[1]
end
set -g fish_greeting
