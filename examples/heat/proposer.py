# examples/heat/proposer.py - stands for an agent: reads the brief, thinks aloud, and answers with a candidate.
import json
import sys

brief = json.load(sys.stdin)
for bottleneck in brief["bottlenecks"]:
    print("worth at most", bottleneck["bound"], "times:", bottleneck["evidence"])
print(json.dumps({"file": "by_rows.cpp"}))
