"""faults.py - what the code of a file raised, as an outcome and one sentence."""
import errno
import sys
import traceback

from forms import Fault


def place_in(path, error):
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return f"{path}:{lines[-1]}: " if lines else ""


def causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def meets_network(error):
    return any(
        frame.filename.endswith("socket.py")
        for one in causes(error)
        for frame in traceback.extract_tb(one.__traceback__)
    )


def fault_of(path, error, is_out_of_memory=False):
    """Of what the file's code raised."""
    if isinstance(error, Fault):
        return error
    outcome, what = described(error, is_out_of_memory)
    return Fault(outcome, place_in(path, error) + what)


def described(error, is_out_of_memory):
    text = " ".join(str(error).split())[:600]
    if isinstance(error, ModuleNotFoundError):
        which = f"it imports '{error.name}', which {sys.executable} does not have"
        return "refused", f"{which}: install it there, or leave it out; files beside it are not imported"
    if isinstance(error, SystemExit):
        return "faulted", f"it ends the process: sys.exit({error.code!r})"
    if is_out_of_memory or type(error).__name__ == "OutOfMemoryError" or isinstance(error, MemoryError):
        return "out_of_memory", "it needs more memory than there is"
    if meets_network(error):
        return "faulted", "it opens a connection, and there is no network here: bring what it needs in the file"
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.EPERM) and error.filename:
        return "faulted", f"it writes '{error.filename}': it may write below its own folder alone, $TMPDIR"
    if "PluggableAllocator does not yet support" in text:
        return "refused", "it asks for a pool or statistics of memory: leave that out, its memory is the recorder's"
    if "PluggableAllocator" in text or "captur" in text.lower():
        return "refused", "it captures a CUDA graph: leave that out, apo launches the operations by itself"
    return "faulted", f"{type(error).__name__}: {text}"
