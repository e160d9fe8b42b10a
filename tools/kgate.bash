# shellcheck shell=bash
# kgate.bash -- completes kgate's commands, their options, and the words that an option takes; all as `kgate --help` and
# `kgate COMMAND --help` name them. Anything else is completed as a file.
_kgate()
{
    local program=$1 word=$2 previous=$3 help value='' words
    if [ "$COMP_CWORD" = 1 ]; then
        words=$("$program" --help 2>/dev/null | sed -n 's/^  kgate \([a-z]*\).*/\1/p')
    else
        help=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null)
        words=$(grep -o -e ' --[a-z0-9-]*' <<<"$help")
        [[ $previous = --* ]] && value=$(grep -o -e " $previous [^- ][^ ]*" <<<"$help" | cut -d ' ' -f 3)
        case $value in
        *'|'*) words=$(tr '|' '\n' <<<"${value%%[*}") ;;
        ?*) words='' ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
}
complete -o default -F _kgate kgate
