#!/usr/bin/env python3
"""status.py -- draws modules and command lines, and holds kgate's exit status, JSON, JUnit, TAP and last line to what
README.md's table says of them, worked out here from what was drawn.

    status.py KGATE DRAWN.so [--pairs] [--runs N] [--first SEED] [--keep FOLDER]

With --pairs times are judged too: by the goldens of an older build, or beside it.
A run that differs is drawn again with less and less until nothing more can go, and told with its seed and files. Status 1:
some run differed. Without a GPU: cases of one are skipped."""
import argparse
import copy
import fnmatch
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

DEEDS = {"right": None, "slow": None, "wrong": "FAIL", "crashes": "ERROR", "exits": "ERROR", "fails": "ERROR", "overruns": "ERROR", "borrows": "ERROR", "falls": "ERROR",
         "refuses": "SKIP", "hangs": "ERROR"}
STATUS = {"PASS": 0, "FAST": 0, "XFAIL": 0, "SKIP": 0, "FAIL": 1, "ERROR": 1, "XPASS": 1, "SLOW": 3,
          "UNSURE": 4, "UNGATED": 4, "LOST": 4}

HASTY = ["--timer", "event", "--samples", "51", "--warmup", "5"]


# ---- what is drawn ----

def draw(seed):
    """A module and a command line as one value."""
    dice = random.Random(seed)
    deeds = ["right"] * 6 + ["wrong"] * 2 + ["crashes", "exits", "fails", "refuses", "overruns", "borrows", "falls"] + ["hangs"] * (dice.random() < 0.05)
    suites = []
    for name in ("alpha", "beta"):
        suite = {"name": name, "timed": dice.random() < 0.25, "rows": dice.randint(1, 3), "seeds": dice.randint(1, 3),
                 "backends": [], "xfails": []}
        kinds = ["cpu"] * dice.randint(1, 3) + ["cuda"] * (dice.random() < 0.3)
        for number, kind in enumerate(kinds):
            deed = dice.choice(deeds)
            suite["backends"].append({"name": f"b{number}", "kind": kind, "deed": deed,
                                      "row": dice.choice([-1, -1, 0, 1])})
        for _ in range(dice.choice([0, 0, 1, 2])):
            suite["xfails"].append(f"{name}/{dice.choice(['*', 'r0', 'r1'])}/{dice.choice(['*', 's0', 's1'])}/{dice.choice(['*', 'b0', 'b1'])}")
        suites.append(suite)
    options = {"device": dice.choice(["cpu", "cpu", "auto"]), "no_time": dice.random() < 0.7,
               "format": dice.choice(["json", "tap", "text"])}
    choices = {"patterns": lambda: dice.sample(["alpha", "beta", "*/r0/*", "alpha/*/s0/*", "*/*/*/b0", "nothing", "beta/r1"], dice.randint(1, 2)),
               "exclude": lambda: [dice.choice(["alpha", "*/r1/*", "*/*/s0/*", "*/*/*/b1", "*"])],
               "backend": lambda: [dice.choice(["b0", "b1", "b0,b1"])],
               "seed": lambda: [dice.choice(["0", "1", "0,1", "7", "1,0"])],
               "shard": lambda: [dice.choice(["1/2", "2/2", "2/3", "5/5"])],
               "fail_fast": lambda: [""], "allow_undecided": lambda: [dice.choice(["", "=new"])],
               "jobs": lambda: [dice.choice(["1", "2", "3"])], "repeat": lambda: ["2"]}
    for name, choose in choices.items():
        if dice.random() < 0.2:
            options[name] = choose()
    return {"suites": suites, "options": options}


def draw_pair(seed):
    """A module whose times are judged, by the goldens of an older one or beside it, which was right."""
    dice = random.Random(seed)
    older = [{"name": name, "timed": timed, "rows": dice.randint(1, 2), "seeds": dice.randint(1, 2), "xfails": [],
              "backends": [{"name": f"b{number}", "kind": "cpu", "row": -1, "deed": dice.choice(["right", "right", "right", "slow"])}
                           for number in range(dice.randint(1, 2))]}
             for name, timed in (("alpha", True), ("beta", dice.random() < 0.3))]
    suites = copy.deepcopy(older)
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        dice.choice(CHANGES)(dice.choice(suites), dice)
    options = {"device": dice.choice(["cpu", "cpu", "auto"]), "no_time": dice.random() < 0.15,
               "format": dice.choice(["json", "tap", "text"])}
    judge = dice.choice(["golden", "against"])
    choices = {"patterns": lambda: [dice.choice(["alpha", "*/r0/*", "*/*/s0/*", "*/*/*/b0", "alpha/r0/s1/b0"])],
               "exclude": lambda: [dice.choice(["beta", "*/r1/*", "*/*/s0/*", "*/*/*/b1"])],
               "backend": lambda: ["b0"], "seed": lambda: [dice.choice(["0", "7", "1,0"])],
               "allow_undecided": lambda: [dice.choice(["", "=new"][:1 + (judge == "golden")])], "jobs": lambda: ["2"],
               "allow_removed": lambda: [""]}
    for name, choose in choices.items():
        if dice.random() < 0.15 and (name != "allow_removed" or judge == "against"):
            options[name] = choose()
    return {"suites": suites, "options": options, "older": older, "judge": judge}


def set_deed(suite, dice):
    backend = dice.choice(suite["backends"])
    backend["deed"] = dice.choice(["slow", "slow", "slow", "right", "wrong", "crashes", "exits", "refuses", "fails", "overruns", "borrows", "falls"])
    backend["row"] = dice.choice([-1, -1, 0, 1])


def add_backend(suite, dice):
    suite["backends"].append({"name": f"b{len(suite['backends'])}", "kind": dice.choice(["cpu", "cuda"]), "row": -1,
                              "deed": dice.choice(["right", "slow", "wrong", "refuses"])})


def drop_backend(suite, dice):
    if len(suite["backends"]) > 1:
        suite["backends"].pop(dice.randrange(len(suite["backends"])))


def add_xfail(suite, dice):
    suite["xfails"].append(f"{suite['name']}/*/{dice.choice(['*', 's0', 's1'])}/{dice.choice(['*', 'b0'])}")


CHANGES = [set_deed, set_deed, set_deed, add_backend, drop_backend, add_xfail,
           lambda suite, dice: suite.update(rows=dice.randint(1, 3)),
           lambda suite, dice: suite.update(seeds=dice.randint(1, 3)),
           lambda suite, dice: suite.update(timed=not suite["timed"]),
           lambda suite, dice: suite.update(half=[dice.choice([0, 1])])]


def tables(suites):
    lines = []
    for suite in suites:
        lines.append(f"suite {suite['name']} {'timed' if suite['timed'] else 'untimed'} {suite['rows']} {suite['seeds']}")
        lines += [f"half {row}" for row in suite.get("half", [])]
        lines += [f"backend {b['name']} {b['kind']} {b['deed']} {b['row']}" for b in suite["backends"]]
        lines += [f"xfail {pattern}" for pattern in suite["xfails"]]
    return "\n".join(lines) + "\n"


def arguments(options, judge):
    words = [f"--device={options['device']}"] + ["--no-time"] * options["no_time"]
    if not options["no_time"] and judge != "against":
        words += HASTY
    for name in ("exclude", "backend", "seed", "shard", "jobs", "repeat"):
        words += [f"--{name}={value}" for value in options.get(name, [])]
    words += ["--fail-fast"] * ("fail_fast" in options) + ["--allow-removed"] * ("allow_removed" in options)
    words += [f"--allow-undecided{value}" for value in options.get("allow_undecided", [])]
    return words + options.get("patterns", [])


# ---- what the documents say of it ----

def matches(pattern, id):
    """A pattern of ids matches whole segments from the first on; '*' stays within one."""
    wanted, given = pattern.split("/"), id.split("/")
    return len(wanted) <= len(given) and all(fnmatch.fnmatchcase(g, w) for g, w in zip(given, wanted))


def chosen(options, id):
    return (("patterns" not in options or any(matches(p, id) for p in options["patterns"])) and
            not any(matches(p, id) for p in options.get("exclude", [])) and
            ("backend" not in options or id.split("/")[3] in options["backend"][0].split(",")))


def shown(backend, row):
    return backend["deed"] if backend["row"] in (-1, row) else "right"


def cases(drawn):
    """The selected cases in the order of the tables: dictionaries with id, deed, kind and what they are of. None: kgate refuses."""
    options, selected = drawn["options"], []
    names = {b["name"] for suite in drawn["suites"] for b in suite["backends"]}
    wanted = set(",".join(options["backend"]).split(",")) if "backend" in options else None
    if wanted and wanted - names:
        return None
    for suite in drawn["suites"]:
        seeds = [int(s) for s in options["seed"][0].split(",")] if "seed" in options else list(range(suite["seeds"]))
        for row in range(suite["rows"]):
            for seed in seeds:
                for backend in suite["backends"]:
                    id = f"{suite['name']}/r{row}/s{seed}/{backend['name']}"
                    if not chosen(options, id):
                        continue
                    selected.append({"id": id, "kind": backend["kind"], "deed": shown(backend, row),
                                     "key": (suite["name"], row, backend["name"]), "seed": seed, "timed": suite["timed"], "half": row in suite.get("half", []),
                                     "xfail": any(matches(p, id) for p in suite["xfails"])})
    if "patterns" in options and not all(any(matches(p, id) for id in known(drawn)) for p in options["patterns"]):
        return None
    if options["device"] == "cpu":
        selected = [case for case in selected if case["kind"] == "cpu"]
    if "shard" in options:
        part, parts = map(int, options["shard"][0].split("/"))
        shape_of = lambda case: (case["key"][0], case["kind"] != "cuda", case["key"][1])  # whose cases stay together
        shapes = sorted({shape_of(case) for case in selected})
        selected = [case for case in selected if shapes.index(shape_of(case)) % parts == part - 1]
    return selected


def known(drawn):
    """The ids of all cases, for the question whether a pattern names any."""
    rest = {name: value for name, value in drawn["options"].items() if name in ("seed", "backend")}
    tables = [drawn["suites"]] + ([drawn["older"]] if drawn.get("judge") == "against" else [])
    return [case["id"] for suites in tables for case in cases({"suites": suites, "options": dict(rest, device="auto")}) or []]


def of_correctness(case):
    return "SKIP" if case["kind"] == "cuda" else DEEDS[case["deed"]] or "PASS"


def excused(case, verdict):
    if not case["xfail"] or verdict in ("SKIP", "LOST"):
        return verdict
    return "XFAIL" if verdict in ("FAIL", "ERROR", "SLOW") else "XPASS"


def is_timed(case, selected, options):
    """The first seed of a shape and backend that can run, where all that can are right."""
    ran = [other for other in selected if other["key"] == case["key"] and of_correctness(other) != "SKIP"]
    return case["timed"] and not options["no_time"] and case is (ran or [None])[0] and all(of_correctness(c) == "PASS" for c in ran)


def by_change(older, case):
    return {("right", "slow"): "SLOW", ("slow", "right"): "FAST"}.get((older["deed"], case["deed"]), "PASS")


def without_goldens(drawn):
    """{id: verdict}"""
    selected, verdicts = cases(drawn) or [], {}
    for case in selected:
        verdict = of_correctness(case)
        if is_timed(case, selected, drawn["options"]):
            verdict = "UNGATED"
        verdicts[case["id"]] = excused(case, verdict)
    return verdicts


def every(suites, device):
    return cases({"suites": suites, "options": {"device": device, "no_time": False}})


def by_goldens(drawn):
    """The older tables' timed cases have one each."""
    options, selected, verdicts = drawn["options"], cases(drawn) or [], {}
    goldens = {case["key"]: case for case in every(drawn["older"], "cpu") if case["timed"]}
    for case in selected:
        golden, verdict = goldens.get(case["key"]), of_correctness(case)
        if golden and (verdict == "SKIP" or case["xfail"] or (verdict == "PASS" and not case["timed"])):
            verdict = "LOST"
        elif is_timed(case, selected, options):
            verdict = by_change(golden, case) if golden and golden["half"] == case["half"] else "UNGATED"
        verdicts[case["id"]] = excused(case, verdict)
    there = {case["key"] for case in every(drawn["suites"], "auto")}
    for suite, row, backend in goldens.keys() - there if verdicts else ():
        seeds = options["seed"][0].split(",") if "seed" in options else range(next(s["seeds"] for s in drawn["suites"] if s["name"] == suite))
        if any(chosen(options, f"{suite}/r{row}/s{seed}/{backend}") for seed in seeds):
            verdicts[f"{suite}/r{row}/{backend}"] = "LOST"
    return verdicts


def beside_older(drawn):
    """Whose tables hold for what both have."""
    options, verdicts, allowed = drawn["options"], {}, "allow_removed" in drawn["options"]
    older, newer = cases(dict(drawn, suites=drawn["older"])) or [], {case["id"]: case for case in cases(drawn) or []}
    both = [dict(case, **{name: newer[case["id"]][name] for name in ("deed", "kind", "half")}) for case in older if case["id"] in newer]
    was = {case["id"]: case for case in older}
    for case in older:
        if case["id"] not in newer:
            verdicts[case["id"]] = "SKIP" if allowed else "LOST"
    for case in both:
        before, verdict = was[case["id"]], of_correctness(case)
        if case["kind"] != before["kind"] or case["half"] != before["half"]:
            verdict = verdict if allowed else "LOST"
        elif verdict == "SKIP":
            verdict = "LOST"
        elif is_timed(case, both, options):
            verdict = by_change(before, case)
        verdicts[case["id"]] = verdict
    for id in newer.keys() - was.keys():
        verdicts[id] = of_correctness(newer[id])
    return verdicts


def allows(drawn):
    """--allow-undecided, =new where no goldens are yet"""
    words = drawn["options"].get("allow_undecided")
    return words == [""] or (words == ["=new"] and drawn.get("judge") != "golden")


def expected(drawn):
    """(status, {id: verdict}); --fail-fast may leave some of them."""
    verdicts = {None: without_goldens, "golden": by_goldens, "against": beside_older}[drawn.get("judge")](drawn)
    if not verdicts:
        return 2, {}
    statuses = {STATUS[verdict] for verdict in verdicts.values()}
    status = next((s for s in (1, 3, 4) if s in statuses), 0)
    if status == 4 and allows(drawn):
        status = 0
    if all(verdict == "SKIP" for verdict in verdicts.values()):
        status = 77
    return status, verdicts


# ---- what kgate says ----

def laid(folder, suites, module):
    """A module with these tables in a folder of its own."""
    folder.mkdir(parents=True)
    (folder / "tables").write_text(tables(suites))
    return shutil.copy(module, folder / "drawn.so")


def kgate_does(kgate, folder, words):
    command = [kgate, "run", *words]
    (folder / "command").write_text(" ".join(map(str, command)) + "\n")
    environment = dict(os.environ, HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"))
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def older_words(drawn, kgate, module, folder):
    """The options by which the older build judges."""
    (folder / "none").mkdir()
    if not drawn.get("judge"):  # where some hang
        return ["--expectations", "none", "--case-timeout", "4"]
    older = laid(folder / "older", drawn["older"], module)
    if drawn["judge"] == "against":
        return ["--expectations", "none", "--against", older]
    words = ["--module", older, "--device", "cpu", "--expectations", "goldens", *HASTY, "--bless", "--allow-dirty", "--reason", "drawn"]
    for _ in range(8):  # another process may be in the way
        if (done := kgate_does(kgate, folder, words)).returncode != 4:
            break
        print("blessed again:", *re.findall("not blessed: .*", done.stderr), flush=True)
    return ["--expectations", "goldens"]


def differences(drawn, kgate, module, folder):
    """What a run says otherwise than expected, in words. What a busy machine leaves undecided is asked again."""
    for _ in range(4):
        found, said = ask_once(drawn, kgate, module, folder)
        if "UNSURE" not in said.values():
            break
    return found


def ask_once(drawn, kgate, module, folder):
    shutil.rmtree(folder, ignore_errors=True)
    words = ["--module", laid(folder / "newer", drawn["suites"], module), *older_words(drawn, kgate, module, folder)]
    done = kgate_does(kgate, folder, [*words, "--junit", "junit.xml", "--format", drawn["options"]["format"],
                                      *arguments(drawn["options"], drawn.get("judge"))])
    status, verdicts = expected(drawn)
    found = []
    if done.returncode != status:
        found.append(f"status {done.returncode}, not {status}: {done.stderr.strip()[-200:]}")
    if status == 2 or done.returncode == 2:
        return found, {}
    report = json.loads((folder / "results/latest/correctness_summary.json").read_text())
    said = {one["id"]: one.get("verdict", "SKIP") for one in report["results"] + report["skipped"]}
    reasons = {one["id"]: one.get("reason", "") for one in report["results"]}
    cut = "fail_fast" in drawn["options"] and status == 1
    if set(said) != set(verdicts):
        found.append(f"cases: {sorted(set(said) ^ set(verdicts))[:4]} in one of the two")
    for id, verdict in verdicts.items():
        if said.get(id) != verdict and not (cut and said.get(id) in ("SKIP", "PASS")):
            found.append(f"{id} is {said.get(id)}, not {verdict}: {reasons.get(id)}")
    allowed = allows(drawn)
    printed = {"json": in_json, "tap": in_tap, "text": in_text}[drawn["options"]["format"]]
    found += junit(folder / "junit.xml", said, allowed) + printed(done.stdout, said, allowed)
    return found, said


def junit(path, said, allowed):
    """Failures and errors of the JUnit file are the cases that make the status."""
    found, root = [], xml.etree.ElementTree.parse(path).getroot()
    told = {}
    for case in root.iter("testcase"):
        told[f"{case.get('classname').replace('.', '/')}/{case.get('name')}"] = next(
            (child.tag for child in case if child.tag in ("failure", "error", "skipped")), None)
    if set(told) != set(said):
        found.append(f"JUnit has {len(told)} cases, not {len(said)}")
    for id, verdict in said.items():
        red, skipped = told.get(id) in ("failure", "error"), told.get(id) == "skipped"
        if red != is_red(verdict, allowed) or skipped < (verdict == "SKIP"):
            found.append(f"JUnit says {told.get(id)} of {id}, which is {verdict}")
    return found


def is_red(verdict, allowed):
    return STATUS[verdict] in (1, 3) or (STATUS[verdict] == 4 and not allowed)


def in_json(text, said, allowed):
    report = json.loads(text)
    found = [f"counts.{verdict} is {count}, of {sum(v == verdict for v in said.values())} cases"
             for verdict, count in report["counts"].items() if count != sum(v == verdict for v in said.values())]
    return found + ["the JSON that is printed is not the file's"] * (
        {one["id"]: one["verdict"] for one in report["results"]} != said)


def in_tap(text, said, allowed):
    """`ok` is what makes no status, `not ok` what does, or must fail and does (# TODO)."""
    found, lines = [], [line for line in text.splitlines() if line.startswith(("ok ", "not ok "))]
    if f"1..{len(said)}" not in text.splitlines() or len(lines) != len(said):
        found.append(f"TAP has {len(lines)} lines, not {len(said)}")
    for line in lines:
        id, _, directive = line.split(" - ", 1)[1].partition(" # ")
        verdict = said.get(id)
        wanted = {"SKIP": ("ok", "SKIP"), "XFAIL": ("not ok", "TODO")}.get(
            verdict, ("not ok" if verdict and is_red(verdict, allowed) else "ok", ""))
        if (line.split(" ")[0] + " ok" * line.startswith("not"), directive.split(" ")[0]) != wanted:
            found.append(f"TAP says of {verdict}: {line}")
    return found


def in_text(text, said, allowed):
    words = {"FAIL": "failed", "ERROR": "error", "XPASS": "xpass", "XFAIL": "xfail", "UNGATED": "ungated", "PASS": "passed", "SKIP": "skipped",
             "SLOW": "slow", "FAST": "fast", "LOST": "lost"}
    last = text.splitlines()[-1]
    told = {word.replace("errors", "error"): int(count) for count, word in re.findall(r"(\d+) (\w+)", last.split(" of ")[0])}
    wanted = {word: sum(v == verdict for v in said.values()) for verdict, word in words.items()}
    return [f"the last line has {told.get(word, 0)} {word}, not {count}" for word, count in wanted.items() if told.get(word, 0) != count]


# ---- less of it ----

def smaller(drawn):
    """Each with one thing less."""
    for name in list(drawn["options"]):
        if name not in ("device", "no_time", "format"):
            less = copy.deepcopy(drawn)
            del less["options"][name]
            yield less
    for s, suite in enumerate(drawn.get("older", [])):
        if suite != drawn["suites"][s]:
            yield {**copy.deepcopy(drawn), "suites": [*drawn["suites"][:s], suite, *drawn["suites"][s + 1:]]}
    if "older" in drawn:
        return
    for s, suite in enumerate(drawn["suites"]):
        for list_name in ("backends", "xfails"):
            for i in range(len(suite[list_name]) - (list_name == "backends")):
                less = copy.deepcopy(drawn)
                del less["suites"][s][list_name][i if list_name == "xfails" else -1]
                yield less
        for number in ("rows", "seeds"):
            if suite[number] > 1:
                less = copy.deepcopy(drawn)
                less["suites"][s][number] -= 1
                yield less
        for i, backend in enumerate(suite["backends"]):
            if backend["deed"] != "right":
                less = copy.deepcopy(drawn)
                less["suites"][s]["backends"][i]["deed"] = "right"
                yield less


def shrink(drawn, differs):
    going = True
    while going:
        going = False
        for less in smaller(drawn):
            if differs(less):
                drawn, going = less, True
                break
    return drawn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgate", type=pathlib.Path)
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp())
    ask = lambda drawn: differences(drawn, options.kgate.resolve(), options.module.resolve(), work / "run")
    differing = 0
    for seed in range(options.first, options.first + options.runs):
        drawn = (draw_pair if options.pairs else draw)(seed)
        if not (found := ask(drawn)):
            continue
        print(f"seed {seed}:", *found, sep="\n  ", flush=True)
        differing += 1
        least = shrink(drawn, ask)
        print(f"seed {seed}, as little as shows it:", *ask(least), sep="\n  ")
        print((work / "run/command").read_text(), *(path.read_text() for path in sorted((work / "run").glob("*/tables"))))
        if options.keep:
            shutil.copytree(work / "run", options.keep / str(seed), dirs_exist_ok=True)
    shutil.rmtree(work)
    print(f"{options.runs} runs from seed {options.first} on, {differing} differ")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
