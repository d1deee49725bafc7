#!/usr/bin/env python3
"""Records what real programs print, for crates/vt/tests/recordings.rs.

    sudo tests/recordings/record.py [NAME...]

Each program of programs.py runs in a terminal of its own, with answers to its questions as xterm gives them, and is fed
its keys one after another, each when nothing was printed for a while. It is ended after the last one: what it prints
when it is left is not recorded. It sees a neutral machine: namespaces of its own with the host name `demo`, the user
`demo` and the folder /tmp/demo, made new by this script. NAME.COLSxROWS.vt has the bytes.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios
import time
from pathlib import Path

from programs import PROGRAMS, make_demo

HERE = Path(__file__).resolve().parent
DEMO = Path("/tmp/demo")
MOST_BYTES = 30_000
# Nothing is printed for so long: the program waits for a key.
QUIET = 0.5
LONGEST = 25.0
# What must not be in a recording: what tells where it was made.
FORBIDDEN = [os.uname().nodename, "/work", "/root", "/home/", "artifactory", "http://", "https://"]

ANSWERS = [
    (re.compile(rb"\x1b\[0?c"), b"\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"),
    (re.compile(rb"\x1b\[>0?c"), b"\x1b[>41;388;0c"),
    (re.compile(rb"\x1b\[>0?q"), b"\x1bP>|XTerm(388)\x1b\\"),
    (re.compile(rb"\x1b\[5n"), b"\x1b[0n"),
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\]10;\?(?:\x07|\x1b\\)"), b"\x1b]10;rgb:e5e5/e5e5/e5e5\x07"),
    (re.compile(rb"\x1b\]11;\?(?:\x07|\x1b\\)"), b"\x1b]11;rgb:0000/0000/0000\x07"),
    (re.compile(rb"\x1b\[\?(\d+)\$p"), b"\x1b[?%b;0$y"),
    (re.compile(rb"\x1bP\+q([0-9A-Fa-f]*)\x1b\\"), b"\x1bP0+r%b\x1b\\"),
    (re.compile(rb"\x1bP\$q[^\x1b]*\x1b\\"), b"\x1bP0$r\x1b\\"),
]


def environment(extra):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(DEMO / "home"),
        "USER": "demo",
        "LOGNAME": "demo",
        "HOSTNAME": "demo",
        "SHELL": "/bin/bash",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PS1": "$ ",
        "TZ": "UTC",
        **extra,
    }


def isolate(command):
    """The command in namespaces where the machine is called `demo` and its user too."""
    setup = (
        "hostname demo && mount --bind /tmp/demo-etc/passwd /etc/passwd && "
        "mount --bind /tmp/demo-etc/hosts /etc/hosts && cd /tmp/demo && exec " + command
    )
    return ["unshare", "--kill-child", "--fork", "--pid", "--mount-proc", "--uts", "--mount", "bash", "-c", setup]


def answers(output, answered):
    """Answers to the questions in `output` behind the offset `answered`, and the offset behind the last of them."""
    found = []
    for pattern, answer in ANSWERS:
        for match in pattern.finditer(output, answered):
            found.append((match.end(), answer % match.groups() if b"%b" in answer else answer))
    found.sort()
    return b"".join(answer for _, answer in found), (found[-1][0] if found else answered)


def as_sent(key, output):
    """Cursor keys are sent in the mode that the program set last."""
    application = output.rfind(b"\x1b[?1h") > output.rfind(b"\x1b[?1l")
    return re.sub(rb"^\x1b\[([A-D])$", b"\x1bO\\1", key) if application else key


def record(program):
    cols, rows = program.get("size", (120, 40))
    pid, terminal = pty.fork()
    if pid == 0:
        command = isolate(program["command"])
        os.execvpe(command[0], command, environment(program.get("env", {})))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    os.set_blocking(terminal, False)
    output, answered = b"", 0
    keys = [key.encode() for key in program.get("keys", [])]
    limit = program.get("bytes", MOST_BYTES)
    quiet = program.get("quiet", QUIET)
    started = time.monotonic()
    while time.monotonic() - started < program.get("seconds", LONGEST) and len(output) < limit:
        # Some take a while before they print anything.
        readable, _, _ = select.select([terminal], [], [], quiet if len(output) > 100 else 5)
        if readable:
            try:
                read = os.read(terminal, 4096)
            except OSError:
                break
            if not read:
                break
            output += read
            answer, answered = answers(output, answered)
            if answer:
                os.write(terminal, answer)
        elif keys:
            os.write(terminal, as_sent(keys.pop(0), output))
        else:
            break
    os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    os.waitpid(pid, 0)
    return output[:limit], keys


def main(names):
    shutil.rmtree(DEMO, ignore_errors=True)
    make_demo(DEMO)
    etc = Path("/tmp/demo-etc")
    etc.mkdir(exist_ok=True)
    (etc / "passwd").write_text("demo:x:0:0:demo:/tmp/demo/home:/bin/bash\nman:x:6:12::/:/bin/false\nnobody:x:65534:65534::/:/bin/false\n")
    (etc / "hosts").write_text("127.0.0.1 localhost demo\n")
    failed = False
    for program in PROGRAMS:
        name = program["name"]
        if names and name not in names:
            continue
        output, unsent = record(program)
        leaks = [text for text in FORBIDDEN if text.encode() in output]
        cols, rows = program.get("size", (120, 40))
        if leaks or unsent or len(output) < 200:
            print(f"{name}: not kept: {len(output)} bytes, unsent {unsent}, has {leaks}: {output[-300:]!r}")
            failed = True
            continue
        (HERE / f"{name}.{cols}x{rows}.vt").write_bytes(output)
        print(f"{name}: {len(output)} bytes")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
