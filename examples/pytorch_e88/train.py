#!/usr/bin/env python3
"""train.py - trains a byte-level language model of E88 layers in PyTorch, with kernels that 'apo export --torch' chose.

    APO_DISPATCH=op python3 examples/pytorch_e88/train.py --steps 50

Prints a line for each step on its standard output:

    {"apo_step": 1, "seconds": 0.012, "loss": 5.545, "gradient_norm": 1.2, "bytes": 512}

APO_DISPATCH names the folder of the ops; APO_SEED, APO_STEPS and APO_SECONDS win over flags.
"""
import argparse
import hashlib
import json
import math
import os
import sys
import time
from pathlib import Path

STARTED = time.monotonic()
REPOSITORY = Path(__file__).resolve().parents[2]
SEPARATOR = 0x1E  # between documents: read, and never scored
TEXT = (".cpp", ".cu", ".h", ".json", ".md", ".py", ".sh", ".sql")


def arguments():
    parser = argparse.ArgumentParser(description="train a byte-level language model of E88 layers")
    parser.add_argument("--ops", default=os.environ.get("APO_DISPATCH"), help="folder of 'apo export --torch' (default: $APO_DISPATCH)")
    parser.add_argument("--plain", action="store_true", help="the recurrence in plain PyTorch, without ops")
    parser.add_argument("--device", help="cuda or cpu (default: cuda where there is a GPU)")
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--width", type=int, default=32, help="of a head's state, both ways")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--evaluate", type=int, default=0, help="batches of held-out text to score at the end")
    parser.add_argument("--compile", action="store_true", help="compile the model (PyTorch 2)")
    parser.add_argument("text", nargs="*", help="files and folders (default: docs and harness of this repository)")
    options = parser.parse_args()
    options.seed = int(os.environ.get("APO_SEED") or options.seed)
    options.steps = int(os.environ.get("APO_STEPS") or options.steps)
    options.seconds = float(os.environ.get("APO_SECONDS") or math.inf)
    if options.seconds < math.inf:
        options.steps = sys.maxsize
    return options


def read_text(paths):
    """Training and held-out bytes: one document in ten is held out, by a hash of its content."""
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*")))]
    documents = [file.read_bytes() for file in files if file.is_file() and file.suffix in TEXT]
    parts = ([], [])
    for document in documents:
        parts[hashlib.sha256(document).digest()[0] % 10 == 0].append(bytes([SEPARATOR]) + document)
    if not all(parts):
        sys.exit(f"train.py: of {len(documents)} documents none is {'held out' if parts[0] else 'to train on'}: give more files")
    return [b"".join(part) for part in parts]


def main():
    options = arguments()
    try:
        import torch
    except ImportError:
        sys.exit("train.py: PyTorch is not installed: pip install torch")
    import e88

    if options.plain == bool(options.ops):
        sys.exit("train.py: name the ops with APO_DISPATCH or --ops, or ask for --plain; not both")
    device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    step = e88.recurrence if options.plain else e88.exported(options.ops)
    torch.manual_seed(options.seed)
    model = e88.Model(options.dim, options.depth, options.heads, options.width, step).to(device)
    forward = torch.compile(model) if options.compile else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.rate, betas=(0.9, 0.95), weight_decay=0.01)
    texts = [torch.frombuffer(bytearray(text), dtype=torch.uint8) for text in read_text([Path(path) for path in options.text] or [REPOSITORY / "docs", REPOSITORY / "harness"])]
    print(f"{sum(each.numel() for each in model.parameters())} parameters, {[len(text) for text in texts]} bytes, PyTorch {torch.__version__}, {device}", file=sys.stderr)

    def batch(text, number):
        """A function of the seed and the step."""
        draw = torch.Generator().manual_seed(1_000_003 * options.seed + number)
        first = torch.randint(len(text) - options.length, (options.batch, 1), generator=draw)
        return text[first + torch.arange(options.length + 1)].to(device).long()

    def loss_of(pieces):
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logits = forward(pieces[:, :-1])
        targets = pieces[:, 1:].masked_fill(pieces[:, 1:] == SEPARATOR, -100)
        return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten())

    def train(number):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(batch(texts[0], number))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item(), norm.item()  # waits for the step

    for number in range(1, options.steps + 1):
        begin = time.monotonic()
        if begin - STARTED > options.seconds:
            break
        loss, norm = train(number)
        line = {"apo_step": number, "seconds": time.monotonic() - begin, "loss": loss, "gradient_norm": norm, "bytes": options.batch * options.length}
        print(json.dumps(line), flush=True)
        if not math.isfinite(loss + norm):
            sys.exit(2)
    if options.evaluate > 0:
        with torch.no_grad():
            losses = [loss_of(batch(texts[1], -1 - number)).item() for number in range(options.evaluate)]
        print(f"held out: {sum(losses) / len(losses):.4f} nats a byte", file=sys.stderr)


if __name__ == "__main__":
    main()
