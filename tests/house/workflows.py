"""workflows.py ROOT KGATE -- the workflows of .github/workflows and .gitlab-ci.yml: keys as GitHub and GitLab know them,
commands that exist with options that they know, and what a gate on somebody's own machine must have."""
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

WORKFLOW = {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
JOB = {"name", "permissions", "needs", "if", "runs-on", "environment", "concurrency", "outputs", "env", "defaults", "steps",
       "timeout-minutes", "strategy", "container", "services"}
STEP = {"id", "if", "name", "uses", "run", "working-directory", "shell", "with", "env", "timeout-minutes"}
BRANCHES = {"branches", "branches-ignore", "tags", "tags-ignore", "paths", "paths-ignore"}
TRIGGERS = {"push": BRANCHES, "pull_request": BRANCHES | {"types"}, "schedule": {"cron"}, "workflow_dispatch": {"inputs"}}
FUNCTIONS = {"always", "success", "failure", "cancelled", "contains", "startsWith", "endsWith", "format", "join", "toJSON",
             "fromJSON", "hashFiles"}
CONTEXTS = {"github", "env", "vars", "job", "jobs", "steps", "runner", "secrets", "strategy", "matrix", "needs", "inputs",
            "true", "false", "null"}
RULE = {"if", "when", "allow_failure", "changes", "exists", "variables", "needs"}
WHEN = {"on_success", "on_failure", "always", "never", "manual", "delayed"}
GITLAB = {"stage", "image", "script", "tags", "resource_group", "timeout", "artifacts", "extends", "rules", "variables",
          "needs", "parallel"}
GITLAB_TOP = {"stages", "variables", "default", "include", "workflow"}
OURS = {"--against", "--duel", "--build", "--module"}
GUARD = "github.event.pull_request.head.repo.full_name == github.repository"
GITLAB_GUARD = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID"

complaints = []


def complain(where, what):
    complaints.append(f"{where}: {what}")


def unknown(where, given, known):
    for key in set(map(str, given)) - known:
        complain(where, f"no key is called {key}")


def check_expression(where, text):
    """What stands in `if:`: names are functions that are called, or begin with a context; texts stand in quotes."""
    for name, called in re.findall(r"(?<![\w.'-])([A-Za-z_][\w-]*)(?:\.[\w.*-]+)?(\s*\()?", re.sub(r"'[^']*'", "''", text)):
        if name not in (FUNCTIONS if called else CONTEXTS):
            complain(where, f"no {'function' if called else 'context'} is called {name}")


def check_values(where, node):
    """Values that GitHub or GitLab would refuse, wherever their keys stand."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key == "timeout-minutes" and type(value) is not int:
            complain(where, f"{value} is no number of minutes")
        if key == "permissions" and not (isinstance(value, dict) and set(value.values()) <= {"read", "write", "none"}):
            complain(where, f"permissions are read, write or none, not {value}")
        if key == "when" and value not in WHEN:
            complain(where, f"when is not {value}")
        check_values(where, value)


def check_command(where, command, root, options, gpu):
    words = command.split()
    script = root / words[0]
    if not (words[0].startswith("ci/") and script.is_file() and script.stat().st_mode & 0o111):
        complain(where, f"{words[0]} is no script of ci/")
    for option in re.findall(r"(?<!\S)--[a-z-]+", command):
        if option not in options | OURS:
            complain(where, f"{words[0]} knows no {option}")
    if "--allow-undecided" in command:
        complain(where, "what is undecided would pass")
    if re.search(r"\|\||;|&&|\|", command):
        complain(where, f"a status may be lost: {command}")
    if gpu and "--require-device cuda" not in command:
        complain(where, "a runner that lost its GPU would pass: --require-device cuda")


def check_job(where, job, pulls, root, options):
    unknown(where, job, JOB)
    runner = job.get("runs-on", [])
    own = "self-hosted" in runner
    commands = [step["run"] for step in job.get("steps", []) if "run" in step]
    if "timeout-minutes" not in job:
        complain(where, "no timeout-minutes")
    if own and "concurrency" not in job:
        complain(where, "two gates of one branch: no concurrency")
    condition = " ".join(str(job.get("if", "")).split())
    if own and pulls and GUARD not in condition and condition != "github.event_name == 'push'":
        complain(where, "a fork's pull request would run on a machine of ours")
    check_expression(where, condition)
    for step in job.get("steps", []):
        unknown(where, step, STEP)
        check_expression(where, str(step.get("if", "")))
        if "uses" in step and not re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]):
            complain(where, f"{step['uses']} is no action of GitHub's at a version")
    for command in commands:
        check_command(where, command, root, options, own)
        depth = [step.get("with", {}).get("fetch-depth") for step in job["steps"] if "checkout" in step.get("uses", "")]
        if re.search(r"--against|--duel|propose", command) and depth != [0]:
            complain(where, "history is wanted: fetch-depth: 0")


def check_github(path, root, options):
    text = yaml.safe_load(path.read_text())
    unknown(path.name, text, WORKFLOW)
    triggers = text["on"] if isinstance(text["on"], dict) else dict.fromkeys([text["on"]])
    unknown(path.name, triggers, set(TRIGGERS))
    for trigger, of in triggers.items():
        for one in of if isinstance(of, list) else [of or {}]:
            unknown(f"{path.name}, {trigger}", one, TRIGGERS.get(trigger, set()))
    check_values(path.name, text)
    if "permissions" not in text:
        complain(path.name, "no permissions")
    for name, job in text["jobs"].items():
        check_job(f"{path.name}, {name}", job, "pull_request" in triggers, root, options)


def check_gitlab(path, root, options):
    text = yaml.safe_load(path.read_text())
    jobs = {name: job for name, job in text.items() if name not in GITLAB_TOP}
    check_values(path.name, text)
    for name, job in jobs.items():
        where = f"{path.name}, {name}"
        whole = {**jobs.get(job.get("extends"), {}), **job}
        unknown(where, job, GITLAB)
        gpu = "gpu" in whole.get("tags", [])
        if gpu and "resource_group" not in whole:
            complain(where, "two gates on one GPU: no resource_group")
        if "stage" not in whole or whole["stage"] not in text["stages"]:
            complain(where, "no such stage")
        for command in job.get("script", []):
            check_command(where, command, root, options, gpu)
        for rule in whole.get("rules", []):
            unknown(where, rule, RULE)
        rules = " ".join(str(rule.get("if", "")) for rule in whole.get("rules", []))
        if gpu and "merge_request_event" in rules and GITLAB_GUARD not in rules:
            complain(where, "a fork's merge request would run on a machine of ours")
        if "--against" in str(job.get("script")) and text.get("variables", {}).get("GIT_DEPTH") != 0:
            complain(where, "history is wanted: GIT_DEPTH: 0")


def lint(files):
    for program, arguments in (("yamllint", ["-d", "{extends: default, rules: {line-length: {max: 120}}}"]),
                               ("actionlint", [])):
        wanted = [str(file) for file in files if program == "yamllint" or ".github" in str(file)]
        if shutil.which(program):
            done = subprocess.run([program, *arguments, *wanted], capture_output=True, text=True)
            if done.returncode:
                complain(program, done.stdout + done.stderr)
        else:
            print(f"{program} is not here", file=sys.stderr)


def main():
    root = pathlib.Path(sys.argv[1])
    usage = subprocess.run([sys.argv[2], "run", "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"--[a-z0-9-]+", usage))
    files = sorted((root / ".github/workflows").glob("*.yml")) + [root / ".gitlab-ci.yml"]
    for path in files[:-1]:
        check_github(path, root, options)
    check_gitlab(files[-1], root, options)
    lint(files)
    print("\n".join(complaints))
    print(f"{len(files)} files, {len(complaints)} complaints")
    return 1 if complaints or len(files) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
