"""One thread of a running process made to hang or to spin, from outside, by ptrace(2): the others go on."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SEIZE, INTERRUPT, DETACH, POKETEXT, GETREGSET, SETREGSET = 0x4206, 0x4207, 17, 4, 0x4204, 0x4205  # linux/ptrace.h
NT_PRSTATUS = 1  # linux/elf.h
AT_ENTRY = 9  # linux/auxvec.h
WALL = 0x40000000  # linux/wait.h: __WALL

# An instruction that jumps to itself; places of the program counter and of what a system call is restarted by among the
# registers (asm/ptrace.h: user_regs_struct, user_pt_regs).
SPIN = {"x86_64": (b"\xeb\xfe", 16, 15), "aarch64": (b"\x00\x00\x00\x14", 32, 8)}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def _ptrace(request: int, thread: int, address: int = 0, data: int = 0) -> None:
    ctypes.set_errno(0)
    if _libc.ptrace(request, thread, address, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x} of thread {thread}")


def thread_of(process: int, name: str) -> int:
    """The thread of that name."""
    for task in Path(f"/proc/{process}/task").iterdir():
        if (task / "comm").read_text(encoding="utf-8").strip() == name:
            return int(task.name)
    raise AssertionError(f"process {process} has no thread {name}")


def _stop(thread: int) -> None:
    _ptrace(SEIZE, thread)
    _ptrace(INTERRUPT, thread)
    os.waitpid(thread, WALL)


@contextmanager
def hung(thread: int) -> Iterator[None]:
    """The thread does nothing at all meanwhile."""
    _stop(thread)
    try:
        yield
    finally:
        _ptrace(DETACH, thread)


def spin(thread: int) -> None:
    """The thread only burns its processor, for good: it is sent to the program's first instruction, which nobody runs
    again, and which from now on jumps to itself. It is nice to others, whose processor it would take, and spins.
    """
    instruction, counter, call = SPIN[platform.machine()]
    auxiliary = Path(f"/proc/{thread}/auxv").read_bytes()
    entries = dict(struct.unpack_from("=QQ", auxiliary, at) for at in range(0, len(auxiliary), 16))
    entry = entries[AT_ENTRY]
    _stop(thread)
    word = int.from_bytes((instruction + bytes(8))[:8], "little")
    _ptrace(POKETEXT, thread, entry, word)
    registers = (ctypes.c_ulong * 64)()
    vector = _Vector(ctypes.cast(registers, ctypes.c_void_p), ctypes.sizeof(registers))
    _ptrace(GETREGSET, thread, NT_PRSTATUS, ctypes.addressof(vector))
    registers[counter] = entry
    registers[call] = 2**64 - 1  # no system call to restart
    _ptrace(SETREGSET, thread, NT_PRSTATUS, ctypes.addressof(vector))
    os.setpriority(os.PRIO_PROCESS, thread, 10)  # of the thread alone: setpriority(2), C library/kernel differences
    _ptrace(DETACH, thread)
