import inspect
import re
import types


class JITFunction:
    def __init__(self, fn):
        source = inspect.getsource(fn)
        self.fn = fn
        self.src = source[re.search(r"^def", source, re.MULTILINE).start():]
        self.params = [
            types.SimpleNamespace(name=name, is_constexpr="constexpr" in str(one.annotation), default=one.default,
                                  has_default=one.default is not inspect.Parameter.empty)
            for name, one in inspect.signature(fn).parameters.items()
        ]


def jit(fn):
    return JITFunction(fn)


def autotune(configs):
    return lambda fn: type("Autotuner", (), {"fn": fn})()
