"""harness/implement/compile_triton.py - compiles one kernel of a file with Triton, for a GPU that need not be here.

    python3 compile_triton.py --version
    python3 compile_triton.py REQUEST.json FILE.py OUTPUT.cubin

The first prints the version of Triton. The second runs the file, compiles the kernel that the request names, writes the
cubin and prints its launch data as JSON. What is wrong with the file is one line "FILE.py:LINE: error: WHAT" on stderr.
Exit codes: 0 done, 1 the file's mistake, 69 Triton is not here.
"""

import ctypes
import importlib.metadata
import inspect
import json
import os
import re
import struct
import sys
import traceback
import types

UNAVAILABLE = 69


class Mistake(Exception):
    """Of the file: a line, 0 for none, and what is wrong there."""

    def __init__(self, line, what):
        super().__init__(what)
        self.line = line


def triton_version():
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        pass
    try:  # it comes under other names too, as in nightly builds of PyTorch
        import triton
        return triton.__version__
    except ImportError as error:
        print(f"error: {sys.executable} has no Triton: {error}", file=sys.stderr)
        sys.exit(UNAVAILABLE)


def confine(folder):
    """From here on only files below the folder can be written: the file's own code runs, and nobody has checked it.

    Landlock, as in landlock(7). Before its version 2 nothing can be moved between folders, which Triton's cache does.
    """
    create, add, restrict = 444, 445, 446
    write, refer, truncate = 1 << 1, 1 << 13, 1 << 14
    removes_and_makes = 0b1_1111_1111 << 4
    libc = ctypes.CDLL(None)
    version = libc.syscall(create, None, ctypes.c_size_t(0), 1)
    if version < 2:
        return
    rights = write | removes_and_makes | refer | (truncate if version >= 3 else 0)
    attributes = struct.pack("Q", rights)
    rules = libc.syscall(create, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path, granted in ((folder, rights), ("/dev/null", write)):
        place = os.open(path, os.O_PATH)
        rule = struct.pack("=Qi", granted, place)
        if libc.syscall(add, rules, 1, rule, 0) != 0:
            return
        os.close(place)
    set_no_new_privileges = 38
    libc.prctl(set_no_new_privileges, 1, 0, 0, 0)
    libc.syscall(restrict, rules, 0)


def run_file(path):
    """Returns the names that the file defines. Its name stays relative, as it stands in the cubin's line table."""
    module = types.ModuleType("variant")
    module.__file__ = path
    sys.modules["variant"] = module
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module.__dict__)
    except SyntaxError as error:
        raise Mistake(error.lineno or 0, f"{type(error).__name__}: {error.msg}") from error
    except BaseException as error:  # also sys.exit(): the file is to define kernels
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        raise Mistake(lines[-1] if lines else 0, f"{type(error).__name__}: {error}") from error
    return module.__dict__


def find_kernel(names, wanted):
    """Returns the function under @triton.jit, also when it is under @triton.autotune or @triton.heuristics as well."""
    from triton.runtime import JITFunction

    def kernel_of(value):
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn
        return value if isinstance(value, JITFunction) else None

    kernels = {name: kernel_of(value) for name, value in names.items() if kernel_of(value) is not None}
    if wanted not in kernels:
        there = ", ".join(sorted(kernels)) or "none"
        raise Mistake(0, f"there is no kernel '{wanted}' under @triton.jit (the kernels: {there})")
    return kernels, kernels[wanted]


def first_line(kernel):
    """Returns the line of the file in which its "def" stands."""
    lines, begin = inspect.getsourcelines(kernel.fn)
    return begin + next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))


def assign(kernel, request):
    """Returns Triton's signature, constants and attributes, and which argument each parameter of the cubin gets."""
    line = first_line(kernel)
    given = dict(request["constants"])
    runtime = [parameter.name for parameter in kernel.params if not parameter.is_constexpr]
    arguments = request["arguments"]
    if len(runtime) != len(arguments):
        raise Mistake(line, f"{kernel.fn.__name__} takes {len(runtime)} arguments besides its constexprs "
                      f"({', '.join(runtime)}), and apo:launch gives it {len(arguments)} "
                      f"({', '.join(argument['text'] for argument in arguments)}): args=... names them in order")
    signature, constants, attributes, words = {}, {}, {}, []
    for index, parameter in enumerate(kernel.params):
        name = parameter.name
        if parameter.is_constexpr:
            tuned = request["tunables"].get(name)
            default = parameter.default if parameter.has_default else None
            if name not in given and tuned is None and not parameter.has_default:
                raise Mistake(line, f"the constexpr {name} of {kernel.fn.__name__} has no value: add {name}=EXPRESSION "
                              f"to the apo:launch line, or a line '# apo:tune {name} VALUES'")
            constants[name] = given.pop(name, default if tuned is None else tuned)
            signature[name] = "constexpr"
            continue
        argument = arguments[runtime.index(name)]
        if "constant" in argument:
            constants[name] = argument["constant"]
            signature[name] = "constexpr"
            continue
        signature[name] = argument["type"]
        words.append(argument["word"])
        if argument["divisible"]:
            attributes[(index,)] = [["tt.divisibility", 16]]
    if given:
        raise Mistake(line, f"{kernel.fn.__name__} has no constexpr parameter '{sorted(given)[0]}', which apo:launch sets")
    return signature, constants, attributes, words


def innermost(error, kernels):
    """Returns line and text of the error where it arose, which may be in a function that the kernel calls."""
    while isinstance(error.__cause__, type(error)):
        error = error.__cause__
    for kernel in kernels.values():
        if kernel.src == error.src and getattr(error, "node", None) is not None:
            return first_line(kernel) + error.node.lineno - 1, error.error_message
    return 0, error.error_message or str(error)


def scratch_pointers(ptx, name, words):
    """Returns how many parameters follow the kernel's own: pointers to Triton's scratch memory, null where it has none."""
    entry = re.search(r"\.entry\s+" + re.escape(name) + r"\s*\(([^)]*)\)", ptx)
    return len(re.findall(r"\.param", entry.group(1))) - words if entry else -1


def compile_kernel(request, path):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.errors import CompilationError

    kernels, kernel = find_kernel(run_file(path), request["kernel"])
    signature, constants, attributes, words = assign(kernel, request)
    try:
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
        compiled = triton.compile(source, target=GPUTarget("cuda", request["capability"], 32), options=request["options"])
    except CompilationError as error:
        line, what = innermost(error, kernels)
        raise Mistake(line or first_line(kernel), str(what or error)) from error
    except Exception as error:
        raise Mistake(first_line(kernel), f"{type(error).__name__}: {error}") from error
    facts = compiled.metadata
    for name in ("global_scratch_size", "profile_scratch_size"):
        if getattr(facts, name, 0) > 0:
            raise Mistake(first_line(kernel), f"{name} is {getattr(facts, name)}: apo gives kernels no scratch memory "
                          "of Triton's (tensor descriptors made on the device need it)")
    scratch = scratch_pointers(compiled.asm["ptx"], facts.name, len(words))
    if not 0 <= scratch <= 2 or getattr(facts, "num_ctas", 1) != 1:
        raise Mistake(first_line(kernel), "apo cannot launch it: the cubin has other parameters than its signature says, "
                      "or clusters")
    return compiled.asm["cubin"], {"kernel": facts.name, "shared": facts.shared, "warps": facts.num_warps,
                                   "words": words + [-1] * scratch}


def main():
    version = triton_version()
    if sys.argv[1:] == ["--version"]:
        print(version)
        return 0
    request_path, path, output = sys.argv[1:]
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    answer = os.dup(1)
    os.dup2(2, 1)  # what the file prints is no launch data
    confine(os.getcwd())
    try:
        cubin, launch = compile_kernel(request, path)
    except Mistake as mistake:
        if mistake.__cause__ is not None:
            traceback.print_exception(mistake.__cause__)
        what = " ".join(str(mistake).split())
        print(f"{path}:{mistake.line or 1}: error: {what}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"error: {sys.executable} has a Triton that does not work: {error}", file=sys.stderr)
        return UNAVAILABLE
    with open(output, "wb") as file:
        file.write(cubin)
    os.write(answer, json.dumps(launch).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
