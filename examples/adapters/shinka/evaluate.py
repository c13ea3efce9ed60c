"""ShinkaEvolve: APO_FAMILY=copy python evaluate.py --program_path initial.cpp --results_dir results"""

import argparse
import json
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from ask_apo import ask  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--program_path", required=True)
parser.add_argument("--results_dir", type=pathlib.Path, required=True)
options = parser.parse_args()
answer = ask(options.program_path)
feedback = "\n".join(answer["feedback"])
correct = answer["verdict"] != "wrong"
files = {
    "metrics.json": {"combined_score": answer["score"], "public": {"verdict": answer["verdict"]}, "private": {},
                     "extra_data": {}, "text_feedback": feedback},
    "correct.json": {"correct": correct, "error": "" if correct else feedback},
}
options.results_dir.mkdir(parents=True, exist_ok=True)
for name, document in files.items():
    (options.results_dir / name).write_text(json.dumps(document))
