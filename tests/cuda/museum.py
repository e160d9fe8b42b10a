#!/usr/bin/env python3
"""museum.py -- the rooms of tests/museum that need a GPU, on a machine that can compile kernels but not kgate.

    museum.py KGATE KIT FOLDER [NAME...]    KIT: of tests/mutation/mutate.py pack. FOLDER gets modules and results; a
                                            module that is there is not built again

Runs end at their first wrong case; the rows that few bugs leave unseen go first. Prints what saw each bug, as tests/museum/table.py does; status 1 if one was not seen."""
import concurrent.futures
import itertools
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/mutation"), str(ROOT / "tests/museum")]
import mutate  # noqa: E402
import table  # noqa: E402

MUSEUM = ROOT / "tests/museum"
VISITS = 4  # at a time on a GPU: each may take a quarter of its memory
COMPILE_S = 300
FIRST = "sdpa_parity/limit_*", "sdpa_parity/*_bottom_right_*"


def touched(tree, patch):
    """Sources that a patch changes, those behind a header that it changes too."""
    texts = {str(file.relative_to(tree)): file.read_text() for file in (tree / "kernels").rglob("*.[ch]*")}
    found = [line[6:].strip() for line in patch.read_text().splitlines() if line.startswith("+++ b/")]
    for name in found:  # which grows
        if not name.endswith((".c", ".cu")):
            found += [user for user, text in texts.items() if f'/{pathlib.Path(name).name}"' in text
                      and user not in found and not (user.endswith(".c"))]
    return [name for name in found if name.endswith((".c", ".cu"))]


def rebuild(kit, patch, work):
    """work/NAME.so, or a word of why not."""
    tree, made = work / patch.stem, {}
    if (work / f"{patch.stem}.so").exists():
        return None
    shutil.rmtree(tree, ignore_errors=True)  # of a call that was stopped
    for folder in ("include", "kernels", "suites", "tools"):
        shutil.copytree(ROOT / folder, tree / folder)
    done = subprocess.run(["patch", "-p1", "-s", "-f", "-d", tree, "-i", patch], capture_output=True, text=True)
    if done.returncode:
        return f"{patch.stem} cannot be put in: {done.stdout[:200]}"
    build = mutate.Build(kit, "attention.so")
    build.commands = [[word.replace("{root}", str(tree)) for word in words] for words in build.lines]
    for source in touched(tree, patch):
        objects = build.compile(source, (tree / source).read_text(), work / f"{patch.stem}.objects", COMPILE_S)
        if objects is None:
            return f"{patch.stem}: {source} does not compile"
        made.update(objects)
    build.link_module(made, work / f"{patch.stem}.so")
    return None


def gpus():
    if chosen := os.environ.get("CUDA_VISIBLE_DEVICES"):
        return chosen.split(",")
    done = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True)
    return [str(number) for number in range(done.stdout.count("\n"))]


def visit(kgate, patch, work, gpu):
    """The whole module, if those rows do not see it."""
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES=gpu)
    command = [kgate, "run", "--module", work / f"{patch.stem}.so", "--device", "cuda:0", "--no-time", "--fail-fast", "--jobs", "1",
               "--case-timeout", "30", "--expectations", work / "goldens", "--output", work / "results" / patch.stem,
               "--backend", table.said(patch, "Backend"), *table.said(patch, "Options").split()]
    with open(work / f"{patch.stem}.log", "w") as log:
        for rows in (FIRST, ()):
            if subprocess.run([*command, *rows], stdout=log, stderr=subprocess.STDOUT, env=environment).returncode == 1:
                break


def main(kgate, kit, folder, *names):
    work = pathlib.Path(folder).resolve()
    (work / "goldens").mkdir(parents=True, exist_ok=True)
    patches = [patch for patch in sorted(MUSEUM.glob("*.patch"))
               if (patch.stem in names if names else table.said(patch, "Shows") == "cuda")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [why for why in pool.map(lambda patch: rebuild(kit, patch, work), patches) if why]
    print(*failures, sep="\n")
    built = [patch for patch in patches if (work / f"{patch.stem}.so").exists()]
    turns = itertools.cycle(gpus())
    with concurrent.futures.ThreadPoolExecutor(VISITS * len(gpus())) as pool:
        list(pool.map(lambda room: visit(pathlib.Path(kgate).resolve(), *room), [(room, work, next(turns)) for room in built]))
    return table.main(str(MUSEUM), str(work / "results"), [patch.stem for patch in patches]) or bool(failures)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
