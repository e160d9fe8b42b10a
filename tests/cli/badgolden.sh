#!/usr/bin/env bash
# badgolden.sh -- a golden file that is not what it should be stops a run and a bless, and stays as it is.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$broken" speed --seed 0 --expectations goldens)
bless "${on[@]}" "${quick[@]}" --reason 'to be damaged'
file=$(echo goldens/expectations_cpu_*.json)
expect 'there are two goldens' "$(jq '.cases | length' "$file")" 2
cp "$file" good.json
gate doctor --module "$broken" --expectations goldens
expect 'what a bless wrote can be read' "$status" 0

# damaged WHAT TEXT -- the file as it now is stops both, with TEXT after its name, and nothing in the folder changes.
damaged() {
    local before
    before=$(sum goldens)
    refused "$2" run "${on[@]}" "${quick[@]}"
    expect_in "$1: names the file" err 'goldens/expectations_'
    refused "$2" run "${on[@]}" "${quick[@]}" --bless --reason 'over it' --allow-dirty
    expect "$1: is as it was" "$(sum goldens)" "$before"
    cp good.json "$file"
}

# edited WHAT TEXT SED-SCRIPT -- the good file, edited
edited() {
    sed "$3" good.json >"$file"
    expect "$1: the edit took" "$(cmp -s good.json "$file" && echo same || echo changed)" changed
    damaged "$1" "$2"
}

# The first case's line.
case=$(grep -n -m 1 '^{"key"' "$file" | cut -d : -f 1)
edited 'broken JSON' "line $(wc -l <good.json): " 's/^"cases": \[/"cases": [[/'
edited 'a comma too many' 'line ' 's/^\]/,]/'
edited 'duplicate keys' "'schema'" 's/^"schema": 3,/"schema": 3, "schema": 3,/'
edited 'duplicate keys in a case' "'p50_us'" "$case"'s/"p50_us":/"p50_us":1,"p50_us":/'
edited 'infinity by size' "line $case: " "$case"'s/"p50_us":[0-9.e+]*/"p50_us":1e999/'
edited 'infinity by name' "line $case: " "$case"'s/"p50_us":[0-9.e+]*/"p50_us":Infinity/'
edited 'NaN' "line $case: " "$case"'s/"p50_us":[0-9.e+]*/"p50_us":NaN/'
edited 'a wrong type' "'p50_us'" "$case"'s/"p50_us":\([0-9.e+]*\)/"p50_us":"\1"/'
edited 'a key of one name' 'is not suite/shape/backend' "$case"'s/"key":"[^"]*"/"key":"a"/'
edited 'a key with an empty name' 'is not suite/shape/backend' "$case"'s/"key":"[^"]*"/"key":"speed\/\/good"/'
edited 'a timer that is none' 'neither graph nor event' 's/"timer":"[^"]*"/"timer":"sundial"/'
edited 'a time below zero' "'p50_us' is not over 0" "$case"'s/"p50_us":/"p50_us":-/'
edited 'a p50 that is not that of its blocks' 'is not the median of blocks_us' "$case"'s/"p50_us":[0-9.e+]*/"p50_us":99999/'
edited 'too few blocks' "'blocks_us' has 1 values" "$case"'s/"blocks_us":\[[^]]*/"blocks_us":[1/'
edited 'a missing member' "'floor_pct'" "$case"'s/"floor_pct":[^,]*,//'
edited 'a missing member of an entry' "'identity'" 's/"identity":"[^"]*",//'
edited 'a key that is not a text' "'key'" "$case"'s/"key":"[^"]*"/"key":4/'
edited 'an unknown schema' 'schema 4, this kgate reads 1 to 3' 's/^"schema": 3/"schema": 4/'
edited 'tables that its schema does not have' "unknown member 'anchors'" 's/^"schema": 3/"schema": 2/'
edited 'an unknown table' "unknown member 'Cards'" 's/^"cards"/"Cards"/'
edited 'a missing table' "which is not in 'cards'" '/^"cards"/,/^}/d'
edited 'an entry that is not there' "which is not in 'setups'" "$case"'s/"setup":"[^"]*"/"setup":"0"/'
edited 'an entry twice' 'duplicate member' '/^"bests"/{n;p}'
edited 'entries out of order' "'cards': entry '0' is not sorted by key" '/^"cards"/{n;s/$/,\n"0":{}/}'
edited 'an unknown member of an entry' "unknown member 'comment' in 'card'" '/^"cards"/{n;s/{/{"comment":"x",/}'
edited 'no schema' "'schema'" '/^"schema"/d'
edited 'an unknown member' "unknown member 'comment'" 's/^"schema": 3,/"schema": 3, "comment": "x",/'
edited 'an unknown member of a case' "unknown member 'comment'" "$case"'s/"key"/"comment":"x","key"/'
edited 'another architecture than its name says' "holds arch 'h200'" 's/^"arch": "[^"]*"/"arch": "h200"/'
edited 'a case twice' 'repeated' "$case"p
edited 'cases out of order' 'not sorted by key' "$case"'s,"speed/plain/,"tpeed/plain/,'

echo '{}' >>"$file"
damaged 'text after the end' 'line '
head -c 200 good.json >"$file"
damaged 'half a file' 'line '
: >"$file"
damaged 'an empty file' 'line 1: '
printf '\0' >>"$file"
damaged 'a NUL' 'line '
rm "$file" && mkdir "$file"
damaged_folder=$(ls -d "$file")
refused 'expectations_' run "${on[@]}"
rmdir "$damaged_folder" && cp good.json "$file"
rm "$file" && mkfifo "$file" # nobody writes into it, and no run waits for that
refused 'not a regular file' run "${on[@]}"
rm "$file" && ln -s nowhere "$file"
refused 'expectations_' run "${on[@]}"
rm "$file" && cp good.json "$file"

# Any file of the folder, also that of another architecture.
echo '{ "schema": 1, "arch": "h200", "cases": [ ] ' >goldens/expectations_h200.json
damaged "another architecture's file" 'expectations_h200.json: line '
echo '{ "schema": 1, "arch": "h200", "cases": [ ], "x": 1 }' >goldens/expectations_h200.json
damaged "an unknown member in another architecture's file" "expectations_h200.json: unknown member 'x'"
echo '{ "schema": 1, "arch": "h200", "cases": [ ] }' >goldens/expectations_h200.json
echo 'not JSON, and no golden file by its name' >goldens/README.md

gate run "${on[@]}" "${quick[@]}" --threshold 1000
expect 'the good file: status' "$status" 0
finish
