"""test_@FAMILY@.py - the op against the expected values of the family's contract, and its errors.

    python3 test_@FAMILY@.py

Written by 'apo export --torch': do not edit. The cases are the family's small and ragged workloads; those of sizes that
the dispatch table does not serve have to be refused with an error that says so.
"""
import contextlib
import importlib
import json
import unittest
from pathlib import Path

import numpy as np
import torch

from @FAMILY@_op import HAS_GRADIENT, OP, @FAMILY@

FOLDER = Path(__file__).resolve().parent / "@FAMILY@_cases"
CASES = json.loads((FOLDER / "cases.json").read_text())
DEVICES = [device for device in OP["devices"] if device == "cpu" or torch.cuda.is_available()]
COMPILES = hasattr(torch, "compile")  # PyTorch 2


def load(case, tensor):
    values = torch.from_numpy(np.load(FOLDER / case["name"] / f"{tensor['name']}.npy"))
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
    values = np.unique(expected).size
    limit = rule["rms_factor"] + rule["rms_spread"] / np.sqrt(values)
    if values == 1 and rule["rms_spread"] > 0:  # one error
        limit = rule["element_sigmas"]
    return element.max(), ratio(rms, limit)


def arguments_of(case):
    return {axis["name"]: case["axes"][axis["name"]] for axis in OP["axes"] if "input" not in axis}


def call_op(inputs, arguments):
    outputs = @FAMILY@(*inputs, **arguments)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def inputs_of(case, device, gradients=False):
    inputs = [load(case, tensor).to(device) for tensor in OP["inputs"]]
    return [tensor.requires_grad_(gradients and tensor.is_floating_point()) for tensor in inputs]


def call(case, device, op=call_op):
    return op(inputs_of(case, device), arguments_of(case))


def compiled():
    importlib.import_module("torch._dynamo").reset()  # each case would be one more to recompile for, and there is a limit
    return torch.compile(call_op, backend="aot_eager", fullgraph=True)


def served(device, differentiable=False):
    """The cases that the dispatch table has a kernel for."""
    cases = []
    for case in CASES:
        with contextlib.suppress(RuntimeError):
            call(case, device)
            cases += [case] if case["differentiable"] or not differentiable else []
    if not cases:
        raise unittest.SkipTest(f"the dispatch table serves no such case on {device}")
    return cases


class Near(unittest.TestCase):
    """Holds results against what the contract expects."""

    def check(self, case, tensor, output):
        self.assertEqual(output.dtype, getattr(torch, tensor["dtype"]))
        actual = output.detach().double().cpu().numpy()
        folder = FOLDER / case["name"]
        expected, scale = (np.load(folder / f"{tensor['name']}.{what}.npy") for what in ("expected", "scale"))
        self.assertEqual(actual.shape, expected.shape)
        if actual.size:
            rule = case["tolerances"][tensor["name"]]
            self.assertTrue(np.isfinite(actual).all(), f"{tensor['name']} is not finite")
            element, rms = closeness(actual, expected, scale, rule)
            self.assertLessEqual(element, 1, f"an element of {tensor['name']} is off")
            self.assertLessEqual(rms, 1, f"{tensor['name']} as a whole is off")

    def each_case(self, device, compute, tensors, what):
        """`compute` gives the tensors of each case that the dispatch table serves."""
        right, refused = 0, []
        for case in CASES:
            with self.subTest(case=case["name"], device=device):
                try:
                    outputs = compute(case, device)
                except RuntimeError as error:
                    if "no kernel of" not in str(error):
                        raise
                    refused.append(case["name"])
                    continue
                if outputs is not None:
                    for tensor, output in zip(tensors, outputs):
                        self.check(case, tensor, output)
                    right += 1
        print(f"{what} on {device}: {right} cases right; not served: {', '.join(refused) or 'none'}")
        self.assertGreater(right, 0, f"the dispatch table serves no case on {device}")


class Cases(Near):
    def test_outputs_are_as_near_as_the_contract_asks(self):
        for device in DEVICES:
            self.each_case(device, call, OP["outputs"], "@FAMILY@")

    def test_another_stream_gives_the_same(self):
        if "cuda" not in DEVICES:
            self.skipTest("no GPU, or none in the table")
        with torch.cuda.stream(torch.cuda.Stream()):
            self.test_outputs_are_as_near_as_the_contract_asks()

    def test_meta_tensors_have_the_shapes(self):
        for case in CASES:
            with torch.inference_mode():  # without it PyTorch 1 looks for a derivative
                outputs = call(case, "meta")
            for tensor, output in zip(OP["outputs"], outputs):
                expected = np.load(FOLDER / case["name"] / f"{tensor['name']}.expected.npy")
                self.assertEqual(tuple(output.shape), expected.shape)


    @unittest.skipUnless(COMPILES, "needs PyTorch 2")
    def test_compiled_gives_the_same(self):
        for device in DEVICES:
            self.each_case(device, lambda case, device: call(case, device, compiled()), OP["outputs"], "@FAMILY@ compiled")

    @unittest.skipUnless(COMPILES, "needs PyTorch 2")
    def test_compiled_for_one_size_it_takes_another(self):
        for device in DEVICES:
            op, cases = compiled(), served(device)
            for case in cases[:2] + cases[:1]:
                for tensor, output in zip(OP["outputs"], call(case, device, op)):
                    self.check(case, tensor, output)

    @unittest.skipUnless(hasattr(torch.library, "opcheck"), "needs PyTorch 2.4")
    def test_is_registered_as_pytorch_asks(self):
        for device in DEVICES:
            case = served(device)[0]
            inputs = inputs_of(case, device, gradients=HAS_GRADIENT)
            tests = ("test_schema", "test_faketensor") + (("test_autograd_registration",) if HAS_GRADIENT else ())
            torch.library.opcheck(torch.ops.apo.@FAMILY@.default, tuple(inputs), arguments_of(case), test_utils=tests)


@unittest.skipUnless(HAS_GRADIENT, "no op of the gradient is in this folder")
class Gradients(Near):
    """What autograd gives, against the expected values of the gradient's contract in fp64."""

    def compute(self, case, device, op=None):
        if not case["differentiable"]:
            return None
        inputs = inputs_of(case, device, gradients=True)
        outputs = (op or call_op)(inputs, arguments_of(case))
        ends = [outputs[tensor["output"]] for tensor in OP["gradient"]["arriving"]]
        arriving = [load(case, tensor).to(device) for tensor in OP["gradient"]["arriving"]]
        return torch.autograd.grad(ends, [inputs[tensor["input"]] for tensor in OP["gradient"]["gradients"]], arriving)

    def test_gradients_are_as_near_as_the_contract_asks(self):
        for device in DEVICES:
            self.each_case(device, self.compute, OP["gradient"]["gradients"], "gradient of @FAMILY@")

    @unittest.skipUnless(COMPILES, "needs PyTorch 2")
    def test_compiled_gradients_are_as_near(self):
        for device in DEVICES:
            self.each_case(device, lambda case, device: self.compute(case, device, compiled()), OP["gradient"]["gradients"], "gradient of @FAMILY@ compiled")

    def test_gradients_may_arrive_as_views(self):
        for device in DEVICES:
            case = served(device, differentiable=True)[0]
            inputs = inputs_of(case, device, gradients=True)
            wanted = [inputs[tensor["input"]] for tensor in OP["gradient"]["gradients"]]
            end = call_op(inputs, arguments_of(case))[OP["gradient"]["arriving"][0]["output"]]
            whole = torch.autograd.grad(end, wanted, torch.ones_like(end), retain_graph=True)
            expanded = torch.autograd.grad(end.sum(), wanted)  # arrives as one element with strides of 0
            for one, other in zip(whole, expanded):
                torch.testing.assert_close(one, other)

    def test_what_no_gradient_can_reach_is_a_dead_end(self):
        case = served(DEVICES[0], differentiable=True)[0]
        outputs = call_op(inputs_of(case, DEVICES[0], gradients=True), arguments_of(case))
        reached = {tensor["output"] for tensor in OP["gradient"]["arriving"]}
        self.assertEqual([output.requires_grad for output in outputs], [index in reached for index in range(len(outputs))])


class Errors(unittest.TestCase):
    def setUp(self):
        name = OP["inputs"][0]["name"]
        self.case = max(CASES, key=lambda case: np.load(FOLDER / case["name"] / f"{name}.npy").size)
        self.inputs = inputs_of(self.case, DEVICES[0])

    def refuse(self, first, pattern):
        with self.assertRaisesRegex(RuntimeError, pattern):
            @FAMILY@(first, *self.inputs[1:], **arguments_of(self.case))

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
