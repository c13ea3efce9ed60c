"""results_test.py - what a call returned, and what it did, checked on CPU tensors; where PyTorch is."""
import contextlib
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

PYTHON = "/usr/bin/python3"
HAS_TORCH = importlib.util.find_spec("torch") is not None
if not HAS_TORCH and os.path.exists(PYTHON) and os.path.realpath(sys.executable) != os.path.realpath(PYTHON):
    os.execv(PYTHON, [PYTHON, "-B", *sys.argv])

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "harness" / "implement" / "python"))
sys.path.insert(0, str(ROOT / "harness" / "exchange"))
import call_python  # noqa: E402
from forms import Fault  # noqa: E402

if HAS_TORCH:
    import torch


def tensor(name, shape=(4, 8), dtype="f32", in_place=False):
    return {"name": name, "dtype": dtype, "text": f"{dtype}{list(shape)}", "shape": list(shape), "in_place": in_place}


class Case:
    """A file whose function is called on CPU tensors, on two sets of inputs."""

    def __init__(self, text, inputs=(tensor("x"),), outputs=(tensor("y"),), values=None, contract="", arguments=None):
        family = {
            "name": "norm",
            "inputs": list(inputs),
            "outputs": list(outputs),
            "scalars": [],
            "axes": list(values or {}),
            "tunables": [],
        }
        with tempfile.TemporaryDirectory(prefix="apo-test") as name:
            folder, self.path = Path(name), f"{name}/submission.py"
            Path(self.path).write_text(text)
            torch.manual_seed(1)
            for one in inputs:
                for number in (0, 1):
                    drawn = torch.rand(one["shape"]).to(getattr(torch, call_python.DTYPES[one["dtype"]]))
                    (folder / f"{one['name']}.{number}.bin").write_bytes(
                        bytes(drawn.flatten().view(torch.uint8).tolist())
                    )
            request = {
                "file": self.path,
                "variant": "norm_of_mine",
                "function": "",
                "arguments": arguments or {},
                "family": family,
                "contract": contract,
                "values": values or {},
                "sets": 2,
            }
            self.tensors = call_python.Tensors(torch, request, folder, "cpu")
            with self.named():
                self.call = call_python.Call(torch, request, self.tensors.of, "cpu")

    @contextlib.contextmanager
    def named(self):
        """What the file raises becomes a Fault."""
        try:
            with torch.no_grad():
                yield
        except BaseException as error:
            raise call_python.fault_of(self.path, error) from error

    def once(self, number=0):
        """As in a recording: filled, called, checked."""
        self.tensors.fill(number)
        threads = threading.enumerate()
        with self.named():
            result, kept = call_python.call_once(self.call, self.tensors)
            outputs = self.tensors.returned(result, self.call.uses())
            del result
            self.tensors.check_inputs(number)
            call_python.refuse_what_stays(kept, outputs, threads)
        return outputs


@unittest.skipUnless(HAS_TORCH, "needs PyTorch: apt-get install python3-torch")
class Calls(unittest.TestCase):
    def expect_right(self, text, expected, **of):
        case = Case("import torch\n" + text, **of)
        for number in (0, 1):
            outputs = case.once(number)
            self.assertTrue(torch.allclose(outputs["y"], expected(case.tensors.of)), text)

    def test_every_form_gives_its_result(self):
        def double(tensors):
            return 2 * tensors["x"]

        for text in (
            "def norm(x): return 2 * x\n",
            "def run(x): return {'y': 2 * x}\n",
            "def run(x): return (2 * x,)\n",
            "def run(x, y): y.copy_(2 * x)\n",
            "def run(a, out):\n  torch.mul(a, 2, out=out)\n  return out\n",
            "def custom_kernel(data): return data * 2\n",
            "def custom_kernel(data):\n  x, out = data\n  out[...] = 2 * x\n  return out\n",
            "class ModelNew(torch.nn.Module):\n  def forward(self, x): return 2 * x\n",
            "class Double:\n  def __call__(self, x): return 2 * x\nrun = Double()\n",
            "class Model(torch.nn.Module):\n  def forward(self, x): return 2 * x\n",
            "def norm_of_mine(x): return (2 * x).view(4, 8)\n",
        ):
            self.expect_right(text, double)

    def test_scalars_axes_and_literals_are_numbers(self):
        self.expect_right(
            "def run(x, n, k): return x * n + k\n", lambda of: of["x"] * 8 + 3, values={"n": 8}, arguments={"k": "3"}
        )

    def test_the_weights_of_a_model_are_inputs(self):
        text = (
            "class ModelNew(torch.nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.{} ="
            " torch.nn.Linear(8, 8)\n  def forward(self, x): return self.{}(x)\n"
        )
        weights = (tensor("x"), tensor("linear_weight", (8, 8)), tensor("linear_bias", (8,)))

        def linear(of):
            return torch.nn.functional.linear(of["x"], of["linear_weight"], of["linear_bias"])

        self.expect_right(text.format("linear", "linear"), linear, inputs=weights)
        with self.assertRaisesRegex(
            Fault, r"'linear.bias' is .8. of torch.float32, and the weight 'linear_bias' is .4."
        ):
            Case(
                "import torch\n" + text.format("linear", "linear"), inputs=(*weights[:2], tensor("linear_bias", (4,)))
            ).once()

    def test_what_a_model_keeps_of_its_weights_is_made_anew_for_others(self):
        text = (
            "class ModelNew(torch.nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.w ="
            " torch.nn.Parameter(torch.empty(4, 8))\n    self.key = None\n  def forward(self, x):\n"
            "    if self.key != self.w._version:\n      self.key, self.packed = self.w._version, 2 * self.w\n"
            "    return x + self.packed\n"
        )
        self.expect_right(text, lambda of: of["x"] + 2 * of["w"], inputs=(tensor("x"), tensor("w")))

    def test_a_model_is_made_of_the_axes_that_its_initial_inputs_name(self):
        text = (
            "class ModelNew(torch.nn.Module):\n  def __init__(self, n, k):\n    super().__init__()\n    self.w ="
            " torch.nn.Parameter(torch.empty(n, k))\n  def forward(self, x): return x + self.w\n"
            "def get_init_inputs(n): return [n, 8]\n"
        )
        self.expect_right(
            text, lambda of: of["x"] + of["w"], inputs=(tensor("x"), tensor("w")), values={"n": 4, "k": 9}
        )

    def test_a_model_of_an_imported_problem_gets_what_model_gets(self):
        from import_kernelbench import converted
        from kernelbench import parametrised
        from kernelbench_run import silence

        source = (ROOT / "tests" / "kernelbench" / "gemm_scale_residual.py").read_text()
        with tempfile.TemporaryDirectory(prefix="apo-test") as folder:
            path = f"{folder}/norm.py"
            Path(path).write_text(source)
            with silence():
                definition = json.loads(converted(path, *parametrised(source, path), "norm")[0]["definition.json"])
        module = {}
        exec(definition["reference"], module)
        axes = {name: 16 for name, one in definition["axes"].items() if one["type"] == "var"}

        def shaped(tensors):
            return [tensor(name, [axes.get(one, one) for one in of["shape"]]) for name, of in tensors.items()]

        inputs, outputs = shaped(definition["inputs"]), shaped(definition["outputs"])
        contract = f"// norm_definition.py\n{definition['reference']}\n// norm_reference.py\nINPUTS = []\n"
        case = Case(source + "\nclass ModelNew(Model): pass\n", inputs, outputs, axes, contract)
        for number in (0, 1):
            given = {one["name"]: case.tensors.sets[number][one["name"]] for one in inputs}
            self.assertTrue(torch.allclose(case.once(number)["y"], module["run"](**given), atol=1e-5))
        self.assertIn("ModelNew.forward(as Model) with the weights ", case.call.shown)

    def test_each_fault_has_its_sentence(self):
        for body, outcome, says in (
            ("return [2 * x]", "wrong_abi", "it returns a list, and 'y' is a tensor"),
            ("return 1.5", "wrong_abi", "it returns a float for 'y', which is a tensor"),
            ("return None", "wrong_abi", "it returns nothing, and 'y' was no argument"),
            ("return x", "wrong_abi", "'y' is the memory of the input 'x'"),
            ("return x.mul_(2)", "wrong_abi", "'y' is the memory of the input 'x'"),
            ("return torch.stack([x, x])[1]", "wrong_abi", "'y' is a view of 256 bytes of other memory"),
            ("return torch.rand(8, 4).t()", "wrong_abi", "'y' is not contiguous, its strides are"),
            ("return x.double()", "wrong_abi", "'y' has dtype float64, and the family's is float32"),
            ("return x[:2].clone()", "wrong_abi", r"'y' has shape \[2, 8\], and the family's is \[4, 8\]"),
            ("return x, x", "wrong_abi", "it returns 2 values, and the family has the outputs y"),
            ("return {'z': x}", "wrong_abi", "it returns a dict without 'y'"),
            ("z = 2 * x\n  x.zero_()\n  return z", "incorrect", "it changes its input 'x'"),
            ("global kept\n  kept = x\n  return 2 * x", "wrong_abi", "it keeps a reference to 'x' behind the call"),
            (
                "return Lazy._make_subclass(Lazy, 2 * x)",
                "wrong_abi",
                "'y' is a Lazy, which computes when somebody looks",
            ),
            (
                "import threading, time\n  threading.Thread(target=time.sleep, args=(1,)).start()\n  return 2 * x",
                "wrong_abi",
                "it leaves the thread 'Thread-",
            ),
            ("import sys\n  sys.exit(3)", "faulted", r"submission.py:5: it ends the process: sys.exit\(3\)"),
            (
                "import no_such_package",
                "refused",
                "it imports 'no_such_package', which .* does not have: install it there",
            ),
            ("return x @ x", "faulted", "submission.py:4: RuntimeError: "),
            (
                "import socket\n  return socket.create_connection(('no.such.host', 1), 1)",
                "faulted",
                "it opens a connection, and there is no network",
            ),
        ):
            case = Case(f"import torch\nclass Lazy(torch.Tensor): pass\ndef run(x):\n  {body}\n")
            before = set(threading.enumerate())
            with self.subTest(body), self.assertRaisesRegex(Fault, says) as raised:
                case.once()
            self.assertEqual(raised.exception.outcome, outcome, body)
            for thread in set(threading.enumerate()) - before:
                thread.join()

    def test_what_only_looks_like_a_fault_is_none(self):
        def double(of):
            return 2 * of["x"]

        for text in (
            "shapes = []\ndef run(x):\n  shapes.append(x.shape)\n  return 2 * x\n",
            "buffer = torch.empty(4, 8)\ndef run(x): return torch.mul(x, 2, out=buffer)\n",
            "def run(x): return torch.stack([x, 2 * x])[1].clone()\n",
            (
                "def run(x):\n  worker = __import__('threading').Thread(target=x.sum)\n  worker.start()\n "
                " worker.join()\n  return 2 * x\n"
            ),
            "def run(x):\n  z = x.t().contiguous().t() * 2\n  return z.contiguous()\n",
        ):
            self.expect_right(text, double)

    def test_outputs_that_were_given_may_be_left_out(self):
        outputs = (tensor("y"), tensor("z"))
        for returned in ("2 * x", "(2 * x,)", "{'y': 2 * x}", "(2 * x, z)", "{'y': 2 * x, 'z': z}"):
            case = Case(f"import torch\ndef run(x, z):\n  z.copy_(3 * x)\n  return {returned}\n", outputs=outputs)
            found = case.once()
            self.assertTrue(torch.equal(found["y"], 2 * case.tensors.of["x"]), returned)
            self.assertTrue(torch.equal(found["z"], 3 * case.tensors.of["x"]), returned)
        with self.assertRaisesRegex(Fault, "it returns a dict without 'y'"):
            Case("def run(x, z): return {'z': z}\n", outputs=outputs).once()

    def test_no_call_asks_cudnn_to_try_what_is_fastest(self):
        text = "import torch\ntorch.backends.cudnn.benchmark = True\ndef run(x): return 2 * x\n"
        case = Case(text)
        self.assertTrue(torch.backends.cudnn.benchmark)
        case.once()
        self.assertFalse(torch.backends.cudnn.benchmark)

    def test_statistics_of_memory_are_told_from_graphs(self):
        for text, says in (
            ("CUDAPluggableAllocator does not yet support getDeviceStats. If", "it asks for a pool or statistics of"),
            ("CUDA error: operation not permitted when stream is capturing", "it captures a CUDA graph"),
        ):
            fault = call_python.fault_of("submission.py", RuntimeError(text))
            self.assertEqual(fault.outcome, "refused")
            self.assertIn(says, str(fault))

    def test_outputs_of_their_own_memory(self):
        outputs = (tensor("y"), tensor("z"))
        case = Case("import torch\ndef run(x): return x + 1, x + 2\n", outputs=outputs)
        self.assertEqual(list(case.once()), ["y", "z"])
        with self.assertRaisesRegex(Fault, "'z' and 'y' share their memory"):
            Case("import torch\ndef run(x):\n  y = x + 1\n  return y, y\n", outputs=outputs).once()

    def test_memory_that_a_call_updates(self):
        y = tensor("y", in_place=True)
        case = Case("import torch\ndef run(x, y): y.add_(x)\n", inputs=(tensor("x"), y), outputs=(y,))
        case.once()
        self.assertTrue(torch.equal(case.tensors.of["y"], case.tensors.sets[0]["x"] + case.tensors.sets[0]["y"]))
        self.assertEqual(case.tensors.order, ["x", "y"])
        with self.assertRaisesRegex(Fault, "'y' is updated in place, and it returns other memory"):
            Case("import torch\ndef run(x, y): return x + y\n", inputs=(tensor("x"), y), outputs=(y,)).once()

    def test_random_outputs_are_told_from_numbers_that_change(self):
        for body, says in (
            ("return torch.rand_like(x)", "its output 'y' is random"),
            ("return 1e-4 * torch.rand_like(x)", "its output 'y' is random"),
            ("return 2 * x", "change from call to call"),
        ):
            case = Case(f"import torch\ndef run(x): {body}\n")
            said = call_python.explain(
                "cannot be recorded: no two of its calls launch the same", torch, case.call, case.tensors
            )
            self.assertIn(says, said)
        self.assertIn(
            "leave the CUDA graph out",
            call_python.explain("its CUDA graph allocates memory", torch, case.call, case.tensors),
        )
        computed = f"cannot be recorded: {call_python.CHANGES} (the host computes what it copies)"
        self.assertEqual(call_python.explain(computed, torch, case.call, case.tensors), computed)


class Sandbox(unittest.TestCase):
    """In a process of its own: it is for good."""

    def run_inside(self, body):
        with tempfile.TemporaryDirectory(prefix="apo-test") as folder:
            code = (
                f"import sys; sys.path.insert(0, {str(ROOT / 'harness' / 'implement' / 'python')!r})\n"
                f"import os, sandbox\nfolder = {folder!r}\nsandbox.hold_files(folder)\nsandbox.hold_calls()\n{body}\n"
            )
            ran = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=100)
            return ran.stdout.strip() or ran.stderr.strip().split("\n")[-1]

    def test_what_is_refused(self):
        for body, says in (
            ("import resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (64, 64))", "PermissionError"),
            ("import fcntl; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getppid())", "PermissionError"),
            ("import fcntl; fcntl.ioctl(os.pipe()[0], 0x5412, b'x')", "PermissionError"),
            ("import socket; socket.socketpair(type=socket.SOCK_DGRAM)", "PermissionError"),
            ("os.chown(folder, 0, 0)", "PermissionError"),
            ("os.setxattr(folder, 'user.a', b'')", "PermissionError"),
            ("os.truncate(folder + '/none', 0)", "PermissionError"),
            ("import socket; socket.socket()", "PermissionError: [Errno 13] Permission denied"),
            (
                "open('/tmp/apo-test-written', 'w')",
                "PermissionError: [Errno 13] Permission denied: '/tmp/apo-test-written'",
            ),
            ("os.kill(os.getppid(), 0)", "PermissionError: [Errno 13] Permission denied"),
            (
                (
                    "import subprocess; subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'],"
                    " check=True)"
                ),
                "returned non-zero exit status 1",
            ),
        ):
            self.assertIn(says, self.run_inside(body))

    def test_what_is_answered_as_if_it_was_granted(self):
        for body in (
            (
                "at = folder + '/file'; open(at, 'w').close(); before = os.stat(at); os.chmod(at, 0); "
                "os.utime(at, (1, 1)); after = os.stat(at); "
                "print((before.st_mode, before.st_mtime) == (after.st_mode, after.st_mtime))"
            ),
            (
                "parent = os.getppid(); before = os.sched_getaffinity(parent); "
                "os.sched_setaffinity(parent, {min(before)}); print(os.sched_getaffinity(parent) == before)"
            ),
        ):
            self.assertEqual(self.run_inside(body), "True", body)

    def test_no_right_of_an_administrator_is_left_to_it_and_its_programs(self):
        said = self.run_inside(
            "import subprocess; print(open('/proc/self/status').read() + "
            "subprocess.run(['cat', '/proc/self/status'], capture_output=True, text=True).stdout)"
        )
        self.assertEqual(re.findall(r"CapEff:\t(\w+)", said), ["0" * 16] * 2)

    def test_a_system_that_cannot_hold_it_refuses_the_file(self):
        for body, says in (
            ("while sandbox.confine(folder, ()): pass\nsandbox.hold_files(folder)", "newer with Landlock"),
            ("while sandbox.install_filter(): pass\nsandbox.hold_calls()", "it takes seccomp"),
        ):
            self.assertRegex(self.run_inside(body), "Fault: this system cannot confine a Python file's own.*" + says)

    def test_what_is_allowed(self):
        for body in (
            "import resource; print('done' if resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE) else '')",
            (
                "import resource; most = resource.getrlimit(resource.RLIMIT_CORE)[1]; "
                "resource.prlimit(os.getpid(), resource.RLIMIT_CORE, (0, most)); "
                "resource.prlimit(0, resource.RLIMIT_CORE, (0, most)); print('done')"
            ),
            "import socket; a, b = socket.socketpair(); a.send(b'done'); print(b.recv(4).decode())",
            "import fcntl; fcntl.fcntl(os.pipe()[0], fcntl.F_SETFL, os.O_NONBLOCK); print('done')",
            "open(folder + '/kept', 'w').write('x'); os.rename(folder + '/kept', folder + '/renamed'); print('done')",
            (
                "os.mkdir(folder + '/a'); os.mkdir(folder + '/b'); open(folder + '/a/f', 'w').close(); "
                "os.rename(folder + '/a/f', folder + '/b/f'); print('done')"
            ),
            (
                "import subprocess; print(subprocess.run(['sh', '-c', 'echo done'], capture_output=True,"
                " text=True).stdout)"
            ),
            "os.kill(os.getpid(), 0); print('done')",
            "import threading; t = threading.Thread(target=print, args=('done',)); t.start(); t.join()",
        ):
            self.assertEqual(self.run_inside(body), "done", body)

    def test_a_session_of_its_own_stays_in_the_group(self):
        self.assertEqual(self.run_inside("before = os.getpgid(0); os.setsid(); print(os.getpgid(0) == before)"), "True")


class Server(unittest.TestCase):
    """What runs a file in a process of its own."""

    def run_python(self, code, **options):
        text = f"import sys; sys.path.insert(0, {str(ROOT / 'harness' / 'implement' / 'python')!r})\n{code}"
        return subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True, timeout=200, **options)

    def run_as(self, body, seconds=100):
        """One request."""
        ran = self.run_python(
            f"import json, os, server, time\ndef act(request):\n  {body}\n"
            "server.ctypes.CDLL(None).prctl(server.ADOPT_ORPHANS, 1, 0, 0, 0)\n"
            "process = server.FileProcess(act)\n"
            f"told, goes_on = process.ask('a request', {seconds})\n"
            "left = [one for one in server.children() if one != process.pid]\n"
            "print(json.dumps([told, left, goes_on]))\n"
        )
        self.assertEqual(ran.stderr, "")
        return json.loads(ran.stdout)

    def serve(self, act, files):
        """A line for each request, of these files, "" for an empty line."""
        with tempfile.TemporaryDirectory(prefix="apo-test") as folder:
            lines = ""
            for number, file in enumerate(files):
                path = Path(folder, f"{number}.json")
                path.write_text(json.dumps({"seconds": 100, "file": file}))
                lines += f"{path if file else ''}\n"
            code = (
                "import os, server\nanswers = server.take_output()\nprint('a banner of an import')\ncount = 0\n"
                f"def act(path):\n  global count\n  count += 1\n  {act}\nserver.serve(act, answers)\n"
            )
            ran = self.run_python(code, input=lines)
        self.assertEqual(ran.stderr, "a banner of an import\n")
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def test_the_end_of_a_request_is_told_with_what_it_printed(self):
        for body, signal in (("print('text', flush=True); os._exit(0)", 0), ("print('text')", 0)):
            self.assertEqual(
                self.run_as(body)[0], {"signal": signal, "timed_out": False, "cut": False, "printed": "text\n"}
            )
        self.assertEqual(self.run_as("os.kill(os.getpid(), 11)")[0]["signal"], 11)
        self.assertIn("ValueError: words", self.run_as("raise ValueError('words')")[0]["printed"])

    def test_one_that_does_not_end_or_prints_without_end_is_ended(self):
        told, _, goes_on = self.run_as("time.sleep(10000)", 0.1)
        self.assertEqual((told["timed_out"], goes_on), (True, False))
        told, _, goes_on = self.run_as("[os.write(1, b'x' * 4096) for _ in iter(int, 1)]")
        self.assertEqual((told["cut"], goes_on), (True, False))

    def test_only_answers_are_in_its_output(self):
        told = self.serve("print(os.path.exists(f'/proc/self/fd/{answers.fileno()}'))", ["a"])
        self.assertEqual(told[0]["printed"], "False\n", "nor does a request have it")

    def test_a_file_has_one_process_for_all_that_goes_well(self):
        told = self.serve("print(count)", ["a", "a", "b", "a", "", "a"])
        self.assertEqual([one.get("printed") for one in told], ["1\n", "2\n", "1\n", "1\n", None, "1\n"])
        told = self.serve("print(count, flush=True); count < 2 or os._exit(0)", ["a", "a", "a"])
        self.assertEqual([one["printed"] for one in told], ["1\n", "2\n", "1\n"])

    def test_what_it_started_ends_with_it(self):
        told, left, goes_on = self.run_as("os.fork() or time.sleep(10000); os._exit(0)")
        self.assertEqual((told["signal"], told["timed_out"], left, goes_on), (0, False, [], False))
        orphan = "os.fork() or (os.fork() or time.sleep(10000), os._exit(0)); os.wait()"
        self.assertEqual(self.run_as(orphan)[1:], [[], True])


if __name__ == "__main__":
    unittest.main()
