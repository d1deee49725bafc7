# termbridge: the user's own .zshenv, as if ZDOTDIR had not been ours.
__termbridge_folder=$ZDOTDIR
if [[ -n @ZDOTDIR@ ]]; then
    ZDOTDIR=@ZDOTDIR@
else
    unset ZDOTDIR
fi
if [[ -r ${ZDOTDIR-$HOME}/.zshenv ]]; then
    . ${ZDOTDIR-$HOME}/.zshenv
fi
__termbridge_original=${ZDOTDIR-}
ZDOTDIR=$__termbridge_folder
