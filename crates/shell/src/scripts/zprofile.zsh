# termbridge: the user's own .zprofile.
if [[ -r ${__termbridge_original:-$HOME}/.zprofile ]]; then
    . "${__termbridge_original:-$HOME}/.zprofile" || :
fi
