# termbridge: marks commands of this shell. fish reads this after the user's config.fish. Builtins are
# asked for as such, and marks go to the terminal itself.
function __termbridge_take
    set -l taken
    builtin read -z taken < @PIPE@
    if builtin test -z "$taken"
        # Somebody else took it.
        builtin commandline -f repaint
        return
    end
    set -g __termbridge_nonce (builtin string sub -l @NONCE_LENGTH@ -- $taken)
    set taken (builtin string sub -s (builtin math @NONCE_LENGTH@ + 1) -- $taken | builtin string collect)
    # The end was missed. Where the shell is was reported already: it stays there.
    set -e __termbridge_there
    set -q __termbridge_undo
    and __termbridge_restore
    if builtin string match -q \x01'*' -- $taken
        set -l setup (builtin string match -r '^\x01[^\x01]*\x01' -- $taken | builtin string collect)
        set taken (builtin string sub -s (builtin math (builtin string length -- $setup) + 1) -- $taken | builtin string collect)
        set -g __termbridge_undo :
        # If its directory or a variable cannot be set, the command does not run.
        eval (builtin string trim -c \x01 -- $setup | builtin string collect)
        or set taken @NOT_PREPARED@
    end
    builtin commandline -r -- $taken
    builtin commandline --is-valid
    switch $status
        case 0
            # A leading space keeps it out of the history.
            test -n @KEEP_HISTORY@
            or builtin commandline -r -- " $taken"
            builtin commandline -f execute
            return
        case 2
            # The text is not a whole command: say so, and run nothing.
            builtin printf '\r\n\e]633;C;@KEY@\a' > /dev/tty
            set -g __termbridge_unrun incomplete
        case '*'
            # fish would not run it and keep it in the line: let it say why.
            builtin printf '\r\n\e]633;C;@KEY@\a' > /dev/tty
            set -l fish (builtin status fish-path)
            command $fish --no-config --no-execute -c $taken
            set -g __termbridge_unrun 123
    end
    __termbridge_end
    builtin printf '\e]633;B;@KEY@\a' > /dev/tty
    builtin commandline -r ''
    builtin commandline -f repaint
end
function __termbridge_enter
    set -g __termbridge_home $PWD
    builtin cd -- $argv[1]
    and set -g __termbridge_there $PWD
end
function __termbridge_export
    set -l kept __termbridge_kept_$argv[1]
    if set -qg $argv[1]
        set -g $kept $$argv[1]
        set -l flag u
        set -qgx $argv[1]
        and set flag x
        set -a __termbridge_undo "set -g$flag $argv[1] \$$kept; set -e $kept"
    else
        # A universal variable of this name shows again.
        set -a __termbridge_undo "set -eg $argv[1]"
    end
    # `set` changes the status only where it fails.
    builtin true
    set -gx $argv[1] $argv[2]
end
# The shell returns, unless the command changed directory itself.
function __termbridge_restore
    for undo in $__termbridge_undo
        eval $undo
    end
    if set -q __termbridge_there; and test "$PWD" = "$__termbridge_there"
        builtin cd -- $__termbridge_home > /dev/null 2>&1
    end
    set -e __termbridge_undo __termbridge_there
end
function __termbridge_start --on-event fish_preexec
    builtin printf '\e]633;C;@KEY@\a' > /dev/tty
end
function __termbridge_end --on-event fish_postexec
    set -l result $status
    set -l nonce $__termbridge_nonce
    set -e __termbridge_nonce
    if set -q __termbridge_unrun
        set result $__termbridge_unrun
        set -e __termbridge_unrun
    end
    set -l mark $nonce @KEY@
    builtin printf '\e]633;D;%s;%s\a' $result $mark[1] > /dev/tty
    # After the mark: what handlers of PWD or of a variable print cannot be redirected, and is not the command's.
    set -q __termbridge_undo
    and __termbridge_restore
    # The server believes the mark when the kernel shows this shell waiting here.
    if test -n "$nonce"
        builtin read -z nonce < @PIPE@
    end
end
function __termbridge_prompt --on-event fish_prompt
    set -l result $status
    if builtin functions -q __termbridge_install
        __termbridge_install
    end
    builtin printf '\e]633;D;%s;@KEY@\a\e]633;A;@KEY@\a\e]633;B;@KEY@\a' $result > /dev/tty
end
function __termbridge_install
    builtin functions -e __termbridge_install
    test -n @KEEP_HISTORY@
    or set -g fish_history ''
    # Those who hear of a command's end hear of it in the order in which they came: ours is the first.
    for line in (builtin functions --handlers-type generic)
        set -l words (string split -n ' ' -- $line)
        if test "$words[1]" = fish_postexec; and test "$words[2]" != __termbridge_end
            builtin functions -- $words[2] | builtin source
        end
    end
    for mode in default insert visual replace replace_one paste
        builtin bind -M $mode \e\[5151\;1~ __termbridge_take 2> /dev/null
    end
end
set -g fish_greeting
