#!/usr/bin/env bash
# install.sh -- an installed copy, moved and alone, starts, whatever its libdir; the example is built against it by Meson
# and by make.
#
#     install.sh SOURCE_FOLDER BUILD_FOLDER LIBDIR     LIBDIR: of this build
set -eu -o pipefail

source=$(realpath "$1") build=$(realpath "$2") libdir=$3
for tool in meson ninja make pkg-config; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
    echo "FAILED: $*"
    cat log
    exit 1
}

quietly() {
    "$@" >log 2>&1 || fail "$* ends with status $?"
}

installed() { # installed BUILD_FOLDER NAME LIBDIR -- its copy is then in $scratch/NAME, and what it was staged in is gone
    DESTDIR=$scratch/stage quietly meson install -C "$1" --no-rebuild
    mv "$(dirname "$(find stage -name bin)")" "$2"
    rm -r stage
    kgate=$scratch/$2/bin/kgate
    for file in "$3"/kgate/{attention,classes}.so "$3/pkgconfig/kgate.pc" include/kgate.h share/man/man1/kgate.1 \
        bin/kgate-embed share/bash-completion/completions/kgate share/kgate/expectations/{expectations_h200,resources_sm_90a}.json share/kgate/ci/{gate,baseline,bisect}; do
        [ -f "$2/$file" ] || fail "$2: no $file"
    done
}

says() { # says STATUS TEXT ARGUMENT... -- kgate in an empty folder and environment
    local wanted=$1 text=$2 status=0
    shift 2
    mkdir -p empty
    (cd empty && env -i "$kgate" "$@") >log 2>&1 || status=$?
    case " $wanted " in *" $status "*) ;; *) fail "kgate $*: status $status" ;; esac
    grep -q -e "$text" log || fail "kgate $*: does not say $text"
    echo "ok: $kgate $*"
}

starts() { # starts NAME -- the copy there
    says 0 '^sdpa_parity/' list
    says 0 "^module: attention at $scratch/$1/" doctor
    says 0 '2 passed' run --no-time --device cpu 'sdpa_parity/f16_d64_b1_full_mha_s1/*/cpu_*'
    says '0 77' '' resources --allow-undecided
    says 0 "/$1/bin/../share/kgate/expectations/expectations_h200.json" leaderboard
    says 0 '^classes/' list --module classes
}

runs() { # runs MODULE -- the example
    says 0 'kgate: 8 passed' run --no-time --device cpu --module "$1"
}

case $libdir in
lib) other=lib/x86_64-linux-gnu ;;
*) other=lib ;;
esac
installed "$build" ours "$libdir"
starts ours

quietly meson setup other-build "$source" -Dcuda=disabled -Doptimization=0 -Dprefix=/usr -Dlibdir="$other"
quietly ninja -C other-build kgate attention.so classes.so
installed other-build other "$other"
rm -r other-build
starts other

export PKG_CONFIG_PATH=$scratch/other/$other/pkgconfig
mkdir mine
cp "$source"/examples/{saxpy.c,standalone/*} mine
for file in meson.build Makefile; do
    [ "$(grep -c -v '^#' "mine/$file")" -le 5 ] || fail "$file has more than five lines"
done
quietly "$(pkg-config --variable=embed kgate)" mine/texts.c texts mine mine mine/saxpy.c
grep -q '"#line 1 .*saxpy.c' mine/texts.c || fail 'kgate-embed does not embed'
quietly make -C mine
runs "$scratch/mine/saxpy.so"
says 2 'no golden file in expectations' leaderboard --module "$scratch/mine/saxpy.so" # kgate's are of modules beside it
quietly meson setup mine/build mine
quietly meson install -C mine/build
runs saxpy
