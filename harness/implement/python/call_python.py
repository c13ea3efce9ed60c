"""call_python.py - calls the function of a Python file on the GPU until its launches settle, while they are recorded.

    python3 call_python.py form REQUEST.json      which function that is, and what it gets: the file is read, not run
    python3 call_python.py serve                  calls and records, a request a line (server.py)

What the file prints is text. The answer is ANSWER.json beside the request: {"outcome": a word of Outcome,
"evidence": one sentence, "call": "run(x)", "version": of PyTorch, "host_us": of the file's own call}. The request:

    file, variant, function, arguments      the file, and its apo:function line
    family                                  forms.py; a tensor also has "dtype", "shape" and "in_place"
    contract                                the text of the family's files
    values                                  {scalar, axis or name of apo:tune: number}
    sets                                    of inputs: NAME.0.bin and so on beside the request; 0: the inputs are zeros
    library, record                         libapo_inject.so; the file for the recorded call
    room, seconds                           the folder that the file may write in, and its limit of time
"""
import contextlib
import ctypes
import gc
import importlib.metadata
import importlib.util
import json
import os
import statistics
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path

import forms
import results
from faults import fault_of
from forms import Fault
from furnish import furnish
from sandbox import hold_calls, hold_files
from submission import Call, problem_of

DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "bool": "bool",
}
MOST_CALLS, MOST_ALIKE = 24, 4  # calls until two launch the same; and that end in the same refusal
TIMED_CALLS = 5
CHANGES = "no two of its calls launch the same"
RANDOM = "; its output '{}' is random: two calls on the same inputs differ"
INSTALL = "install PyTorch 2.1 or newer for the python3 in PATH: python3 -m pip install torch"


def torch_version():
    """Without importing it, where that is enough."""
    if importlib.util.find_spec("torch") is None:
        raise Fault("refused", f"'{sys.executable}' has no PyTorch: {INSTALL}")
    try:
        return "PyTorch " + importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        import torch

        return "PyTorch " + torch.__version__


# ---------------------------------------------------------------- the recorder


class Recorder:
    """harness/injection/python_calls.cpp"""

    def __init__(self, path):
        self.path, self.library = path, ctypes.CDLL(path)
        self.library.apo_unsettled.restype = ctypes.c_int64
        for name in ("apo_start_recording", "apo_inverted", "apo_end_call"):
            getattr(self.library, name).restype = ctypes.c_char_p

    def start(self):
        """Before PyTorch starts CUDA. Its memory comes from the recorder: each tensor is an allocation of its own."""
        if missing := self.library.apo_start_recording().decode():
            raise Fault("refused", f"it cannot be recorded: {missing}")

    def use_memory(self, torch):
        allocator = torch.cuda.memory.CUDAPluggableAllocator(self.path, "apo_allocate", "apo_free")
        torch.cuda.memory.change_current_allocator(allocator)

    def unsettled(self):
        """Whether numbers of its launches changed from the call before to the one that is in the file."""
        return self.library.apo_unsettled() > 0

    def followed(self):
        """Which address the call found in its memory and followed to where nothing is; "" where none is known."""
        found = self.library.apo_inverted().decode()
        return found if found and self.library.apo_synchronize() != 0 else ""

    def out_of_memory(self):
        return bool(self.library.apo_is_out_of_memory())

    def begin(self, ranges):
        words = [word for pair in ranges for word in pair]
        self.library.apo_begin_call((ctypes.c_uint64 * max(1, len(words)))(*words), len(ranges))

    def end(self, found, record):
        """`found`: {place among the arguments: (address, bytes)} of what the call returned. Returns "" once the call is
        in the file `record`, else why it is not yet, or can't be."""
        words = [word for place, pair in found.items() for word in (place, *pair)]
        said = self.library.apo_end_call((ctypes.c_uint64 * max(1, len(words)))(*words), len(found), record.encode())
        return said.decode(errors="replace")

    def synchronize(self, torch):
        """Waits for the call in a way that the recorder is told of."""
        if self.library.apo_synchronize() != 0:
            torch.cuda.synchronize()  # says in PyTorch's words what failed

    def stop(self):
        self.library.apo_stop_recording()


def extent(tensor):
    return tensor.data_ptr(), tensor.numel() * tensor.element_size()


# ---------------------------------------------------------------- calls


def dtypes_of(torch, tensors):
    missing = [one["dtype"] for one in tensors if not hasattr(torch, DTYPES[one["dtype"]])]
    if missing:
        raise Fault("refused", f"PyTorch {torch.__version__} has no {DTYPES[missing[0]]}: {INSTALL}")
    return {one["name"]: getattr(torch, DTYPES[one["dtype"]]) for one in tensors}


def read_set(torch, folder, tensors, dtypes, number):
    """{name: tensor on the host} of one set of inputs."""
    values = {}
    for one in tensors:
        raw = bytearray((folder / f"{one['name']}.{number}.bin").read_bytes())
        flat = (
            torch.frombuffer(raw, dtype=torch.uint8).view(dtypes[one["name"]])
            if raw
            else torch.empty(0, dtype=dtypes[one["name"]])
        )
        values[one["name"]] = flat.reshape(one["shape"])
    return values


class Tensors:
    """The family's tensors on the device: `of` has each by name, in the order of the arguments of a call."""

    def __init__(self, torch, request, folder, device):
        family = request["family"]
        self.torch, self.inputs, self.outputs = torch, family["inputs"], family["outputs"]
        every = {one["name"]: one for one in [*self.inputs, *self.outputs]}
        self.shapes = {name: one["shape"] for name, one in every.items()}
        self.dtypes = dtypes_of(torch, every.values())
        self.sets = [read_set(torch, folder, self.inputs, self.dtypes, number) for number in range(request["sets"])]
        self.of = {name: torch.zeros(self.shapes[name], dtype=self.dtypes[name], device=device) for name in every}
        in_place = [one["name"] for one in self.outputs if one.get("in_place")]
        # The order of a call's arguments: inputs, then outputs, among them what it updates (kernels/family.h).
        self.order = [one["name"] for one in self.inputs if one["name"] not in in_place] + [
            one["name"] for one in self.outputs
        ]
        self.read_only = [name for name in self.order if name not in [one["name"] for one in self.outputs]]

    def fill(self, call):
        """With the next set of inputs, or zeros."""
        for one in self.inputs:
            name = one["name"]
            if self.sets:
                self.of[name].copy_(self.sets[call % len(self.sets)][name])
            else:
                self.of[name].zero_()

    def held(self, call):
        return self.sets[call % len(self.sets)] if self.sets else {}

    def returned(self, result, used):
        """The outputs, checked; `used` are the tensors that were arguments."""
        outputs = [one["name"] for one in self.outputs]
        destinations = {name: self.of[name] for name in outputs if name in used}
        reads = {name: self.of[name] for name in self.read_only}
        device = next(iter(self.of.values())).device.type
        return results.outputs_of(
            self.torch, result, self.outputs, destinations, reads, self.shapes, self.dtypes, device
        )

    def check_inputs(self, call):
        results.check_inputs(self.torch, {name: self.of[name] for name in self.read_only}, self.held(call))


def given_to(tensors):
    """Other objects for the same memory in every call, so that one that is kept shows."""
    return {name: one.detach() for name, one in tensors.of.items()}


def call_once(call, tensors):
    """Returns the result, and weak references to what it was given."""
    # It asks for statistics of memory, and what it picks changes from call to call.
    tensors.torch.backends.cudnn.benchmark = False
    given = given_to(tensors)
    return call(given), {name: weakref.ref(one) for name, one in given.items()}


def refuse_what_stays(kept, outputs, threads):
    """Behind a call of which nothing may be left."""
    gc.collect()
    held = {id(one) for one in outputs.values()}
    names = [name for name, one in kept.items() if one() is not None and id(one()) not in held]
    if names:
        raise Fault(
            "wrong_abi", f"it keeps a reference to '{names[0]}' behind the call: a call has nothing of the one before"
        )
    started = [one.name for one in threading.enumerate() if one not in threads]
    if started:
        raise Fault(
            "wrong_abi",
            f"it leaves the thread '{started[0]}' behind the call: what a call computes is done when it returns",
        )


def random_output(torch, call, tensors):
    """The name of an output in which two calls on the same inputs differ, or None."""
    calls = []
    for _ in range(2):
        tensors.fill(0)
        found = tensors.returned(call(given_to(tensors)), call.uses())
        calls.append({name: one.clone() for name, one in found.items()})
    first, second = calls
    return next((name for name in first if not results.look_alike(torch, first[name], second[name])), None)


def explain(said, torch, call, tensors):
    """Of calls that never settle."""
    if "CUDA graph" in said:
        return said + "; leave the CUDA graph out, apo launches the operations by itself"
    if CHANGES in said and "the host computes" not in said:
        if name := random_output(torch, call, tensors):
            return said + RANDOM.format(name)
        return (
            said
            + ": its grids, numbers or kernels change from call to call, as those of an autotuner that keeps trying do"
        )
    return said


def record_call(torch, request, call, tensors, recorder):
    """Until two calls in a row, on different inputs, launch the same."""
    alike, before = 0, None
    outputs = {}
    for number in range(MOST_CALLS):
        tensors.fill(number)
        torch.cuda.synchronize()
        threads = threading.enumerate()
        used = call.uses()
        outputs = {}  # of the call before
        recorder.begin(
            [
                extent(tensors.of[name]) if name in used or name in tensors.read_only else (0, 0)
                for name in tensors.order
            ]
        )
        result, kept = call_once(call, tensors)
        recorder.synchronize(torch)
        outputs = tensors.returned(result, used)
        del result
        found = {
            tensors.order.index(name): extent(one)
            for name, one in outputs.items()
            if one.data_ptr() != tensors.of[name].data_ptr()
        }
        said = recorder.end(found, request["record"])
        tensors.check_inputs(number)
        if not said:
            refuse_what_stays(kept, outputs, threads)
            if recorder.unsettled() and (name := random_output(torch, call, tensors)):
                raise Fault("refused", "cannot be recorded: its numbers change" + RANDOM.format(name))
            return
        alike, before = (alike + 1 if said == before else 0), said
        if alike == MOST_ALIKE and CHANGES not in said:
            break
    raise Fault("refused", explain(before, torch, call, tensors))


def host_us(torch, call, tensors):
    """The median of some calls with their host's work."""
    times = []
    for number in range(TIMED_CALLS):
        tensors.fill(number)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        result = call(given_to(tensors))
        torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - begin))
        del result
    return statistics.median(times)


# ---------------------------------------------------------------- the two commands


def form(request, _):
    family = request["family"]
    path = request["file"]
    found = forms.find_form(
        Path(path).read_text(encoding="utf-8"), path, family["name"], request["variant"], request["function"]
    )
    if found.is_class and problem_of(request["contract"], family["name"]):
        shown = f"{found.name}.forward(as Model)"
    elif found.is_class:
        shown = f"{found.name}.forward"
    else:
        shown = forms.shown(found, family, request["arguments"])
    return {"outcome": "valid", "evidence": "", "call": shown, "version": torch_version()}


CACHES = (
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR",
    "CUDA_CACHE_PATH",
    "CUPY_CACHE_DIR",
)


def confine_process(room):
    """What compilers keep in the room serves the file's other sizes. Nothing of the file was read before."""
    os.environ.update({name: room for name in CACHES})
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    for tool in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):  # CUPTI has one subscriber
        os.environ.pop(tool, None)
    tempfile.tempdir = None
    os.chdir(room)
    hold_files(room)  # threads of CUDA's would stay as they are


class Process:
    """Of one file: what starts with its first request, and serves those of its other sizes."""

    def __init__(self):
        self.recorder = None

    def start(self, torch, request):
        if self.recorder is not None:
            os.chdir(request["room"])
            if "torch._dynamo" in sys.modules:  # else it takes sizes for numbers that change, and compiles for any
                torch._dynamo.reset()
            gc.collect()
            self.recorder.start()
            return
        confine_process(request["room"])
        self.recorder = Recorder(request["library"])
        self.recorder.start()
        if torch.version.cuda is None:
            raise Fault("refused", f"the PyTorch of '{sys.executable}' sees no GPU: install a build of it with CUDA")
        if not hasattr(torch.cuda.memory, "change_current_allocator"):
            raise Fault("refused", f"PyTorch {torch.__version__} is too old: {INSTALL}")
        with self.of_pytorch():
            self.recorder.use_memory(torch)
            torch.cuda.init()
            torch.cuda.synchronize()
        hold_calls()
        furnish(torch)

    @contextlib.contextmanager
    def of_pytorch(self):
        """None of what goes wrong within is the file's doing."""
        try:
            yield
        except Fault:
            raise
        except Exception as error:
            outcome = "out_of_memory" if self.recorder.out_of_memory() else "refused"
            raise Fault(outcome, f"PyTorch cannot make the tensors: {type(error).__name__}: {error}") from error

    def record(self, request, folder):
        import torch

        self.start(torch, request)
        with self.of_pytorch():
            tensors = Tensors(torch, request, folder, "cuda")
            torch.cuda.synchronize()
        try:
            with torch.no_grad():
                call = Call(torch, request, tensors.of, "cuda")
                record_call(torch, request, call, tensors, self.recorder)
                self.recorder.stop()
                took = host_us(torch, call, tensors)
        except BaseException as error:
            if followed := self.recorder.followed():
                raise Fault("refused", "cannot be recorded: " + followed) from error
            raise fault_of(request["file"], error, self.recorder.out_of_memory()) from error
        return {
            "outcome": "valid",
            "evidence": "",
            "call": call.shown,
            "version": "PyTorch " + torch.__version__,
            "host_us": took,
        }


def answer(act, path):
    """Ends the process where `act` does not answer."""
    folder = Path(path).resolve().parent
    request = json.loads(Path(path).read_text(encoding="utf-8"))
    fault = None
    try:
        said = act(request, folder)
    except Fault as error:
        fault, said = error, {"outcome": error.outcome, "evidence": " ".join(str(error).split())}
    (folder / "ANSWER.json").write_text(json.dumps(said), encoding="utf-8")
    if fault:
        sys.stdout.flush()
        os._exit(0)  # whatever else still runs


def main(command, path=""):
    if command == "form":
        return answer(form, path)
    from server import serve, take_output

    answers = take_output()
    import torch  # noqa: F401: what is forked has it

    process = Process()  # in each that is forked, its own
    serve(lambda request: answer(process.record, request), answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
