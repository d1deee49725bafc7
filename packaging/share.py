#!/usr/bin/env python3
"""Writes what packages have beside the program: man pages, completions, the licences of dependencies.

    packaging/share.py PROGRAM FOLDER TARGET...

The program writes its pages and completions itself, so it must run here.
"""

import subprocess
import sys
from pathlib import Path

import dependencies

COMPLETIONS = {"bash": "termbridge.bash", "zsh": "_termbridge", "fish": "termbridge.fish"}


def write(program: Path, targets: list[str], folder: Path) -> None:
    (folder / "completions").mkdir(parents=True)
    subprocess.run([program, "man", folder / "man"], check=True)
    for shell, name in COMPLETIONS.items():
        script = subprocess.run([program, "completions", shell], check=True, stdout=subprocess.PIPE).stdout
        (folder / "completions" / name).write_bytes(script)
    (folder / "THIRD-PARTY.md").write_text(dependencies.third_party(targets))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        raise SystemExit(__doc__)
    write(Path(sys.argv[1]), sys.argv[3:], Path(sys.argv[2]))
