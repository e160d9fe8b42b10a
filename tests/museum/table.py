"""table.py -- what saw each bug of the museum: prints suite, regimes and gates, and fails if a bug was not seen.

    table.py PATCHES RESULTS NAME...    PATCHES/NAME.patch, and RESULTS/NAME/latest/correctness_summary.json of its run

RESULTS/honest is the run of what has no bug: a case that is wrong there shows none.
"""
import json
import pathlib
import sys

SHOWN = 6  # regimes of a line


def said(patch, field):
    for line in patch.read_text().split("\n---", 1)[0].split("\n"):
        if line.startswith(field + ": "):
            return line[len(field) + 2 :]
    return ""


def gates(record):
    """Those that a case failed; of one that is broken, what broke."""
    if record["verdict"] == "ERROR":
        return (record["reason"].split(" where ")[-1].split(":")[0],)
    names = [name.removesuffix("_pass").removesuffix("_err") for name, held in record.get("gates", {}).items() if not held]
    return tuple(names) or (record["reason"],)


def records(results):
    file = results / "latest" / "correctness_summary.json"
    return json.loads(file.read_text())["results"] if file.exists() else []


def is_wrong(record):
    return record["verdict"] in ("FAIL", "ERROR")


def seen(results, refused):
    """(suite, regime) -> [wrong cases, all cases, gates] of a run, without the cases that are `refused` of any kernel."""
    table = {}
    for record in records(results):
        row = table.setdefault((record["suite"], record.get("regime") or "normal"), [0, 0, []])
        row[1] += 1
        if is_wrong(record) and record["id"] not in refused:
            row[0] += 1
            row[2] += [gate for gate in gates(record) if gate not in row[2]]
    return {key: row for key, row in table.items() if row[0]}


def show(table):
    """A line for each suite and set of gates, with the regimes."""
    lines = {}
    for (suite, regime), (wrong, count, names) in table.items():
        lines.setdefault((suite, ", ".join(names)), []).append(f"{regime} {wrong}/{count}")
    for (suite, names), regimes in lines.items():
        rest = f" and {len(regimes) - SHOWN} more" if len(regimes) > SHOWN else ""
        print(f"    {suite:16} {', '.join(regimes[:SHOWN])}{rest}: {names}")


def main(patches, results, names):
    missed, normal = [], 0
    refused = {record["id"] for record in records(pathlib.Path(results) / "honest") if is_wrong(record)}
    for name in names:
        patch = pathlib.Path(patches) / f"{name}.patch"
        table = seen(pathlib.Path(results) / name, refused)
        print(f"{name}: {said(patch, 'Bug')} ({said(patch, 'Backend')})" + ("" if table else ": NOT SEEN"))
        show(table)
        missed += [] if table else [name]
        normal += any(regime == "normal" for _, regime in table)
    print(f"museum: {len(names) - len(missed)} of {len(names)} seen, {normal} of them on normal inputs too")
    for name in missed:
        print(f"FAILED: {name} is not seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
