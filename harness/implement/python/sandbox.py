"""sandbox.py - what a Python file may do outside its process: run compilers, and write below one folder.

Landlock (compile_triton.py) closes all other files for writing. A seccomp filter refuses the network, signals to and
memory of other processes, and what outlives the process; who asks for a session or a process group of its own is told
that it has one, so that all that it starts ends with it.
"""
import ctypes
import errno
import glob
import os
import platform
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from compile_triton import confine  # noqa: E402

# Of a system call: its number on x86_64 and on aarch64.
REFUSED = {"socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "ptrace": (101, 117),
           "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_open": (434, 434),
           "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425),
           "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "chroot": (161, 51), "bpf": (321, 280),
           "perf_event_open": (298, 241), "userfaultfd": (323, 282), "sched_setscheduler": (144, 119),
           "sched_setparam": (142, 118), "sched_setattr": (314, 274), "setpriority": (141, 140), "shmget": (29, 194),
           "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "add_key": (248, 217),
           "request_key": (249, 218), "keyctl": (250, 219)}  # fmt: skip
PRETENDED = {"setsid": (112, 157), "setpgid": (109, 154)}
OF_ITSELF = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138)}  # its own id
MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}  # column, AUDIT_ARCH, number of seccomp()
FOREIGN = 0x40000000  # numbers of x32, another interface of x86_64

LOAD, IS, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000


def program(process, column, architecture):
    """The filter: (code, steps if true, steps if false, value) of classic BPF."""
    refuse = (RETURN, 0, 0, FAIL | errno.EACCES)
    steps = [(LOAD, 0, 0, 4), (IS, 1, 0, architecture), refuse, (LOAD, 0, 0, 0), (AT_LEAST, 0, 1, FOREIGN), refuse]
    for numbers in REFUSED.values():
        steps += [(IS, 0, 1, numbers[column]), refuse]
    for numbers in PRETENDED.values():
        steps += [(IS, 0, 1, numbers[column]), (RETURN, 0, 0, FAIL)]
    for numbers in OF_ITSELF.values():
        steps += [(IS, 0, 4, numbers[column]), (LOAD, 0, 0, 16), (IS, 1, 0, process), refuse, (RETURN, 0, 0, ALLOW)]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def install_filter():
    """For all threads, and all that they start. False where this kernel or machine has no such filter."""
    if platform.machine() not in MACHINES:
        return False
    column, architecture, seccomp = MACHINES[platform.machine()]
    code = b"".join(struct.pack("=HBBI", *step) for step in program(os.getpid(), column, architecture))
    kept = ctypes.create_string_buffer(code)
    filter_program = struct.pack("@HP", len(code) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None)
    no_new_privileges, set_filter, all_threads = 38, 1, 1
    libc.prctl(no_new_privileges, 1, 0, 0, 0)
    return libc.syscall(seccomp, set_filter, all_threads, filter_program) == 0


def enter(folder):
    """For good. The driver opens the files of a GPU again and again."""
    confine(folder, ("/dev/null", *glob.glob("/dev/nvidia*")))
    install_filter()
