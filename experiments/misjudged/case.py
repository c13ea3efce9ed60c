#!/usr/bin/env python3
"""experiments/misjudged/case.py NAME TRUTH JOURNAL ID... >> cases.jsonl - a line of JSON for each recorded judgement.

NAME is a row of README.md, TRUTH the effect as it is, ln(time of the incumbent / time of the candidate), or "recorded":
what the selftest knew. ID is an experiment's number, or s and the number of a row of selftest_comparison.
"""
import json
import sqlite3
import sys

EXPERIMENT = """
    SELECT m.model AS device, j.rule_version AS rule, j.preset, j.minimum_claim, NULL AS truth,
           j.verdict || ' (' || j.reason || ')' AS said,
           (SELECT json_group_array(effect) FROM
              (SELECT effect FROM round WHERE experiment = e.id AND void_why = '' ORDER BY id)) AS effects
    FROM experiment e JOIN judgement j ON j.experiment = e.id JOIN machine m ON m.id = e.machine WHERE e.id = ?"""
SELFTEST = """
    SELECT m.model AS device, s.rule_version AS rule,
           coalesce((SELECT preset FROM selftest_kernel k WHERE k.selftest = s.id AND k.workload = c.workload
                     AND k.configuration IN (c.incumbent, c.candidate)), 'standard') AS preset,
           0 AS minimum_claim, c.truth, c.verdict || ' (' || c.reason || ')' AS said, c.effects
    FROM selftest_comparison c JOIN selftest s ON s.id = c.selftest JOIN machine m ON m.id = s.machine WHERE c.id = ?"""


def case(name, truth, path, number):
    journal = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    journal.row_factory = sqlite3.Row
    found = journal.execute(SELFTEST if number.startswith("s") else EXPERIMENT, (number.lstrip("s"),)).fetchone()
    if found is None:
        sys.exit(f"{path} has no judgement {number}: 'apo query' lists experiments")
    row = {"name": name, "from": f"{path} {number}"} | dict(found)
    row["truth"] = float(f"{row['truth'] if truth == 'recorded' else float(truth):.6g}")
    row["effects"] = [float(f"{effect:.6g}") for effect in json.loads(row["effects"])]
    return json.dumps(row, separators=(",", ":"))


name, truth, path, *numbers = sys.argv[1:]
for number in numbers:
    print(case(name, truth, path, number))
