"""OpenEvolve: APO_FAMILY=copy python openevolve-run.py initial.cpp examples/adapters/openevolve/evaluator.py

with `file_suffix: ".cpp"` in its configuration; higher is better, 0 for a program that is wrong.
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ask_apo import ask  # noqa: E402


def evaluate(program_path):
    answer = ask(program_path)
    metrics = {"combined_score": answer["score"], "correct": float(answer["verdict"] != "wrong")}
    try:
        from openevolve.evaluation_result import EvaluationResult
    except ImportError:
        return metrics
    feedback = "\n".join(answer["feedback"])
    return EvaluationResult(metrics=metrics, artifacts={"verdict": answer["verdict"], "feedback": feedback})
