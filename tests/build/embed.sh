#!/usr/bin/env bash
# embed.sh -- what embed makes of files compiles without warnings, and holds them to the byte.
#
#     embed.sh EMBED INCLUDE_FOLDER COMPILER...
set -eu -o pipefail

embed=$1 include=$(realpath "$2")
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir -p tree/kernels/flex/mods build

fail() {
    echo "FAILED: $*"
    exit 1
}

# Quotes, escapes, a format, trigraphs, a tab, a carriage return, a character past ASCII, more than 4095 characters, no newline at the end.
{
    printf 'char a = %s, b[] = "\\\\ %%s ??/ ??= \\n"; /* \303\251 */\n\n\t// \\\n' "'\"'"
    printf 'as some editors end it\r\n'
    seq 2000
    printf 'no newline'
} >tree/kernels/flex/mods/odd.h
echo 'int plain;' >tree/kernels/plain.c
: >tree/kernels/empty.h
files=(tree/kernels/flex/mods/odd.h tree/kernels/plain.c tree/kernels/empty.h)

cat >build/main.c <<'END'
#include "kgate.h"
extern const kg_source its_texts[];
int main(int argc, char **argv)
{
    for (const kg_source *one = its_texts; one->name; one++)
        if (argc == 1)
            puts(one->name);
        else if (!strcmp(one->name, argv[1]))
            fputs(one->text, stdout);
    return 0;
}
END
sed -i 's/^#include "kgate.h"/&\n#include <string.h>/' build/main.c

cd build # as Meson calls it, by paths from there
"$embed" texts.c its_texts ../tree "$scratch/tree/kernels" "${files[@]/#/../}"
"$@" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$include" -o main main.c texts.c
[ "$(./main | tr '\n' ' ')" = 'flex/mods/odd.h plain.c empty.h ' ] || fail "names: $(./main)"
for file in "${files[@]}"; do
    name=${file#tree/kernels/}
    { printf '#line 1 "%s"\n' "${file#tree/}"; cat "../$file"; } >wanted
    [ -z "$(tail -c 1 wanted | tr -d '\n')" ] || echo >>wanted # a last line is ended
    ./main "$name" | cmp - wanted || fail "$name is not what the file holds"
done
echo "ok: ${#files[@]} files"

refused() { # refused TEXT ARGUMENT...
    local text=$1
    shift
    if "$embed" refused.c its_texts "$@" 2>err; then fail "not refused: $*"; fi
    grep -q -F "$text" err || fail "does not say $text: $(cat err)"
    [ ! -e refused.c ] || fail "refused, but written: $*"
    echo "ok: refused: $text"
}
refused 'none.h: no such file' ../tree ../tree ../tree/none.h
refused 'plain.c is not in ../tree/kernels/flex' ../tree ../tree/kernels/flex ../tree/kernels/plain.c
