"""Each kind of package, installed from its file into an empty place, gives a program that works."""

import json
import os
import sys
import tarfile
import unittest
import zipfile
from pathlib import Path

import build

from .support import ROOT, TARGET, TOOLS, Place, dist, is_native, package, runs_children


class Installed(unittest.TestCase):
    def setUp(self) -> None:
        self.place = Place(self)

    def works(self, *command: str | Path, cwd: Path | None = None) -> None:
        """The program is the version that was packaged, drives a real program, and leaves nothing running."""
        self.assertEqual(self.place.run(*command, "--version", cwd=cwd), f"termbridge {build.VERSION}\n")
        self.assertIn(f"termbridge {build.VERSION}\ncommit: ", self.place.run(*command, "--version", "--verbose", cwd=cwd))
        if runs_children():
            self.assertIn("vim", self.place.run(*command, "demo", "--fast", cwd=cwd))
        # 3: no server is left.
        self.place.run(*command, "stop", "--all", cwd=cwd, code=3)

    def test_archive(self) -> None:
        with tarfile.open(package(f"termbridge-V-{TARGET.rust}.tar.gz")) as archive:
            archive.extractall(self.place.home, filter="data")
        folder = self.place.home / f"termbridge-{build.VERSION}-{TARGET.rust}"
        self.works(*self.place.emulated(folder / "termbridge"))
        for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md", build.SKILL, "man/termbridge-mcp.1",
                     "completions/_termbridge"]:
            self.assertTrue((folder / name).is_file(), name)

    @unittest.skipUnless(is_native(), "npm installs the packages of its own platform")
    def test_npm(self) -> None:
        files = [package("termbridge-V.tgz"), package(f"termbridge-{TARGET.npm}-V.tgz")]
        # Offline: the dependencies for other platforms cannot be fetched, as they cannot be used.
        self.place.run("npm", "install", "--offline", "--no-audit", "--no-fund", *files)
        self.works("npx", "--offline", "termbridge")

    @unittest.skipUnless(is_native(), "npm installs the packages of its own platform")
    def test_npm_without_the_platform(self) -> None:
        self.place.run("npm", "install", "--offline", "--no-audit", "--no-fund", package("termbridge-V.tgz"))
        printed = self.place.run("sh", "-c", "npx --offline termbridge --version 2>&1", code=1)
        self.assertIn("--omit=optional", printed)

    def test_wheel(self) -> None:
        options = ["--no-index", "--disable-pip-version-check", "--quiet"]
        if is_native():
            self.place.run(sys.executable, "-m", "venv", self.place.home / "venv")
            self.place.run(self.place.home / "venv/bin/pip", "install", *options, "--find-links", dist(), "termbridge-mcp")
            self.works(self.place.home / "venv/bin/termbridge")
            # What uvx and pipx run.
            self.assertIn("termbridge ", self.place.run(self.place.home / "venv/bin/termbridge-mcp", "--version"))
        else:
            folder = self.place.home / "packages"
            platform = TARGET.wheel.split(".")[0]
            self.place.run(
                sys.executable, "-m", "pip", "install", *options, "--platform", platform, "--only-binary", ":all:", "--target", folder,
                "--find-links", dist(), "termbridge-mcp",
            )
            self.works(*self.place.emulated(folder / "bin/termbridge"))

    def test_deb(self) -> None:
        root = self.place.home / "root"
        deb = package(f"termbridge_V_{TARGET.deb}.deb")
        if os.geteuid() == 0:
            database = root / "var/lib/dpkg"
            for folder in ["info", "updates"]:
                (database / folder).mkdir(parents=True)
            (database / "status").touch()
            self.place.env["PATH"] += ":/usr/sbin:/sbin"
            self.place.run("dpkg", f"--root={root}", "--force-architecture", "--log=/dev/null", "--install", deb)
            listed = self.place.run("dpkg", f"--root={root}", "--verify", "termbridge")
            self.assertEqual(listed, "")
        else:
            self.place.run("dpkg-deb", "--extract", deb, root)
        self.works(*self.place.emulated(root / "usr/bin/termbridge"))
        unit = (root / "usr/lib/systemd/user/termbridge.service").read_text()
        self.assertIn("ExecStart=/usr/bin/termbridge serve", unit)
        for name in ["man/man1/termbridge.1.gz", "man/man1/termbridge-history-show.1.gz", "bash-completion/completions/termbridge"]:
            self.assertTrue((root / "usr/share" / name).is_file(), name)

    def test_bundle(self) -> None:
        folder = self.place.home / "bundle"
        with zipfile.ZipFile(package(f"termbridge-V-{TARGET.npm}.mcpb")) as bundle:
            for entry in bundle.infolist():
                path = Path(bundle.extract(entry, folder))
                path.chmod(entry.external_attr >> 16)
        self.place.run(TOOLS / "mcpb", "validate", folder / "manifest.json")
        server = json.loads((folder / "manifest.json").read_text())["server"]
        self.assertTrue((folder / server["entry_point"]).is_file())
        config = server["mcp_config"]
        program = config["command"].replace("${__dirname}", str(folder))
        initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        messages = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ]
        # The end of input comes behind the last request; the server answers what it has read and ends.
        lines = "".join(json.dumps(message) + "\n" for message in messages)
        printed = self.place.run(*self.place.emulated(Path(program)), *config["args"], input=lines)
        replies = {reply.get("id"): reply for reply in map(json.loads, printed.splitlines())}
        self.assertEqual(replies[1]["result"]["serverInfo"]["version"], build.VERSION)
        names = [tool["name"] for tool in replies[2]["result"]["tools"]]
        self.assertIn("execute_command", names)
