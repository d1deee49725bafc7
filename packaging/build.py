#!/usr/bin/env python3
"""Makes every package of the programs that scripts/release built.

    packaging/build.py [--quick] DIST

DIST/bin/TARGET/termbridge are the programs; DIST/share has man pages and completions, and THIRD-PARTY.md. The packages go to
DIST. The same input gives the same bytes: times are those of SOURCE_DATE_EPOCH, owners are root, and names are in order.
"""

import argparse
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import sys
import tarfile
import time
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION, REPOSITORY, LICENSE = CARGO["version"], CARGO["repository"], CARGO["license"]
SUMMARY = tomllib.loads((ROOT / "crates/cli/Cargo.toml").read_text())["package"]["description"]
TIME = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
PYPI_NAME = "termbridge-mcp"
SKILL = "skills/termbridge/SKILL.md"
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]
MAINTAINER = "termbridge <maintainers@termbridge.dev>"


@dataclass(frozen=True)
class Target:
    """A platform, by the names that each kind of package has for it."""

    rust: str
    npm: str
    wheel: str
    deb: str | None = None

    @property
    def os(self) -> str:
        return self.npm.split("-")[0]

    @property
    def cpu(self) -> str:
        return self.npm.split("-")[1]


TARGETS = [
    # The programs are static, so they run with every C library.
    Target("x86_64-unknown-linux-musl", "linux-x64", "manylinux2014_x86_64.musllinux_1_1_x86_64", "amd64"),
    Target("aarch64-unknown-linux-musl", "linux-arm64", "manylinux2014_aarch64.musllinux_1_1_aarch64", "arm64"),
    Target("x86_64-apple-darwin", "darwin-x64", "macosx_10_12_x86_64"),
    Target("aarch64-apple-darwin", "darwin-arm64", "macosx_11_0_arm64"),
]


@dataclass(frozen=True)
class File:
    """A file of a package: its name there, what it holds, whether it is run."""

    name: str
    data: bytes
    is_program: bool = False

    @property
    def mode(self) -> int:
        return 0o755 if self.is_program else 0o644


@dataclass
class Level:
    """How hard to compress."""

    deflate: int = 9
    xz: int = 6


LEVEL = Level()


def add(archive: tarfile.TarFile, name: str, file: File | None) -> None:
    """Adds a file, or a folder, to an archive, with nothing of this machine."""
    info = tarfile.TarInfo(name)
    info.mtime, info.uname, info.gname = TIME, "root", "root"
    if file is None:
        info.type, info.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(info)
    else:
        info.size, info.mode = len(file.data), file.mode
        archive.addfile(info, io.BytesIO(file.data))


def gzipped(data: bytes, level: int = 9) -> bytes:
    # Without a time: the file's own says enough.
    return gzip.compress(data, level, mtime=0)


def tar_gz(path: Path, files: list[File]) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(files, key=lambda file: file.name):
            add(archive, file.name, file)
    path.write_bytes(gzipped(raw.getvalue(), LEVEL.deflate))


def zip_file(path: Path, files: list[File]) -> None:
    date = max((1980, 1, 1, 0, 0, 0), time.gmtime(TIME)[:6])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL.deflate) as archive:
        for file in files:
            info = zipfile.ZipInfo(file.name, date)
            info.external_attr, info.compress_type = (0o100000 | file.mode) << 16, zipfile.ZIP_DEFLATED
            info.create_system = 3
            archive.writestr(info, file.data)


def as_json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def licenses(prefix: str, share: Path) -> list[File]:
    texts = [File(prefix + name, (ROOT / name).read_bytes()) for name in LICENSES]
    return [*texts, File(prefix + "THIRD-PARTY.md", (share / "THIRD-PARTY.md").read_bytes())]


def shared(prefix: str, share: Path, kind: str) -> list[File]:
    """What DIST/share/KIND holds."""
    return [File(f"{prefix}{path.name}", path.read_bytes()) for path in sorted((share / kind).iterdir())]


def archive(dist: Path, target: Target, program: bytes) -> None:
    """The plain archive; cargo-binstall and Homebrew take it too."""
    name, share = f"termbridge-{VERSION}-{target.rust}", dist / "share"
    unit = "contrib/systemd/termbridge.service" if target.os == "linux" else "contrib/launchd/dev.termbridge.serve.plist"
    files = [
        File(f"{name}/termbridge", program, is_program=True),
        File(f"{name}/README.md", (ROOT / "README.md").read_bytes()),
        File(f"{name}/{SKILL}", (ROOT / SKILL).read_bytes()),
        File(f"{name}/{unit}", (ROOT / unit).read_bytes()),
        *licenses(f"{name}/", share),
        *shared(f"{name}/man/", share, "man"),
        *shared(f"{name}/completions/", share, "completions"),
    ]
    tar_gz(dist / f"{name}.tar.gz", files)


def npm_manifest(name: str, **more: object) -> File:
    manifest = {
        "name": name,
        "version": VERSION,
        "description": SUMMARY,
        "license": LICENSE,
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
        **more,
    }
    return File("package/package.json", as_json(manifest))


def npm_platform(dist: Path, target: Target, program: bytes) -> None:
    files = [
        npm_manifest(f"@termbridge/{target.npm}", os=[target.os], cpu=[target.cpu], preferUnplugged=True),
        File("package/bin/termbridge", program, is_program=True),
        *licenses("package/", dist / "share"),
    ]
    tar_gz(dist / f"termbridge-{target.npm}-{VERSION}.tgz", files)


def npm(dist: Path) -> None:
    """The package that people name; it has one dependency for each platform, of which npm installs the right one."""
    launcher = (ROOT / "packaging/npm/termbridge.js").read_bytes()
    files = [
        npm_manifest(
            "termbridge",
            keywords=["mcp", "terminal", "debugger", "tui", "agent"],
            bin={"termbridge": "bin/termbridge.js"},
            files=["bin", "skills"],
            engines={"node": ">=18"},
            optionalDependencies={f"@termbridge/{target.npm}": VERSION for target in TARGETS},
            mcpName="io.github.termbridge/termbridge",
        ),
        File("package/bin/termbridge.js", launcher, is_program=True),
        File("package/README.md", (ROOT / "README.md").read_bytes()),
        File(f"package/{SKILL}", (ROOT / SKILL).read_bytes()),
        *licenses("package/", dist / "share"),
    ]
    tar_gz(dist / f"termbridge-{VERSION}.tgz", files)


def wheel(dist: Path, target: Target, program: bytes) -> None:
    """The program as a script of a Python package: pip and uvx put it on PATH.

    On PyPI another project has our name. uvx and pipx run what is called as the package is, so a second script has that name.
    """
    name = f"{PYPI_NAME.replace('-', '_')}-{VERSION}"
    info = f"{name}.dist-info"
    launcher = (ROOT / "packaging/pypi/launcher.py").read_bytes()
    tags = [f"py3-none-{tag}" for tag in target.wheel.split(".")]
    metadata = f"""Metadata-Version: 2.4
Name: {PYPI_NAME}
Version: {VERSION}
Summary: {SUMMARY}
License-Expression: {LICENSE}
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
License-File: THIRD-PARTY.md
Project-URL: Repository, {REPOSITORY}
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""
    about = "Wheel-Version: 1.0\nGenerator: termbridge\nRoot-Is-Purelib: false\n"
    readme = (ROOT / "README.md").read_text()
    files = [
        File(f"{name}.data/scripts/termbridge", program, is_program=True),
        File(f"{name}.data/scripts/{PYPI_NAME}", launcher, is_program=True),
        *licenses(f"{info}/licenses/", dist / "share"),
        File(f"{info}/METADATA", (metadata + f"<!-- mcp-name: io.github.termbridge/termbridge -->\n\n{readme}").encode()),
        File(f"{info}/WHEEL", (about + "".join(f"Tag: {tag}\n" for tag in tags)).encode()),
    ]
    record = [f"{file.name},sha256={wheel_digest(file.data)},{len(file.data)}\n" for file in files]
    files.append(File(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode()))
    zip_file(dist / f"{name}-py3-none-{target.wheel}.whl", files)


def wheel_digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def deb(dist: Path, target: Target, program: bytes) -> None:
    share = dist / "share"
    doc = "usr/share/doc/termbridge"
    completions = {"termbridge.bash": "usr/share/bash-completion/completions/termbridge",
                   "_termbridge": "usr/share/zsh/vendor-completions/_termbridge",
                   "termbridge.fish": "usr/share/fish/vendor_completions.d/termbridge.fish"}
    unit = (ROOT / "contrib/systemd/termbridge.service").read_text()
    unit = re.sub(r"(?m)^# By name.*\nExecStart=.*$", "ExecStart=/usr/bin/termbridge serve --replace", unit)
    copyright_, overrides, description = (
        (ROOT / "packaging/deb" / name).read_text() for name in ["copyright", "lintian-overrides", "description"]
    )
    date = format_datetime(datetime.fromtimestamp(TIME, timezone.utc))
    changes = f"termbridge ({VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {MAINTAINER}  {date}\n"
    files = [
        File("usr/bin/termbridge", program, is_program=True),
        File("usr/lib/systemd/user/termbridge.service", unit.encode()),
        *[File(completions[file.name], file.data) for file in shared("", share, "completions") if file.name in completions],
        *[File(f"usr/share/man/man1/{file.name}.gz", gzipped(file.data)) for file in shared("", share, "man")],
        File(f"usr/share/termbridge/{SKILL}", (ROOT / SKILL).read_bytes()),
        File(f"{doc}/THIRD-PARTY.md.gz", gzipped((share / "THIRD-PARTY.md").read_bytes())),
        File(f"{doc}/changelog.gz", gzipped(changes.encode())),
        File(f"{doc}/copyright", copyright_.replace("@REPOSITORY@", REPOSITORY).encode()),
        File("usr/share/lintian/overrides/termbridge", overrides.encode()),
    ]
    control = f"""Package: termbridge
Version: {VERSION}
Architecture: {target.deb}
Maintainer: {MAINTAINER}
Section: devel
Priority: optional
Installed-Size: {sum(len(file.data) // 1024 + 1 for file in files)}
Homepage: {REPOSITORY}
Description: terminals, TUI programs and the debugger for AI agents
{"".join(f" {line or '.'}{chr(10)}" for line in description.splitlines())}"""
    sums = "".join(f"{hashlib.md5(file.data).hexdigest()}  {file.name}\n" for file in sorted(files, key=lambda file: file.name))
    about = [File("control", control.encode()), File("md5sums", sums.encode())]
    parts = [("debian-binary", b"2.0\n"), ("control.tar.xz", deb_tar(about)), ("data.tar.xz", deb_tar(files))]
    # An `ar` archive. Written here rather than by dpkg-deb, whose bytes depend on its version and the number of cores.
    data = b"!<arch>\n"
    for name, part in parts:
        data += f"{name:<16}{TIME:<12}{0:<6}{0:<6}{0o100644:<8o}{len(part):<10}`\n".encode() + part + b"\n" * (len(part) % 2)
    (dist / f"termbridge_{VERSION}_{target.deb}.deb").write_bytes(data)


def deb_tar(files: list[File]) -> bytes:
    folders = {str(parent) for file in files for parent in PurePosixPath(file.name).parents}
    entries = {f"./{folder}" if folder != "." else ".": None for folder in folders} | {f"./{file.name}": file for file in files}
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, file in sorted(entries.items()):
            add(archive, name, file)
    return lzma.compress(raw.getvalue(), preset=LEVEL.xz)


def mcpb(dist: Path, target: Target, program: bytes) -> None:
    """A bundle that Claude Desktop installs with one click; its own packer checks the manifest in the tests."""
    manifest = {
        "manifest_version": "0.3",
        "name": "termbridge",
        "display_name": "termbridge",
        "version": VERSION,
        "description": SUMMARY,
        "author": {"name": "termbridge", "url": REPOSITORY},
        "repository": {"type": "git", "url": f"{REPOSITORY}.git"},
        "license": LICENSE,
        "keywords": ["terminal", "debugger", "tui"],
        "server": {
            "type": "binary",
            "entry_point": "server/termbridge",
            "mcp_config": {"command": "${__dirname}/server/termbridge", "args": ["mcp"]},
        },
        "tools_generated": True,
        "compatibility": {"platforms": [target.os]},
    }
    files = [
        File("manifest.json", as_json(manifest)),
        File("server/termbridge", program, is_program=True),
        *licenses("", dist / "share"),
    ]
    zip_file(dist / f"termbridge-{VERSION}-{target.npm}.mcpb", files)


def templates(dist: Path) -> None:
    """What other places that publish programs take: their files, with this version and these checksums."""
    sums = {
        target.rust: hashlib.sha256(path.read_bytes()).hexdigest()
        for target in TARGETS
        if (path := dist / f"termbridge-{VERSION}-{target.rust}.tar.gz").exists()
    }
    for name in ["homebrew/termbridge.rb", "nix/flake.nix", "server.json"]:
        text = (ROOT / "packaging" / name).read_text()
        text = text.replace("@VERSION@", VERSION).replace("@REPOSITORY@", REPOSITORY).replace("@SUMMARY@", SUMMARY)
        for target in TARGETS:
            # Without a checksum the file is of no use, and says so.
            text = text.replace(f"@SHA256 {target.rust}@", sums.get(target.rust, "not built"))
        path = dist / "templates" / Path(name).name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def checksums(dist: Path) -> None:
    files = sorted(path for path in dist.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (dist / "SHA256SUMS").write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes every package of the programs in DIST/bin.")
    parser.add_argument("dist", type=Path, metavar="DIST")
    parser.add_argument("--quick", action="store_true", help="compress little, for tests")
    arguments = parser.parse_args()
    if arguments.quick:
        LEVEL.deflate, LEVEL.xz = 1, 0
    dist = arguments.dist.resolve()
    for target in TARGETS:
        path = dist / "bin" / target.rust / "termbridge"
        if not path.exists():
            print(f"packages: no program for {target.rust}", file=sys.stderr)
            continue
        program = path.read_bytes()
        archive(dist, target, program)
        npm_platform(dist, target, program)
        wheel(dist, target, program)
        mcpb(dist, target, program)
        if target.deb:
            deb(dist, target, program)
    npm(dist)
    templates(dist)
    checksums(dist)


if __name__ == "__main__":
    main()
