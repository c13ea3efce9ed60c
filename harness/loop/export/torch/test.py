"""test_@FAMILY@.py - the op against the expected values of the family's contract, and its errors.

    python3 test_@FAMILY@.py

Written by 'apo export --torch': do not edit. The cases are the family's small and ragged workloads; those of sizes that
the dispatch table does not serve have to be refused with an error that says so.
"""
import json
import unittest
from pathlib import Path

import numpy as np
import torch

from @FAMILY@_op import @FAMILY@

CASES = Path(__file__).resolve().parent / "@FAMILY@_cases"
CONTRACT = json.loads((CASES / "cases.json").read_text())
DEVICES = [device for device in CONTRACT["devices"] if device == "cpu" or torch.cuda.is_available()]


def load(case, tensor):
    values = torch.from_numpy(np.load(CASES / case["name"] / f"{tensor['name']}.npy"))
    return values.to(getattr(torch, tensor["dtype"])).clone()  # aligned, as NumPy's memory may not be


def ratio(above, below):
    """0/0 is 0: an element that has to be equal, and is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above <= 0, 0, above / below)


def closeness(actual, expected, scale, rule):
    """Both at most 1 where the output is right: the rule of the contract, kernels/family.h of apo."""
    error = np.abs(actual - expected)
    rounding = np.maximum(rule["output_rounding"] * np.abs(expected), rule["output_spacing"] / 2)
    element = ratio(error - rounding, rule["element_sigmas"] * scale)
    rms = np.sqrt(ratio(error**2, scale**2 + rounding**2 / 3).mean())
    return element.max(), ratio(rms, np.float64(rule["rms_factor"]))


def call(case, device):
    inputs = [load(case, tensor).to(device) for tensor in CONTRACT["inputs"]]
    outputs = @FAMILY@(*inputs, **case["arguments"])
    return outputs if isinstance(outputs, tuple) else (outputs,)


class Cases(unittest.TestCase):
    def check(self, case, outputs):
        for tensor, output in zip(CONTRACT["outputs"], outputs):
            self.assertEqual(output.dtype, getattr(torch, tensor["dtype"]))
            actual = output.double().cpu().numpy()
            folder = CASES / case["name"]
            expected, scale = (np.load(folder / f"{tensor['name']}.{what}.npy") for what in ("expected", "scale"))
            self.assertEqual(actual.shape, expected.shape)
            if actual.size:
                rule = case["tolerances"][tensor["name"]]
                self.assertTrue(np.isfinite(actual).all(), f"{tensor['name']} is not finite")
                element, rms = closeness(actual, expected, scale, rule)
                self.assertLessEqual(element, 1, f"an element of {tensor['name']} is off")
                self.assertLessEqual(rms, 1, f"{tensor['name']} as a whole is off")

    def test_outputs_are_as_near_as_the_contract_asks(self):
        for device in DEVICES:
            right, refused = 0, []
            for case in CONTRACT["cases"]:
                with self.subTest(case=case["name"], device=device):
                    try:
                        outputs = call(case, device)
                    except RuntimeError as error:
                        if "no kernel of @FAMILY@ is known" not in str(error):
                            raise
                        refused.append(case["name"])
                        continue
                    self.check(case, outputs)
                    right += 1
            print(f"@FAMILY@ on {device}: {right} cases right; not served: {', '.join(refused) or 'none'}")
            self.assertGreater(right, 0, f"the dispatch table serves no case on {device}")

    def test_another_stream_gives_the_same(self):
        if "cuda" not in DEVICES:
            self.skipTest("no GPU, or none in the table")
        with torch.cuda.stream(torch.cuda.Stream()):
            self.test_outputs_are_as_near_as_the_contract_asks()

    def test_meta_tensors_have_the_shapes(self):
        for case in CONTRACT["cases"]:
            with torch.inference_mode():  # without it PyTorch 1 looks for a derivative
                outputs = call(case, "meta")
            for tensor, output in zip(CONTRACT["outputs"], outputs):
                expected = np.load(CASES / case["name"] / f"{tensor['name']}.expected.npy")
                self.assertEqual(tuple(output.shape), expected.shape)


class Errors(unittest.TestCase):
    def setUp(self):
        name = CONTRACT["inputs"][0]["name"]
        self.case = max(CONTRACT["cases"], key=lambda case: np.load(CASES / case["name"] / f"{name}.npy").size)
        self.inputs = [load(self.case, tensor).to(DEVICES[0]) for tensor in CONTRACT["inputs"]]

    def refuse(self, first, pattern):
        with self.assertRaisesRegex(RuntimeError, pattern):
            @FAMILY@(first, *self.inputs[1:], **self.case["arguments"])

    def test_mistakes_name_the_fix(self):
        first = self.inputs[0]
        self.refuse(first.to(torch.complex64), r"has dtype .*, needed .*: call to\(\)")
        wide = first.new_empty(first.shape + (2,))[..., 0].copy_(first)
        self.refuse(wide, r"is not contiguous: call contiguous\(\)")
        moved = first.new_empty(first.numel() + 1)[1:].copy_(first.flatten()).reshape(first.shape)
        self.refuse(moved, r"no multiple of 64 bytes: call clone\(\)")
        self.refuse(first.reshape((1,) * 20 + tuple(first.shape)), r"dimensions, and the contract has .*: call reshape\(\)")

    def test_a_device_without_rows_is_refused(self):
        if "cpu" in DEVICES:
            self.skipTest("the table has rows for a CPU")
        self.inputs = [tensor.cpu() for tensor in self.inputs]
        self.refuse(self.inputs[0], "no kernel of @FAMILY@ is known")


if __name__ == "__main__":
    unittest.main()
