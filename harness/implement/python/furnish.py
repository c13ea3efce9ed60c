"""furnish.py - what files of benchmarks count on beside PyTorch."""
import sys
import types

GRAPH_MODES = {"reduce-overhead": None, "max-autotune": "max-autotune-no-cudagraphs"}  # of torch.compile


def without_graphs(compiles):
    """torch.compile without CUDA graphs, which take PyTorch's own allocator: operations are launched one by one anyway."""

    def compiled(*arguments, mode=None, **options):
        return compiles(*arguments, mode=GRAPH_MODES.get(mode, mode), **options)

    return compiled


def furnish(torch):
    """kernelbot lays a module `task` with names of types beside a submission."""

    def of_task(name):
        if name.startswith("__"):  # what torch.compile asks of every module, its file among it
            raise AttributeError(name)
        return object

    task = types.ModuleType("task")
    task.__getattr__ = of_task
    sys.modules["task"] = task
    torch.compile = without_graphs(torch.compile)
