#!/usr/bin/env python3
"""experiments/pytorch_step.py - training steps of a small transformer in PyTorch, as an application to profile.

    apo profile -- python3 experiments/pytorch_step.py --steps 20

Prints the mean time of a step by CUDA events, warm-up left out.
"""
import argparse
import sys


def arguments():
    parser = argparse.ArgumentParser(description="training steps of a small transformer")
    parser.add_argument("--steps", type=int, default=20, help="timed steps")
    parser.add_argument("--warmup", type=int, default=5, help="steps before those")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=512)
    return parser.parse_args()


def make_model(torch, options):
    layer = torch.nn.TransformerEncoderLayer(
        options.width, nhead=options.width // 64, dim_feedforward=4 * options.width, dropout=0.0, batch_first=True, norm_first=True
    )
    return torch.nn.Sequential(
        torch.nn.Embedding(VOCABULARY, options.width),
        torch.nn.TransformerEncoder(layer, options.layers, enable_nested_tensor=False),
        torch.nn.Linear(options.width, VOCABULARY),
    ).to("cuda")


VOCABULARY = 8192


def main():
    options = arguments()
    try:
        import torch
    except ImportError:
        sys.exit("pytorch_step.py: PyTorch is not installed: pip install torch")
    if not torch.cuda.is_available():
        sys.exit("pytorch_step.py: PyTorch sees no CUDA GPU")
    torch.manual_seed(1)
    model = make_model(torch, options)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(VOCABULARY, (options.batch, options.length + 1), device="cuda")

    @torch.cuda.nvtx.range("step")
    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.nvtx.range("forward"), torch.autocast("cuda", dtype=torch.bfloat16):
            logits = model(tokens[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        with torch.cuda.nvtx.range("backward"):
            loss.backward()
        with torch.cuda.nvtx.range("optimizer"):
            optimizer.step()
        return loss

    for _ in range(options.warmup):
        step()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(options.steps):
        loss = step()
    end.record()
    torch.cuda.synchronize()
    print(f"{begin.elapsed_time(end) / options.steps:.3f} ms a step, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
