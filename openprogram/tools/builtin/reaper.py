"""Runs one command and outlives it by exactly as long as it takes to end everything that the command started.

A program of its own, `python -I -S reaper.py LOG LIVE LIMIT GRACE TRAILER COMMAND...`; standard library only. It stands
between the server and the command because nothing else finds every process: a group kill misses those that made a
session of their own, and a walk down the tree misses those whose parent has gone. On Linux the reaper adopts such
orphans (`PR_SET_CHILD_SUBREAPER`), so at the end every process of the command is below it.

- The command's output goes to LOG (up to LIMIT bytes) and, for its first LIVE bytes, to standard output.
- It ends when the command ends, when SIGTERM comes, or when standard input closes: the server holds the other end,
  so even a server that was killed leaves nothing running. What is left then gets SIGTERM and, GRACE seconds later,
  SIGKILL.
- On standard error it leaves one line of JSON, `{"code": N, "left": N, "dropped": N}`: the exit code (minus the
  signal's number if one ended it), how many processes the command left behind, how many bytes the log did not take.
- With TRAILER `1` the log gets a last line that says how the command ended.
"""

import ctypes
import os
import select
import signal
import sys
import time

_CHUNK = 65_536
_POLL_S = 0.02
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_TOLD = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Sink:
    """Where output goes: the log, bounded, and the live stream, bounded. Nothing here ever waits for a reader."""

    def __init__(self, path: str, live: int, limit: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self.log = os.open(path, flags, 0o600)
        self.live = live
        self.room = limit
        self.dropped = 0

    def take(self, data: bytes) -> None:
        """Hand on one piece; what the log cannot take is counted."""
        kept = data[: self.room]
        written = write_all(self.log, kept)
        self.room = self.room - written if written == len(kept) else 0
        self.dropped += len(data) - written
        shown = data[: self.live]
        self.live = self.live - len(shown) if write_all(1, shown) == len(shown) else 0

    def close(self, code: int, *, trailer: bool) -> None:
        """Finish the log."""
        if self.dropped:
            write_all(self.log, f"\n[{self.dropped} further bytes of output were not kept]\n".encode())
        if trailer:
            how = f"exit code {code}" if code >= 0 else f"signal {-code}"
            write_all(self.log, f"\n[ended: {how}]\n".encode())
        os.close(self.log)


def main(arguments: list[str]) -> None:
    """Run the command to its end and report."""
    log, live, limit, grace, trailer, *command = arguments
    sink = Sink(log, int(live), int(limit))
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake = listen()
    output, process = start(command)
    code, left = supervise(process, output, wake, sink, float(grace))
    sink.close(code, trailer=trailer == "1")
    write_all(2, f'{{"code": {code}, "left": {left}, "dropped": {sink.dropped}}}\n'.encode())


def prctl(option: int, value: int) -> None:
    """Set a process attribute, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def listen() -> int:
    """A descriptor that becomes readable with SIGCHLD and with the signals that ask for the end."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in _TOLD:
        signal.signal(number, lambda number, frame: None)
    return reading


def start(command: list[str]) -> tuple[int, int]:
    """Start the command in a session of its own; returns its output, not blocking, and its process id."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        os.set_blocking(reading, False)
        return reading, process
    try:
        os.setsid()
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in (*_TOLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        os.execvp(command[0], command)
    except OSError as error:
        write_all(writing, f"cannot run {command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def supervise(process: int, output: int, wake: int, sink: Sink, grace: float) -> tuple[int, int]:
    """Until nothing of the command is left. Returns its code and how many processes it left behind."""
    code: int | None = None
    left = 0
    deadline: float | None = None
    waited = {0, wake, output}
    while True:
        ready = select.select(waited, (), (), None if deadline is None else _POLL_S)[0]
        if output in ready and not drain(output, sink):
            waited.discard(output)
        asked = wake in ready and any(number != signal.SIGCHLD for number in os.read(wake, 512))
        asked = asked or (0 in ready and not os.read(0, 512))
        code = reap(process, code)
        if deadline is None and (asked or code is not None):
            waited.discard(0)
            below = descendants()
            left = sum(other != process for other in below)
            send(below, signal.SIGTERM)
            deadline = time.monotonic() + grace
        if deadline is not None:
            below = descendants()
            code = reap(process, code)
            if code is not None and not below:
                drain(output, sink)
                return code, left
            if time.monotonic() >= deadline:
                send(below, signal.SIGKILL)


def drain(output: int, sink: Sink) -> bool:
    """Take what is there; False once nobody can write any more."""
    while True:
        try:
            data = os.read(output, _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            return False
        sink.take(data)


def reap(process: int, code: int | None) -> int | None:
    """Collect every child that has ended; returns the code of `process`, or `code` if it was not among them."""
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if child == 0:
            return code
        if child == process:
            code = os.waitstatus_to_exitcode(status)


def descendants() -> list[int]:
    """Ids of the processes below this one; those that have ended and wait to be collected are left out."""
    children: dict[int, list[int]] = {}
    for process, parent, state in processes():
        if state != "Z":
            children.setdefault(parent, []).append(process)
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        below = children.get(waiting.pop(), [])
        found.extend(below)
        waiting.extend(below)
    return found


def processes() -> list[tuple[int, int, str]]:
    """`(id, parent, state)` of every process that can be seen."""
    if not os.path.isdir("/proc/self"):
        return processes_by_ps()
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it has ended since
            found.append((int(name), int(fields[1]), fields[0].decode()))
    return found


def processes_by_ps() -> list[tuple[int, int, str]]:
    """The same where there is no /proc."""
    reading, writing = os.pipe()
    asked = os.fork()
    if asked == 0:
        try:
            os.dup2(writing, 1)
            os.execvp("ps", ["ps", "-axo", "pid=,ppid=,state="])
        finally:
            os._exit(127)
    os.close(writing)
    with open(reading) as stream:
        rows = [line.split() for line in stream]
    os.waitpid(asked, 0)
    return [(int(row[0]), int(row[1]), row[2][0]) for row in rows if int(row[0]) != asked]


def send(processes: list[int], number: int) -> None:
    """Signal them; those that have ended since are left out."""
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue


def write_all(descriptor: int, data: bytes) -> int:
    """Write as much as can be written; returns how much that was."""
    done = 0
    try:
        while done < len(data):
            done += os.write(descriptor, data[done:])
    except OSError:
        return done
    return done


if __name__ == "__main__":
    main(sys.argv[1:])
