"""sandbox.py - what a Python file may do outside its process: run compilers, and write below one folder.

Landlock closes all other files for writing, and no right of an administrator is left. A seccomp filter refuses the
network, signals to and memory and limits of other processes, and what outlives the process; a call for a session or a
process group is answered as if it was granted, so that all that the file starts ends with it. So is one for a file's
mode or times, which Landlock has no right for and compilers ask for. The model is
harness/worker/confinement/confinement.cpp.
"""
import ctypes
import errno
import glob
import os
import platform
import struct

from forms import Fault

# Of a system call: its number on x86_64 and on aarch64.
REFUSED = {"socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "ptrace": (101, 117),
           "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_open": (434, 434),
           "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425),
           "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "chroot": (161, 51), "bpf": (321, 280),
           "perf_event_open": (298, 241), "userfaultfd": (323, 282), "sched_setscheduler": (144, 119),
           "sched_setparam": (142, 118), "sched_setattr": (314, 274), "setpriority": (141, 140), "shmget": (29, 194),
           "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "add_key": (248, 217),
           "request_key": (249, 218), "keyctl": (250, 219), "ioprio_set": (251, 30), "settimeofday": (164, 170),
           "clock_settime": (227, 112), "clock_adjtime": (305, 266), "truncate": (76, 45), "chown": (92, 55),
           "lchown": (94, 55), "fchown": (93, 55), "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6),
           "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
           "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469)}  # fmt: skip
PRETENDED = {"setsid": (112, 157), "setpgid": (109, 154), "sched_setaffinity": (203, 122), "chmod": (90, 53),
             "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "utime": (132, 88),
             "utimes": (235, 88), "futimesat": (261, 88), "utimensat": (280, 88)}  # fmt: skip
OF_ITSELF = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
             "rt_tgsigqueueinfo": (297, 240)}  # its own id  # fmt: skip
LIMIT = (302, 261)  # prlimit64: of another process none is set
# Refused where an argument, of which these bits count, has one of the values.
WHOLE = 0xFFFFFFFF
CHECKED = {
    # F_SETOWN and F_SETOWN_EX, whose signals reach others; a lease, a hint for writers
    "fcntl": ((72, 25), 1, WHOLE, (8, 15, 1024, 1036, 1038)),
    # FIOSETOWN and SIOCSPGRP; flags that stay with a file; TIOCSTI and TIOCLINUX, which type into the user's terminal
    "ioctl": ((16, 29), 1, WHOLE, (0x8901, 0x8902, 0x40086602, 0x401C5820, 0x40087602, 0x5412, 0x541C)),
    # datagrams, which reach any socket with a name
    "socketpair": ((53, 199), 1, 0xF, (2, 3, 4, 6, 10)),
}
MACHINES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}  # column, AUDIT_ARCH, number of seccomp()
FOREIGN = 0x40000000  # numbers of x32, another interface of x86_64

LOAD, IS, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
FIRST = 16  # where a call's arguments begin, of 8 bytes each
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
        steps += [(IS, 0, 4, numbers[column]), (LOAD, 0, 0, FIRST), (IS, 1, 0, process), refuse, (RETURN, 0, 0, ALLOW)]
    for numbers, argument, bits, values in CHECKED.values():
        block = [(LOAD, 0, 0, FIRST + 8 * argument), (AND, 0, 0, bits)]
        for value in values:
            block += [(IS, 0, 1, value), refuse]
        steps += [(IS, 0, len(block) + 1, numbers[column]), *block, (RETURN, 0, 0, ALLOW)]
    limit = FIRST + 16  # the new one, an address of two words
    steps += [(IS, 0, 9, LIMIT[column]), (LOAD, 0, 0, FIRST), (IS, 5, 0, 0), (IS, 4, 0, process), (LOAD, 0, 0, limit),
              (IS, 0, 3, 0), (LOAD, 0, 0, limit + 4), (IS, 0, 1, 0), (RETURN, 0, 0, ALLOW), refuse]  # fmt: skip
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


def confine(folder, others):
    """From here on only files below the folder can be written, and the others. Returns False where this kernel can't
    hold that: before version 2 of Landlock, landlock(7), nothing is moved between folders, which Triton's cache does."""
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


def drop_capabilities():
    """Of this thread, and of those and the programs that it starts from here on."""
    header = struct.pack("=Ii", 0x20080522, 0)
    return ctypes.CDLL(None).capset(header, bytes(24)) == 0


def hold_files(folder):
    """For good. Of this thread and those that it starts: it comes before there are others. The driver opens the files
    of a GPU again and again, and writes below /proc/self when it starts. Throws Fault where this system can't hold
    that."""
    own = f"/proc/{os.getpid()}"
    if not (confine(folder, ("/dev/null", own, *glob.glob("/dev/nvidia*"))) and drop_capabilities()):
        raise Fault(
            "refused", "this system cannot confine a Python file's own code: it takes Linux 5.19 or newer with Landlock"
        )


def hold_calls():
    """For good, of all threads. Throws Fault where this system can't hold that."""
    if not install_filter():
        raise Fault(
            "refused", "this system cannot confine a Python file's own code: it takes seccomp, on x86_64 or aarch64"
        )
