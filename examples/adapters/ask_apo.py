"""The answer of `apo evaluate` for a file, for the adapters beside this one.

The environment says what is searched for: APO_FAMILY, and if wanted APO_WORKLOAD, APO_JUDGE (quick ranks in seconds;
judge what is left without it) and APO, the program. Leave `apo:variant` out of the initial program.
"""

import json
import os
import subprocess


def ask(path):
    command = [os.environ.get("APO", "apo"), "evaluate", path, "--json", "--quiet", "--family", os.environ["APO_FAMILY"]]
    for option in ("workload", "judge"):
        if value := os.environ.get("APO_" + option.upper()):
            command += ["--" + option, value]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answer = json.loads(ran.stdout) if ran.stdout else {"error": "it printed nothing"}
    if "error" in answer:  # the command is wrong, not the candidate
        raise RuntimeError(ran.stderr)
    if answer["verdict"] == "not_judged":  # the machine's fault: a score of 0 would teach the search a falsehood
        raise RuntimeError("\n".join(answer["feedback"]))
    return answer
