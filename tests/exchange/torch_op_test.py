"""torch_op_test.py - the contracts of the shipped families in the words of PyTorch. What is exported is called elsewhere."""
import copy
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "harness" / "exchange"))
from conversion import Mistake  # noqa: E402
from torch_op import contract_of, gradient_of, schema_of  # noqa: E402

LISTED = subprocess.run([os.environ["APO_PROGRAM"], "list", "--json"], capture_output=True, check=True).stdout
FAMILIES = {family["name"]: family for family in json.loads(LISTED)["families"]}


def schema(family):
    return schema_of(family, contract_of(FAMILIES[family]))


def gradient(family):
    return gradient_of(FAMILIES[family], contract_of(FAMILIES[family]), FAMILIES.values())


class TorchOp(unittest.TestCase):
    def test_the_schema_has_the_tensors_and_the_axes_that_no_input_tells(self):
        self.assertEqual(
            schema("binary_backward"),
            "binary_backward(Tensor g, Tensor A, Tensor B, *, int op, int kept, int need_dA=1, int need_dB=1) -> "
            "(Tensor dA, Tensor dB)",
        )
        self.assertEqual(
            schema("lse_backward"),
            "lse_backward(Tensor q, Tensor k, Tensor dlse, Tensor q_position, Tensor k_position, Tensor q_segment, "
            "Tensor k_segment, Tensor lse, *, int causal=0, int cap=0, float scale=0.088388346135616302) -> "
            "(Tensor dq, Tensor dk)",
        )
        self.assertEqual(schema("copy"), "copy(Tensor x) -> Tensor")
        self.assertIn("Tensor checkpoints, Tensor y_cache, *, int GATE, int NORM) -> (Tensor dk,", schema("e88_backward"))

    def test_a_shape_that_is_no_text_of_expressions_is_refused(self):
        for shape in ("[n rounded up]", "[n+1]", "n", "[n/0]"):  # the second says something else than the function
            family = copy.deepcopy(FAMILIES["copy"])
            family["tensors"][0]["shape"] = shape
            with self.assertRaisesRegex(Mistake, "cannot become an op of PyTorch", msg=shape):
                contract_of(family)

    def test_a_gradient_is_a_family_that_takes_and_gives_nothing_else(self):
        found = gradient("e88_forward")
        self.assertEqual(found["op"], "e88_backward")
        self.assertEqual([kind for kind, _ in found["inputs"]], ["input"] * 5 + ["gradient"] * 2 + ["output"] * 2)
        self.assertEqual(found["inputs"][6][1], 3, "d_s_final arrives at the last output")
        self.assertEqual(found["outputs"], [0, 1, 2, 3, 4, 5])
        self.assertEqual(found["arguments"], ["GATE", "NORM"])
        self.assertEqual(found["arriving"][1], {"name": "d_s_final", "dtype": found["arriving"][1]["dtype"], "output": 3})
        for other in ("e88_backward", "copy", "lse_backward"):
            self.assertIsNone(gradient(other), other)


if __name__ == "__main__":
    unittest.main()
