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


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3):
        self.kwargs, self.num_warps, self.num_stages = kwargs, num_warps, num_stages


def autotune(configs, key=()):
    return lambda fn: types.SimpleNamespace(fn=fn, configs=configs)


class Driver:
    def set_active(self, active):
        self.active = active


driver = Driver()
