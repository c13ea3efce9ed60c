"""harness/implement/compile_triton.py - compiles kernels of a file with Triton, for a GPU that need not be here.

    python3 compile_triton.py --version
    python3 compile_triton.py REQUEST.json FILE.py OUTPUT.cubin

The first prints the version of Triton. The second runs the file, compiles the kernels that the request names, writes
one cubin and prints the launch data of each as JSON. What is wrong with the file is one line on stderr,
"FILE.py:LINE: error: WHAT".
Exit codes: 0 done, 1 the file's mistake, 69 Triton is not here.
"""

import ast
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


def confine(folder, others=("/dev/null",)):
    """From here on only files below the folder can be written, and the others: the file's own code runs, and nobody has
    checked it. Returns False where this kernel can't hold that.

    Landlock, as in landlock(7). Before its version 2 nothing can be moved between folders, which Triton's cache does.
    """
    create, add, restrict = 444, 445, 446
    write, refer, truncate = 1 << 1, 1 << 13, 1 << 14
    removes_and_makes = 0b1_1111_1111 << 4
    libc = ctypes.CDLL(None)
    version = libc.syscall(create, None, ctypes.c_size_t(0), 1)
    if version < 2:
        return False
    rights = write | removes_and_makes | refer | (truncate if version >= 3 else 0)
    attributes = struct.pack("Q", rights)
    rules = libc.syscall(create, attributes, ctypes.c_size_t(len(attributes)), 0)
    for path, granted in ((folder, rights), *((other, rights & (write | truncate)) for other in others)):
        place = os.open(path, os.O_PATH)
        rule = struct.pack("=Qi", granted, place)
        added = libc.syscall(add, rules, 1, rule, 0) == 0
        os.close(place)
        if not added:
            return False
    set_no_new_privileges = 38
    libc.prctl(set_no_new_privileges, 1, 0, 0, 0)
    return libc.syscall(restrict, rules, 0) == 0


class Target:
    """In the place of Triton's driver, which needs a GPU: files and Triton itself ask it what they are compiled for."""

    def __init__(self, target):
        self.target = target

    def get_current_target(self):
        return self.target

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", 0)


def run_file(path, target):
    """Returns the names that the file defines, and the statements that failed, each as line and error.

    Such a file often tests and times its kernels too, for which it needs a GPU and this process has none: a statement
    that fails is passed over, and is named where something is missing in the end. Its name stays relative, as it stands
    in the cubin's line table.
    """
    from triton.runtime import driver

    module = types.ModuleType("variant")
    module.__file__ = path
    sys.modules["variant"] = module
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        statements = ast.parse(text, path).body
    except SyntaxError as error:
        raise Mistake(error.lineno or 0, f"{type(error).__name__}: {error.msg}") from error
    passed_over = []
    driver.set_active(Target(target))
    for statement in statements:
        try:
            exec(compile(ast.Module([statement], []), path, "exec"), module.__dict__)
        except BaseException as error:  # also sys.exit(): the file is to define kernels
            passed_over.append((statement.lineno, f"{type(error).__name__}: {error}"))
            print(f"{path}:{statement.lineno}: passed over, since it fails without a GPU or as it is:", file=sys.stderr)
            traceback.print_exception(error, limit=-1)
    return module.__dict__, passed_over


def find_kernel(names, wanted):
    """Returns the function under @triton.jit, and the configurations of @triton.autotune where it is above that."""
    from triton.runtime import JITFunction

    kernel, configurations = names.get(wanted), []
    while not isinstance(kernel, JITFunction) and hasattr(kernel, "fn"):
        configurations += getattr(kernel, "configs", [])
        kernel = kernel.fn
    return (kernel, configurations) if isinstance(kernel, JITFunction) else (None, [])


def first_line(kernel):
    """Returns the line of the file in which its "def" stands."""
    lines, begin = inspect.getsourcelines(kernel.fn)
    return begin + next(i for i, line in enumerate(lines) if line.lstrip().startswith("def "))


def constant(value):
    """Returns a number, or what a text like "1e-5", "None", "'ieee'" or "tl.float32" means."""
    import triton.language

    if not isinstance(value, str):
        return value
    return getattr(triton.language, value[3:]) if value.startswith("tl.") else ast.literal_eval(value)


def tune_lines(name, configurations):
    """Returns the lines of the block that say what @triton.autotune says."""
    spaces = [{**one.kwargs, "WARPS": one.num_warps, "STAGES": one.num_stages} for one in configurations]
    spaces = [{key: int(value) for key, value in space.items() if isinstance(value, int)} for space in spaces]
    values = {key: list(dict.fromkeys(space[key] for space in spaces)) for key in spaces[0]}
    varied = [key for key, several in values.items() if len(several) > 1]
    allowed = dict.fromkeys(" && ".join(f"{key} == {space[key]}" for key in varied) for space in spaces)
    lines = [f"'# apo:tune {key} {','.join(map(str, values[key]))}'" for key in varied]
    lines += ["'# apo:requires " + " || ".join(f"({one})" for one in allowed) + "'"] if len(varied) > 1 else []
    words = [f"{key}={several[0]}" for key, several in values.items() if key not in varied]
    words += [f"{key}={key}" for key in varied if key in ("WARPS", "STAGES")]
    words = [word.replace("WARPS=", "warps=").replace("STAGES=", "stages=") for word in words]
    return f"{name} is under @triton.autotune, whose place apo:tune takes: add {', '.join(lines)}, and " \
        f"{' '.join(words)} to its apo:launch line"


def assign(kernel, configurations, request, tunables):
    """Returns Triton's signature, constants and attributes, and which argument each parameter of the cubin gets."""
    line = first_line(kernel)
    given = {name: constant(value) for name, value in request["constants"].items()}
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
            tuned = tunables.get(name)
            default = parameter.default if parameter.has_default else None
            if name not in given and tuned is None and any(name in one.kwargs for one in configurations):
                raise Mistake(line, tune_lines(kernel.fn.__name__, configurations))
            if name not in given and tuned is None and not parameter.has_default:
                raise Mistake(line, f"the constexpr {name} of {kernel.fn.__name__} has no value: add {name}=EXPRESSION "
                              f"to the apo:launch line, or a line '# apo:tune {name} VALUES'")
            constants[name] = given.pop(name, default if tuned is None else tuned)
            signature[name] = "constexpr"
            continue
        argument = arguments[runtime.index(name)]
        if "constant" in argument:
            constants[name] = constant(argument["constant"])
            signature[name] = "constexpr"
            continue
        signature[name] = argument["type"]
        words.append(argument["word"])
        if argument["divisible"]:
            attributes[(index,)] = [["tt.divisibility", 16]]
    if given:
        raise Mistake(line, f"{kernel.fn.__name__} has no constexpr parameter '{sorted(given)[0]}', which apo:launch sets")
    return signature, constants, attributes, words


def innermost(error, names):
    """Returns line and text of the error where it arose, which may be in a function that the kernel calls."""
    while isinstance(error.__cause__, type(error)):
        error = error.__cause__
    for kernel, _ in (find_kernel(names, name) for name in names):
        if kernel is not None and kernel.src == error.src and getattr(error, "node", None) is not None:
            return first_line(kernel) + error.node.lineno - 1, error.error_message
    return 0, error.error_message or str(error)


def scratch_pointers(ptx, name, words):
    """Returns how many parameters follow the kernel's own: pointers to Triton's scratch memory, null where it has none."""
    entry = re.search(r"\.entry\s+" + re.escape(name) + r"\s*\(([^)]*)\)", ptx)
    return len(re.findall(r"\.param", entry.group(1))) - words if entry else -1


def one_module(texts):
    """Returns one text of PTX with the kernels of all. Its line table has lines, and nothing of inlined functions."""
    files, seen, bodies = [], set(), []
    head = texts[0][:texts[0].index(".address_size")]
    for text in texts:
        numbers = {}
        for number, name in re.findall(r"^\s*\.file\s+(\d+)\s+(.+)$", text, re.MULTILINE):
            files += [name] if name not in files else []
            numbers[number] = str(files.index(name) + 1)
        text = text[text.index("\n", text.index(".address_size")):]
        text = re.sub(r"^\s*\.file\s.*\n|^\s*\.section\s+\S+\s*\{[^}]*\}", "", text, flags=re.MULTILINE)
        text = re.sub(r"^(\s*\.loc\s+)(\d+)(\s+\d+\s+\d+).*", lambda at: at[1] + numbers[at[2]] + at[3], text,
                      flags=re.MULTILINE)
        lines = [line for line in text.split("\n") if not (line.startswith(".extern") and line in seen)]
        seen.update(lines)
        bodies.append("\n".join(lines))
    table = [f".file {i + 1} {name}" for i, name in enumerate(files)]
    return "\n".join([head + ".address_size 64", *bodies, *table]) + "\n"


def compile_kernel(names, request, tunables, target):
    """Returns Triton's result and the launch data of one kernel."""
    import triton
    from triton.compiler import ASTSource
    from triton.compiler.errors import CompilationError

    kernel, configurations = find_kernel(names, request["kernel"])
    if kernel is None:
        there = ", ".join(sorted(name for name in names if find_kernel(names, name)[0] is not None)) or "none"
        raise Mistake(0, f"there is no kernel '{request['kernel']}' under @triton.jit (the kernels: {there})")
    signature, constants, attributes, words = assign(kernel, configurations, request, tunables)
    try:
        source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
        compiled = triton.compile(source, target=target, options=request["options"])
    except CompilationError as error:
        line, what = innermost(error, names)
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
    return compiled, {"kernel": facts.name, "shared": facts.shared, "warps": facts.num_warps,
                      "words": words + [-1] * scratch}


def compile_all(request, path):
    """Returns the cubin with all kernels, and their launch data."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", request["capability"], 32)
    names, passed_over = run_file(path, target)
    try:
        results = [compile_kernel(names, one, request["tunables"], target) for one in request["kernels"]]
    except Mistake as mistake:
        if not passed_over or (mistake.line > 0 and mistake.__cause__ is None):
            raise
        line, what = passed_over[0]  # may be why something is missing
        if mistake.line == 0:
            raise Mistake(line, f"{what}; and {mistake}") from None
        raise Mistake(mistake.line, f"{mistake} (line {line} was passed over: {what})") from mistake.__cause__
    launches = [launch for _, launch in results]
    if len(results) == 1:
        return results[0][0].asm["cubin"], launches
    texts = []
    for i, (compiled, launch) in enumerate(results):
        name = launch["kernel"]
        if name in (other["kernel"] for other in launches[:i]):
            launch["kernel"] = f"{name}_{i}"
        texts.append(re.sub(rf"(\.entry\s+){re.escape(name)}\b", rf"\g<1>{launch['kernel']}", compiled.asm["ptx"]))
    backend = make_backend(target)
    options = backend.parse_options(dict(request["kernels"][0]["options"]))
    try:
        return backend.make_cubin(one_module(texts), {}, options, request["capability"]), launches
    except Exception as error:
        raise Mistake(0, f"the kernels do not fit into one cubin: {type(error).__name__}: {error}") from error


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
    confine(os.getcwd())  # as far as this system can: what is judged is the cubin
    try:
        cubin, launches = compile_all(request, path)
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
    os.write(answer, json.dumps(launches).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
