#!/usr/bin/env bash
# completion.sh -- what bash completes after kgate: its commands, the options that a command takes and no others, and the
# words of an option.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"
# shellcheck source=../../tools/kgate.bash
. "$here/../../tools/kgate.bash"

# completed WORD... -- what the last of them, after kgate, can become.
completed() {
    COMP_WORDS=("$kgate" "$@")
    COMP_CWORD=$#
    _kgate "$kgate" "${COMP_WORDS[$#]}" "${COMP_WORDS[$(($# - 1))]}"
    echo "${COMPREPLY[*]}"
}

expect 'commands' "$(completed '')" 'checkout doctor leaderboard list resources run selfcheck'
expect 'a command' "$(completed se)" selfcheck
expect 'an option' "$(completed run --fail)" --fail-fast
expect 'an option of another command' "$(completed list --fail)" ''
expect 'words' "$(completed run 'many/*' --timer '')" 'event graph'
expect 'words, one of which takes more' "$(completed list --device c)" 'cpu cuda'
expect 'a file' "$(completed run --junit '')" ''
expect 'a pattern that is no pattern for grep' "$(completed run '--[' --fail)" --fail-fast
expect 'after a flag' "$(completed run --no-time --fail)" --fail-fast

# takes COMMAND OPTION -- as the parser says: what follows is an option that there is not, or the option's value.
takes() {
    local said
    said=$("$kgate" "$1" "$2" --nosuch --nosuch 2>&1 || true)
    ! grep -q -F -e "$2 does not go with this command" <<<"$said"
}
options=$("$kgate" --help | grep -o -e ' --[a-z0-9-]*' | sort -u)
expect 'there are many options' "$([ "$(wc -w <<<"$options")" -gt 40 ] && echo yes)" yes
for command in doctor leaderboard list resources run selfcheck; do
    wanted=''
    for option in $options; do
        if takes $command "$option"; then
            wanted+=" $option"
        fi
    done
    expect "options of $command" " $(completed $command --)" "$wanted"
done
finish
