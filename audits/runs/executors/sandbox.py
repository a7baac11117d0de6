"""What the operating system keeps a process from: the one module that speaks to it about that.

A process that opens what a stranger brought calls `enter` first. On Linux it then has a ceiling on memory
(``RLIMIT_DATA``, which counts what a program writes to, unlike ``RLIMIT_AS``, which counts the libraries of
torch and onnxruntime as well), on open files and on what it writes; no way to open a socket, to signal or
look into another process (seccomp); and sees only the folders named to it (Landlock). Elsewhere than on
Linux only the ceilings hold, as far as the system keeps them; where there are not even those (Windows),
nothing does, and the server does not open strangers' files at all.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

_ROOT = Path(__file__).resolve().parents[3]
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_EACCES = 13
_PAGE = os.sysconf("SC_PAGESIZE") if hasattr(os, "sysconf") else 4096

# kept from the server's environment; never the address of its database, nor anyone's keys. What has the
# numeric library take other instructions is among it: a worker would find another last digit
_KEPT = {
    "EVENHAND_ENDPOINT_HOSTS", "EVENHAND_HOME", "EVENHAND_MAX_FILE_MB", "EVENHAND_MEMORY",
    "EVENHAND_SCORE_SECONDS", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH",
    "OPENBLAS_CORETYPE", "PYTHONPATH", "SYSTEMROOT", "TZ",
}  # fmt: skip

_FOR_SERVICES = (
    "EVENHAND_ENDPOINT_TOKEN",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)

# numbers of system calls: x86-64, ARM64
_CALLS = {
    "socket": (41, 198),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "io_uring_setup": (425, 425),
    "mount": (165, 40),
    "setns": (308, 268),
    "unshare": (272, 97),
    "bpf": (321, 280),
    "tkill": (200, 130),
    "execve": (59, 221),
    "execveat": (322, 281),
}
_KILL = (62, 129)
_WITH_NETWORK, _WITH_PROGRAMS = {"socket"}, {"execve", "execveat"}
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


@dataclass(frozen=True)
class Bounds:
    """What a process may use.

    Attributes
    ----------
    memory : int
        Bytes that it writes to.
    open_files : int
        Files open at once.
    file_bytes : int
        Size of a file that it writes; 0 for one that writes none.
    network : bool
        Whether it may open sockets.
    programs : bool
        Whether it may start programs.
    reads : tuple of Path
        Folders and files that it sees besides those of Python; empty: all that the user sees.
    writes : tuple of Path
        Folders in which it writes, where `reads` is not empty.
    """

    memory: int
    open_files: int = 256
    file_bytes: int = 0
    network: bool = False
    programs: bool = False
    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()


def enter(bounds: Bounds) -> None:
    """Give up, for this process and for good, all that `bounds` does not allow, as far as the system can.

    Call it while the process has one thread.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS, bounds.memory)
    _lower(resource.RLIMIT_NOFILE, bounds.open_files)
    _lower(resource.RLIMIT_FSIZE, bounds.file_bytes)
    if bounds.reads:
        _see_only(bounds.reads, bounds.writes)
    denied = set(_CALLS)
    denied -= _WITH_NETWORK if bounds.network else set()
    denied -= _WITH_PROGRAMS if bounds.programs else set()
    if not _refuse_calls(denied) and not bounds.network:
        leave_network()
        _forget_sockets()


def allow_seconds(seconds: int) -> None:
    """Have the system end this process once it has computed for so many more seconds."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + seconds
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard < 0 else min(most, hard), hard))


def die_with_parent() -> None:
    """Have Linux kill this process when its parent dies, even while it computes without a pause."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process that opens strangers' files: nothing secret, `folder` as home."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT}
    # Arrow's own allocator sets gigabytes aside at once, which count as used
    plain = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}
    return {**kept, **plain, "HOME": str(folder), "TMPDIR": str(folder), **more}


def service_environment() -> dict[str, str]:
    """Return what asking a service takes of this process's environment: only who does so is given it."""
    return {name: os.environ[name] for name in _FOR_SERVICES if name in os.environ}


def machine_memory() -> int:
    """Return the bytes of memory that this process and its children may count on."""
    found = []
    if hasattr(os, "sysconf"):
        found.append(os.sysconf("SC_PHYS_PAGES") * _PAGE)
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):  # a container's
        try:
            text = Path(name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            found.append(int(text))
    return min(found, default=4 << 30)


def resident_memory(pid: int) -> int:
    """Return the bytes of memory that a process has to itself now; 0 where nobody can tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except OSError:
        return 0
    return (int(pages[1]) - int(pages[2])) * _PAGE


def data_memory() -> int:
    """Return the bytes that this process may write to, as its limit counts them; 0 where nobody can tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * _PAGE
    except OSError:
        return 0


def readable_folders() -> tuple[Path, ...]:
    """Return the folders that Python and its packages load from, and where time zones lie."""
    found = {Path(each).resolve() for each in (sys.prefix, sys.base_prefix, _ROOT)}
    found |= {
        Path(each)
        for each in (
            "/usr",
            "/lib",
            "/lib64",
            "/etc/localtime",
            "/etc/mime.types",
            "/dev/null",
            "/dev/urandom",
            "/proc/self/cgroup",  # DuckDB asks how much memory it has, and breaks off if it may not
            "/sys/fs/cgroup",
        )
    }
    # an environment that is a link, and packages installed from elsewhere
    found |= {Path(each).resolve() for each in sys.path if each}
    found |= set(_editable_installs())
    return tuple(sorted(each for each in found if each.exists()))


def _editable_installs() -> Iterator[Path]:
    """Yield folders of packages that bring us something, installed to be edited (PEP 610): on no path."""
    for package in distributions():
        if any(entry.group.startswith("evenhand.") for entry in package.entry_points):
            told = json.loads(package.read_text("direct_url.json") or "{}")
            if told.get("dir_info", {}).get("editable"):
                yield Path(unquote(urlsplit(told["url"]).path)).resolve()


def fresh_score() -> None:
    """Have Linux end this process first where memory runs out for all."""
    try:
        Path("/proc/self/oom_score_adj").write_text("900", encoding="ascii")
    except OSError:
        return


def give_way(by: int) -> None:
    """Let this process and what it starts compute only where others leave time: `by` from 1 to 19.

    Pages answer first then. Linux weighs a process among those of its session alone where it groups them by
    session (``autogroup``), and the session among the others.
    """
    with contextlib.suppress(AttributeError, OSError):
        os.nice(by)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(by), encoding="ascii")


def _lower(what: int, most: int) -> None:
    import resource

    hard = resource.getrlimit(what)[1]
    most = most if hard < 0 else min(most, hard)
    resource.setrlimit(what, (most, most))


def leave_network() -> None:
    """Move into a network namespace that holds nothing, where that is allowed."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWNET | _CLONE_NEWUSER)


def _forget_sockets() -> None:
    """Make Python refuse sockets: no wall against machine code, but nothing happens by mistake."""

    class NoSocket(socket.socket):
        def __init__(self, *_: Any, fileno: int | None = None, **__: Any) -> None:
            if fileno is None:
                raise PermissionError(_EACCES, "this process has no network")
            super().__init__(fileno=fileno)

    socket.socket = NoSocket  # type: ignore[misc]


def _instruction(code: int, yes: int, no: int, value: int) -> bytes:
    return struct.pack("<HBBI", code, yes, no, value)


def _refuse_calls(names: Iterable[str]) -> bool:
    """Have the kernel answer these system calls, and signals to other processes, with "not allowed"."""
    if sys.platform != "linux" or os.uname().machine not in _ARCHITECTURES:
        return False
    place, architecture = _ARCHITECTURES[os.uname().machine]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    refuse, allow = 0x00050000 | _EACCES, 0x7FFF0000
    numbers = [_CALLS[name][place] for name in sorted(names)]
    # the kill call is looked at closer: a process may end itself
    rest = [
        _instruction(equal, 0, 3, _KILL[place]),
        _instruction(load, 0, 0, 16),
        _instruction(equal, 1, 0, os.getpid()),
        _instruction(give, 0, 0, refuse),
        _instruction(give, 0, 0, allow),
        _instruction(give, 0, 0, refuse),
    ]
    checks = [_instruction(equal, len(numbers) - k + 4, 0, number) for k, number in enumerate(numbers)]
    program = b"".join(
        [
            _instruction(load, 0, 0, 4),
            _instruction(equal, 1, 0, architecture),
            _instruction(give, 0, 0, refuse),
            _instruction(load, 0, 0, 0),
            _instruction(at_least, 0, 1, 0x40000000),  # the same calls under other numbers
            _instruction(give, 0, 0, refuse),
            *checks,
            *rest,
        ]
    )
    code = ctypes.create_string_buffer(program, len(program))
    filtering = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(libc.prctl(_PR_SET_SECCOMP, 2, filtering, 0, 0) == 0)


_LANDLOCK = (444, 445, 446)
# execute, write, read a file, read a folder, then everything that changes a folder
_LANDLOCK_READ, _LANDLOCK_ALL = 0b1101, (1 << 13) - 1
_LANDLOCK_FILE = 0b111


def _see_only(reads: Sequence[Path], writes: Sequence[Path]) -> None:
    """Have the kernel hide all files but these and Python's own, where it can."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None, use_errno=True)
    ruleset = struct.pack("=Q", _LANDLOCK_ALL)
    rules = libc.syscall(_LANDLOCK[0], ruleset, len(ruleset), 0)
    if rules < 0:
        return
    try:
        allowed = [(each, _LANDLOCK_READ) for each in (*readable_folders(), *reads)]
        for path, access in [*allowed, *((each, _LANDLOCK_ALL) for each in writes)]:
            _allow(libc, rules, path, access)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.syscall(_LANDLOCK[2], rules, 0)
    finally:
        os.close(rules)


def _allow(libc: Any, rules: int, path: Path, access: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there cannot be seen either way
        return
    try:
        access &= _LANDLOCK_ALL if path.is_dir() else _LANDLOCK_FILE
        libc.syscall(_LANDLOCK[1], rules, 1, struct.pack("=Qi", access, opened), 0)
    finally:
        os.close(opened)
