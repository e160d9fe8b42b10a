#!/usr/bin/env bash
# checkout.sh -- kgate checkout: the tree of any commit into a folder, and nothing of the repository moved.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

mkdir repository && cd repository
git init -q -b trunk
git config user.name A
git config user.email a@example.org
mkdir -p src/deep
echo one >src/deep/a.txt
printf '#!/bin/sh\necho ran\n' >run
chmod +x run
ln -s src/deep/a.txt link
git add . && git commit -q -m first
first=$(git rev-parse HEAD)
git tag -a v1 -m 'the first'
echo two >src/deep/a.txt
git rm -q run
git commit -q -a -m second
second=$(git rev-parse HEAD)
git branch side HEAD~1
echo 'not committed' >src/deep/a.txt
echo untracked >new.txt
state() { # all that must not move
    git rev-parse HEAD && git symbolic-ref HEAD && git status --porcelain && sha256sum .git/index src/deep/a.txt new.txt
}
before=$(state)

taken() { # taken REF SHA TEXT -- REF is SHA, whose src/deep/a.txt is TEXT
    rm -rf ../tree
    gate checkout "$1" ../tree
    expect "$1: status" "$status" 0
    expect "$1: SHA" "$(cat ../out)" "$2"
    expect "$1: content" "$(cat ../tree/src/deep/a.txt)" "$3"
    expect "$1: nothing else" "$(cd ../tree && find . ! -type d | sort | xargs)" \
        "$(git ls-tree -r --name-only "$2" | sed 's|^|./|' | LC_ALL=C sort | xargs)"
}

taken HEAD "$second" two
taken trunk "$second" two
taken HEAD~1 "$first" one
expect 'executable' "$(../tree/run)" ran
expect 'link' "$(readlink ../tree/link)" src/deep/a.txt
taken side "$first" one
taken v1 "$first" one
taken "$first" "$first" one
taken "${first:0:10}" "$first" one
expect 'the repository is as it was' "$(state)" "$before"
cd src
rm -rf ../../tree
gate checkout HEAD ../../tree
expect 'from below: status' "$status" 0
expect 'from below: content' "$(cat ../../tree/src/deep/a.txt)" two
cd ..
mkdir ../empty
gate checkout HEAD ../empty
expect 'an empty folder: status' "$status" 0

refused 'kgate checkout wants REF and FOLDER' checkout
refused 'kgate checkout wants REF and FOLDER' checkout HEAD
refused 'kgate checkout wants REF and FOLDER' checkout HEAD a b
refused 'unknown option --force; see kgate --help' checkout HEAD --force
refused 'no commit nosuch in this repository' checkout nosuch ../none
refused 'no commit trunk..side in this repository' checkout trunk..side ../none
refused 'v1:run is no commit' checkout v1:run ../none
expect 'nothing was made' "$(ls -d ../none 2>/dev/null)" ''
refused '../tree is not empty' checkout HEAD ../tree
refused 'new.txt: Not a directory' checkout HEAD new.txt
refused 'cannot make ../nosuch/tree: No such file' checkout HEAD ../nosuch/tree
cd ..
refused 'no git repository here' checkout HEAD none
finish
