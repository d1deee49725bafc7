#!/usr/bin/env python3
"""Makes every package of the programs that scripts/release built.

    packaging/build.py DIST

DIST/bin/TARGET/termbridge are the programs; DIST/share has man pages and completions, and THIRD-PARTY.md. The packages go to
DIST. The same input gives the same bytes: times are those of SOURCE_DATE_EPOCH, owners are root, and names are in order.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
VERSION, REPOSITORY, LICENSE = CARGO["version"], CARGO["repository"], CARGO["license"]
SUMMARY = tomllib.loads((ROOT / "crates/cli/Cargo.toml").read_text())["package"]["description"]
TIME = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"]


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


def tar_gz(path: Path, files: list[File]) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in sorted(files, key=lambda file: file.name):
            info = tarfile.TarInfo(file.name)
            info.size, info.mode, info.mtime = len(file.data), file.mode, TIME
            info.uname = info.gname = "root"
            archive.addfile(info, io.BytesIO(file.data))
    path.write_bytes(gzip.compress(raw.getvalue(), 9, mtime=TIME))


def zip_file(path: Path, files: list[File]) -> None:
    date = max((1980, 1, 1, 0, 0, 0), time.gmtime(TIME)[:6])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
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
            files=["bin"],
            engines={"node": ">=18"},
            optionalDependencies={f"@termbridge/{target.npm}": VERSION for target in TARGETS},
            mcpName="io.github.termbridge/termbridge",
        ),
        File("package/bin/termbridge.js", launcher, is_program=True),
        File("package/README.md", (ROOT / "README.md").read_bytes()),
        *licenses("package/", dist / "share"),
    ]
    tar_gz(dist / f"termbridge-{VERSION}.tgz", files)


def wheel(dist: Path, target: Target, program: bytes) -> None:
    """The program as a script of a Python package: pip and uvx put it on PATH."""
    info = f"termbridge-{VERSION}.dist-info"
    tags = [f"py3-none-{tag}" for tag in target.wheel.split(".")]
    metadata = f"""Metadata-Version: 2.4
Name: termbridge
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
        File(f"termbridge-{VERSION}.data/scripts/termbridge", program, is_program=True),
        *licenses(f"{info}/licenses/", dist / "share"),
        File(f"{info}/METADATA", (metadata + f"<!-- mcp-name: io.github.termbridge/termbridge -->\n\n{readme}").encode()),
        File(f"{info}/WHEEL", (about + "".join(f"Tag: {tag}\n" for tag in tags)).encode()),
    ]
    record = [f"{file.name},sha256={wheel_digest(file.data)},{len(file.data)}\n" for file in files]
    files.append(File(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode()))
    zip_file(dist / f"termbridge-{VERSION}-py3-none-{target.wheel}.whl", files)


def wheel_digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def deb(dist: Path, target: Target, program: bytes) -> None:
    share = dist / "share"
    doc = "usr/share/doc/termbridge"
    completions = {"termbridge.bash": "usr/share/bash-completion/completions/termbridge",
                   "_termbridge": "usr/share/zsh/vendor-completions/_termbridge",
                   "termbridge.fish": "usr/share/fish/vendor_completions.d/termbridge.fish"}
    unit = (ROOT / "contrib/systemd/termbridge.service").read_text()
    files = [
        File("usr/bin/termbridge", program, is_program=True),
        File("usr/lib/systemd/user/termbridge.service", unit.replace("%h/.cargo/bin/termbridge", "/usr/bin/termbridge").encode()),
        *[File(completions[file.name], file.data) for file in shared("", share, "completions") if file.name in completions],
        *[File(f"usr/share/man/man1/{file.name}.gz", gzip.compress(file.data, 9, mtime=TIME)) for file in shared("", share, "man")],
        *licenses(f"{doc}/", share),
        File(f"{doc}/copyright", f"termbridge, {REPOSITORY}\nLicense: {LICENSE}; see LICENSE-MIT and LICENSE-APACHE here.\n".encode()),
    ]
    size = sum(len(file.data) for file in files) // 1024
    control = f"""Package: termbridge
Version: {VERSION}
Architecture: {target.deb}
Maintainer: termbridge <maintainers@termbridge.dev>
Section: devel
Priority: optional
Installed-Size: {size}
Homepage: {REPOSITORY}
Description: {SUMMARY}
 One MCP server that gives agents persistent shells with exact exit codes,
 full-screen programs with their screens, and the debugger.
"""
    with tempfile.TemporaryDirectory() as work:
        root = Path(work) / "root"
        for file in [*files, File("DEBIAN/control", control.encode())]:
            path = root / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(file.mode)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (TIME, TIME))
        result = dist / f"termbridge_{VERSION}_{target.deb}.deb"
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(result)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(TIME)})


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
    dist = Path(sys.argv[1]).resolve()
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


main()
