#!/usr/bin/env python3
"""decisions.py -- makes decisions.inc, which test_decision.c compares kg_decide with: docs/deciding.md's rules once more,
by NumPy and SciPy (statistics.variance, scipy.stats.t.ppf), from the text and not from decision.c.

    python3 decisions.py >decisions.inc"""
import numpy
from scipy import stats

SET_ALPHA = 0.01


def look_sizes(first, most):
    return [k for k in range(first, most, 3)] + [most]


def decide_set(case, first, logs):
    sizes = look_sizes(first, case["most"])
    out = dict(answer="MORE", look=0, blocks=0, change=numpy.nan, margin=numpy.nan, wanted=0)
    for look, size in enumerate(sizes, 1):
        if size > len(logs):
            out["wanted"] = size
            break
        alpha = SET_ALPHA if len(sizes) == 1 else SET_ALPHA / 2 if look == 1 else SET_ALPHA / 2 / (len(sizes) - 1)
        seen, golden = numpy.array(logs[:size]), numpy.array(case["golden"])
        sd, worth = case["prior"]
        freedom = worth + size - 1
        pooled = (worth * sd**2 + (size - 1) * numpy.var(seen, ddof=1)) / freedom
        error = numpy.sqrt(pooled / size + (pooled / len(golden) if len(golden) else 0))
        change = seen.mean() - (golden.mean() if len(golden) else 0)
        half = stats.t.ppf(1 - alpha, freedom) * error
        low, middle, high = (100 * numpy.expm1(v) for v in (change - half, change, change + half))
        out.update(look=look, blocks=size, change=middle, margin=(high - low) / 2)
        if middle > case["threshold"] and low > case["floor"] and abs(middle) > case["resolution"]:
            out["answer"] = "SLOW"
        elif high < -case["threshold"]:
            out["answer"] = "FAST"
        elif high < case["threshold"]:
            out["answer"] = "PASS"
        if out["answer"] != "MORE":
            break
    return out


def decide(case, logs):
    first = decide_set(case, 3, logs)
    if first["answer"] != "SLOW":
        return dict(first, alarm_blocks=0, alarm=0)
    second = decide_set(case, 6, logs[first["blocks"]:])
    if second["wanted"]:
        second["wanted"] += first["blocks"]
    return dict(second, alarm_blocks=first["blocks"], alarm=first["change"])


def numbers(values):
    return "{ " + ", ".join(f"{v:.6f}" for v in values) + " }" if len(values) else "{ 0 }"


random = numpy.random.default_rng(20261120)
print("/* Made by decisions.py: do not edit. */")
made = {}
while min(made.values(), default=0) < 6 or len(made) < 6:
    threshold = random.choice([0.25, 0.5, 2.0, 10.0])
    sd = threshold / 100 * random.choice([0.1, 0.3, 0.6])
    case = dict(most=int(random.choice([3, 5, 12, 16])), threshold=threshold, floor=threshold * random.choice([0.1, 0.5]),
                resolution=random.choice([0.01, 0.2]),
                prior=(round(sd * random.choice([0.5, 1, 2]), 6), float(random.choice([2, 4, 6]))))
    case["golden"] = [round(v, 6) for v in 3 + sd * random.standard_normal(random.choice([0, 3, 8]))]
    shift = threshold / 100 * random.choice([-1.5, 0, 0.8, 1.05, 1.5]) + (3 if case["golden"] else 0)
    logs = [round(v, 6) for v in shift + sd * random.standard_normal(random.integers(6, 33))]
    got = decide(case, logs)
    kind = got["answer"] + (" after an alarm" if got["alarm_blocks"] else "")
    if kind == "FAST after an alarm" or made.get(kind, 0) >= 6:
        continue
    if any(abs(got["change"] - b) < 1e-3 for b in (threshold, -threshold)):
        continue
    made[kind] = made.get(kind, 0) + 1
    print(f"/* {kind} */")
    print(f"{{ {numbers(case['golden'])}, {len(case['golden'])}, {{ {case['prior'][0]}, {case['prior'][1]} }}, "
          f"{case['threshold']}, {case['floor']:.4g}, {case['resolution']}, {case['most']}, {numbers(logs)}, {len(logs)},")
    print(f"  {{ KG_ANSWER_{got['answer']}, {got['change']:.9f}, {got['margin']:.9f}, {got['look']}, {got['blocks']}, "
          f"{got['alarm_blocks']}, {got['alarm']:.9f}, {got['wanted']} }} }},".replace("nan", "NAN"))
