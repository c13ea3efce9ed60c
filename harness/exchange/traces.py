"""traces.py - judged experiments as traces of FlashInfer-Trace: a line for each experiment and workload.

Reads {"families": as `apo list --json` has them, "experiments": as `apo show --json` has them, with their machine and, by
workload, what was "measured" and the "errors" of the outputs}.
Writes traces.jsonl; prints {"traces", "left_out": experiments without a result of their own, "other_tensors": lines whose
tensors were others than their definition has, by how}. Facts that the journal does not hold are null.
"""
import json

from conversion import as_written, main

# None: nothing of the candidate was found out.
STATUSES = {
    "valid": "PASSED",
    "build_failed": "COMPILE_ERROR",
    "incorrect": "INCORRECT_NUMERICAL",
    "timed_out": "TIMEOUT",
    "unstable_clock": "REWARD_HACK",  # its times were not what independent clocks and fresh inputs say
    "refused": "RUNTIME_ERROR",
    "wrong_abi": "RUNTIME_ERROR",
    "faulted": "RUNTIME_ERROR",
    "out_of_memory": "RUNTIME_ERROR",
}


def performance(experiment, workload):
    """Medians over the rounds of the stage that the judgement is about. The reference is the incumbent of these rounds."""
    measured = experiment["measured"].get(workload, {"candidate_ms": None, "incumbent_ms": None, "speedup": None})
    return {
        "latency_ms": measured["candidate_ms"],
        "reference_latency_ms": measured["incumbent_ms"],
        "speedup_factor": measured["speedup"],
    }


def correctness(experiment, workload):
    """Of this workload; of the one that was wrong where the candidate failed on another."""
    errors = experiment["errors"].get(workload) or experiment["errors_of_the_failed"] or {}
    values = {f"{key}_error": errors.get(key) for key in ("max_relative", "max_absolute")}
    return {**values, "has_nan": errors.get("has_nan"), "has_inf": errors.get("has_inf"), "extra": None}


def environment(experiment):
    machine = experiment["machine"] or {"model": None, "driver": ""}
    libraries = {"driver": machine["driver"], "compiler": experiment["candidate_build"]["toolchain"]["version"]}
    return {"hardware": machine["model"], "libs": {name: version for name, version in libraries.items() if version}}


def log_of(experiment):
    """"correctness: element 3 of y is 0.5, ...", or the judgement's sentence."""
    for gate in experiment["gates"]:
        if gate["outcome"] not in ("valid", "not checked"):
            return f"{gate['gate']}: {gate['evidence']}"
    return f"experiment {experiment['id']} against {experiment['incumbent']['label']}: {experiment['judgement']['sentence']}"


def workload_document(family, name):
    workload = next((one for one in family["workloads"] if one["name"] == name), None)
    if workload is None:
        return {"uuid": name, "axes": {}, "inputs": {}}
    variable = [one["name"] for one in family["axes"] if not one["specialised"] or one["min"] != one["max"]]
    inputs = {one["name"]: {"type": "random"} for one in family["tensors"] if one["role"] == "input" and not one["derived"]}
    inputs.update({one["name"]: {"type": "scalar", "value": as_written(one)} for one in family["scalars"]})
    return {"uuid": workload["origin"] or name, "axes": {axis: workload["axes"][axis] for axis in variable}, "inputs": inputs}


def trace(experiment, family, workload):
    outcome = experiment["outcome"]
    return {
        "definition": family["origin"] or experiment["family"],
        "solution": experiment["candidate"]["label"],
        "workload": workload_document(family, workload),
        "evaluation": {
            "status": STATUSES[outcome],
            "log": log_of(experiment),
            "correctness": correctness(experiment, workload) if outcome in ("valid", "incorrect") else None,
            "performance": performance(experiment, workload) if outcome == "valid" else None,
            "environment": environment(experiment),
            "timestamp": experiment["finished_at"],
        },
    }


def traces(document):
    families = {family["name"]: family for family in document["families"]}
    unknown = {"origin": "", "workloads": []}
    lines, left_out, other_tensors = [], 0, {}
    for experiment in document["experiments"]:
        if experiment["outcome"] not in STATUSES or experiment["judgement"]["reason"] == "interrupted":
            left_out += 1
            continue
        family = families.get(experiment["family"], unknown)
        if experiment["other_tensors"]:
            known = other_tensors.get(experiment["other_tensors"], 0)
            other_tensors[experiment["other_tensors"]] = known + len(experiment["workloads"])
        for workload in experiment["workloads"]:
            lines.append(json.dumps(trace(experiment, family, workload), separators=(",", ":"), ensure_ascii=False) + "\n")
    return {"traces.jsonl": "".join(lines)}, {"traces": len(lines), "left_out": left_out, "other_tensors": other_tensors}


if __name__ == "__main__":
    main(traces)
