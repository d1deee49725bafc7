# termbridge: the user's own .zshrc, then our hooks around theirs.
if [[ -n $__termbridge_original ]]; then
    ZDOTDIR=$__termbridge_original
else
    unset ZDOTDIR
fi
unset __termbridge_original __termbridge_folder
if [[ -n @START_UP_FILES@ && -r ${ZDOTDIR-$HOME}/.zshrc ]]; then
    . "${ZDOTDIR-$HOME}/.zshrc" || :
fi
\__termbridge_install
# A partial line stays as it is, `!` is a character, comments are comments, and a wrong name is an error, not a question.
\builtin \setopt no_prompt_sp no_prompt_cr no_bang_hist interactive_comments no_correct no_correct_all
