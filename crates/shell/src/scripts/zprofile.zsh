# termbridge: the user's own .zprofile.
if [[ -n @START_UP_FILES@ && -r ${__termbridge_original:-$HOME}/.zprofile ]]; then
    . "${__termbridge_original:-$HOME}/.zprofile" || :
fi
