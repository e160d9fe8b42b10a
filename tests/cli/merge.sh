#!/usr/bin/env bash
# merge.sh -- two branches that bless other cases: no line that was there is touched, and git merges the file, but where
# both added a line at the same place of a table; never among the cases.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@localhost
mkdir repository && cd repository
git init -q -b main .
on=(--module "$many" --seed 0 --backend here "${quick[@]}")
rows=(many/r{200,300,400,500,600,700,800})
# Three blesses: so many provenances.
bless "${on[@]}" "${rows[@]:0:3}" --reason one
bless "${on[@]}" "${rows[@]:3:2}" --reason two
bless "${on[@]}" "${rows[@]:5:2}" --reason three
file=$(echo expectations/expectations_cpu_*.json)
commit() { # commit MESSAGE
    git add expectations && git commit -q -m "$1"
}
commit base

# lines COMMIT -- of its file, without the comma at the end, which the last of a list does not have.
lines() {
    git show "$1:$file" | sed 's/,$//' | sort
}
gone() { # gone COMMIT -- lines of main that are not there
    comm -23 <(lines main) <(lines "$1")
}

# Where a new line of a table goes is as good as drawn: of two branches two thirds meet in files as short as this one.
for try in {01..40}; do
    git checkout -q -B first main
    bless "${on[@]}" "many/r1$try" --reason "first branch, try $try"
    commit first
    expect "try $try: first branch: no line is gone" "$(gone first)" ''
    git checkout -q -B second main
    bless "${on[@]}" "many/r4$try" --reason "second branch, try $try"
    commit second
    expect "try $try: second branch: no line is gone" "$(gone second)" ''
    git checkout -q -B merged first
    if git merge -q -m merged second >merge.log 2>&1; then
        merged=yes
        break
    fi
    merged=no
    expect "try $try: what conflicts are entries of tables" "$(sed -n '/^<<<<<<< /,/^>>>>>>> /p' "$file" | grep -c '^{"key"' || true)" 0
    git merge --abort
done
expect 'git merges them' "$merged" yes
gate doctor --module "$many"
expect 'the merged file is read' "$status" 0
expect 'its cases' "$(jq -r '[.cases[].key | split("/")[1]] | join(" ")' "$file")" "r1$try r200 r300 r400 r4$try r500 r600 r700 r800"
expect 'their reasons' "$(jq -r '[. as $f | .cases[].provenance | $f.provenances[.].reason | split(",")[0]] | unique | join(", ")' "$file")" \
    'first branch, one, second branch, three, two'
cp "$file" merged.json
bless "${on[@]}" "many/r1$try" --reason again
expect 'written again by a bless: what it did not touch stands' \
    "$(comm -23 <(sed 's/,$//' merged.json | sort) <(sed 's/,$//' "$file" | sort) | grep -c '^{"key"')" 1
finish
