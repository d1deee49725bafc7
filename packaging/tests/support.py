"""One set of packages for all tests, and programs run as on a machine that has just them.

A program runs with an empty HOME of its own and a PATH without Cargo. Whatever it started is ended with the place it
was in. Every command has a time limit.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import build  # noqa: E402
import dependencies  # noqa: E402
import share  # noqa: E402

PROGRAM = Path(os.environ["TEST_PROGRAM"])
TARGET = next(target for target in build.TARGETS if target.rust == os.environ["TEST_TARGET"])
TOOLS = ROOT / "packaging/tests/node_modules/.bin"
# What is slow under emulation and on a busy machine; a command that hangs ends the test.
LIMIT = 300

_work: tempfile.TemporaryDirectory | None = None


def work() -> Path:
    """A folder for this run."""
    global _work
    if _work is None:
        _work = tempfile.TemporaryDirectory(prefix="termbridge-packages-")
    return Path(_work.name)


def dist() -> Path:
    """The packages, made once."""
    folder = work() / "dist"
    if not folder.exists():
        program = folder / "bin" / TARGET.rust / "termbridge"
        program.parent.mkdir(parents=True)
        # A stripped copy: of a debug build, most is symbols.
        subprocess.run(strip_command(program), check=True)
        share.write(native_program(program), [TARGET.rust], folder / "share")
        (folder / f"termbridge-{build.VERSION}-{TARGET.rust}.cdx.json").write_text(dependencies.sbom(TARGET.rust))
        packages(folder)
    return folder


def strip_command(program: Path) -> list[str | Path]:
    if is_native():
        return ["strip", "-o", program, PROGRAM]
    return ["cp", PROGRAM, program]


def is_native() -> bool:
    return TARGET.rust.split("-")[0] == os.uname().machine


def runs_children() -> bool:
    """Whether the kernel runs a program for TARGET that another one starts, as the demo does with itself."""
    return is_native() or Path(f"/proc/sys/fs/binfmt_misc/qemu-{TARGET.rust.split('-')[0]}").exists()


def native_program(program: Path) -> Path:
    """The program, or one that runs it under qemu-user."""
    if is_native():
        return program
    wrapper = work() / "termbridge"
    wrapper.write_text(f'#!/bin/sh\nexec qemu-{TARGET.rust.split("-")[0]}-static {program} "$@"\n')
    wrapper.chmod(0o755)
    return wrapper


def packages(folder: Path, **variables: str) -> None:
    command = [sys.executable, ROOT / "packaging/build.py", "--quick", folder]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, env={**os.environ, **variables})


def package(pattern: str) -> Path:
    """The one package with this name; `V` stands for the version."""
    found = list(dist().glob(pattern.replace("V", build.VERSION)))
    assert len(found) == 1, f"{pattern}: {found}"
    return found[0]


class Place:
    """An empty home, for one installation."""

    def __init__(self, test: unittest.TestCase) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="home-", dir=work()))
        tools = self.home / ".tools"
        tools.mkdir()
        for name in ["node", "npm", "npx"]:
            (tools / name).symlink_to(os.path.realpath(shutil.which(name) or "/nonexistent"))
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{tools}:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.home),
            "npm_config_cache": str(self.home / ".npm"),
            "npm_config_update_notifier": "false",
        }
        test.addCleanup(shutil.rmtree, self.home, ignore_errors=True)

    def run(self, *command: str | Path, cwd: Path | None = None, input: str | None = None, code: int = 0) -> str:
        """What a command prints; it must end with this exit code."""
        words = [str(word) for word in command]
        result = subprocess.run(
            words, cwd=cwd or self.home, env=self.env, input=input, text=True, timeout=LIMIT,
            stdin=subprocess.DEVNULL if input is None else None, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        assert result.returncode == code, f"{words} ended with {result.returncode}:\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}"
        return result.stdout

    def emulated(self, program: Path) -> list[str | Path]:
        return [program] if is_native() else [f"qemu-{TARGET.rust.split('-')[0]}-static", program]
