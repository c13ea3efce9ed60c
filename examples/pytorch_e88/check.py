#!/usr/bin/env python3
"""check.py - holds the exported E88 ops against autograd of the plain recurrence in float64.

    python3 examples/pytorch_e88/check.py op

First outputs and gradients of the recurrence, then of a whole layer, then what torch.compile makes of it. Each may be
off by at most four times what an honest implementation in bfloat16 is off, as a root mean square. Exit code: 3 where
one is not.
"""
import argparse
import sys

FACTOR = 4
SHAPES = [(1, 1, 1, 32), (2, 37, 3, 32), (4, 128, 8, 32)]  # B, T, H, width
LARGE = (16, 512, 83, 32)


def off(actual, exact):
    """Relative, as a root mean square; NaN stays NaN."""
    return ((actual.double() - exact).square().mean().sqrt() / exact.square().mean().sqrt().clamp(min=1e-30)).item()


class Check:
    def __init__(self, names):
        self.names, self.wrong = names, []

    def hold(self, what, actual, honest, exact):
        """Prints the worst one."""
        worst = (0.0, "", 0.0, 0.0)
        for name, *three in zip(self.names, actual, honest, exact):
            mine, yardstick = off(three[0], three[2]), max(off(three[1], three[2]), 2**-9)  # 2^-9: a rounding to bf16
            if not mine <= FACTOR * yardstick:  # this form also catches NaN
                self.wrong.append(f"{name} of {what}")
            worst = max(worst, (mine / yardstick, name, mine, yardstick))
        print(f"{what}: {worst[1]} is {worst[2]:.2e} off, {worst[0]:.2f} of an honest implementation's {worst[3]:.2e}")


def with_gradients(torch, function, inputs, arriving):
    """Outputs, then gradients in the inputs."""
    inputs = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    outputs = function(*inputs)
    gradients = torch.autograd.grad(outputs, inputs, [end.to(output.dtype) for end, output in zip(arriving, outputs)])
    return [tensor.detach() for tensor in (*outputs, *gradients)]


def draw(torch, shape, device):
    """Inputs and what arrives at the outputs, in bfloat16."""
    B, T, H, width = shape
    normal = lambda *extents: torch.randn(*extents, device=device)  # noqa: E731
    k, q, v, g = (normal(B, T, H, width) for _ in range(4))
    inputs = [k, q, 0.6 * v, g, torch.sigmoid(normal(B, T, H)), 0.3 * normal(B, H, width, width)]
    arriving = [normal(B, T, H, width), normal(B, H, width, width)]
    return [tensor.bfloat16() for tensor in inputs], [tensor.bfloat16() for tensor in arriving]


def check_recurrence(torch, e88, kernels, shape, device, check):
    inputs, arriving = draw(torch, shape, device)
    honest = lambda *tensors: e88.recurrence(*tensors, honest=True)  # noqa: E731
    rounded = [each.bfloat16() for each in with_gradients(torch, honest, [tensor.float() for tensor in inputs], arriving)]
    exact = with_gradients(torch, e88.recurrence, [tensor.double() for tensor in inputs], arriving)
    check.hold(f"recurrence {list(shape)}", with_gradients(torch, kernels, inputs, arriving), rounded, exact)


def layer_gradients(torch, layer, step, x, arriving, dtype):
    layer, layer.step = layer.to(dtype), step
    x = x.detach().to(dtype).requires_grad_()
    with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=dtype != torch.float64):
        y = layer(x)
    return [y.detach(), *(each.detach() for each in torch.autograd.grad(y, [x, *layer.parameters()], arriving.to(y.dtype)))]


def check_layer(torch, e88, kernels, device, check):
    torch.manual_seed(2)
    layer = e88.Layer(64, 4, 32, kernels).to(device)
    x, arriving = (torch.randn(2, 40, 64, device=device) for _ in range(2))
    check.names = ["y", "dx", *(name for name, _ in layer.named_parameters())]
    honest = lambda *tensors: [each.bfloat16() for each in e88.recurrence(*(tensor.float() for tensor in tensors), honest=True)]  # noqa: E731
    mine = layer_gradients(torch, layer, kernels, x, arriving, torch.float32)
    rounded = layer_gradients(torch, layer, honest, x, arriving, torch.float32)
    exact = layer_gradients(torch, layer, e88.recurrence, x, arriving, torch.float64)
    check.hold("layer", mine, rounded, exact)


def check_compiled(torch, kernels, device, check):
    """Compiled and called as it is, the ops are the same kernels."""
    inputs, arriving = draw(torch, SHAPES[1], device)
    eager = with_gradients(torch, kernels, inputs, arriving)
    compiled = with_gradients(torch, torch.compile(kernels, fullgraph=True), inputs, arriving)
    worst = max(off(one, other.double()) for one, other in zip(compiled, eager))
    print(f"compiled: {worst:.2e} off what the same kernels give without")
    check.wrong += [] if worst <= 2**-9 else ["the compiled recurrence"]


def main():
    parser = argparse.ArgumentParser(description="compare exported E88 ops with autograd of plain PyTorch in float64")
    parser.add_argument("ops", help="folder of 'apo export --torch', both ops")
    parser.add_argument("--device", help="cuda or cpu (default: cuda where there is a GPU)")
    parser.add_argument("--large", action="store_true", help=f"also {list(LARGE)}, whose reference needs a large GPU")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("check.py: PyTorch is not installed: pip install torch")
    import e88

    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = False
    kernels = e88.exported(options.ops)
    check = Check(["output", "s_final", "dk", "dq", "dv", "dg", "ddecay", "ds0"])
    for shape in SHAPES + ([LARGE] if options.large else []):
        check_recurrence(torch, e88, kernels, shape, device, check)
    if hasattr(torch, "compile"):
        check_compiled(torch, kernels, device, check)
    else:
        print("compiled: needs PyTorch 2")
    check_layer(torch, e88, kernels, device, check)
    print(f"{device}: wrong: {', '.join(check.wrong) or 'none'}")
    sys.exit(3 if check.wrong else 0)


if __name__ == "__main__":
    main()
