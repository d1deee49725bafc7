#!/usr/bin/env python3
"""What the program is made of: the licences of all dependencies, and a software bill of materials.

    packaging/dependencies.py third-party TARGET... > THIRD-PARTY.md
    packaging/dependencies.py sbom TARGET > SBOM.cdx.json

Both are read from Cargo.lock and from the sources that Cargo has fetched. Build scripts and procedural macros are not
part of the program, so they are not listed. The SBOM is CycloneDX 1.5, without what differs between two runs (time, serial
number).
"""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENSE_NAME = re.compile(r"^(un)?licen[cs]e|^copying|^copyright|^notice", re.IGNORECASE)
SOURCE_SUFFIXES = {".rs", ".c", ".h", ".py", ".js", ".ts"}

# Code that is linked in and is no crate: its name, its licence, the file with the text.
BESIDE_CRATES = [
    ("The Rust standard library", "MIT OR Apache-2.0", "rust-std.txt"),
    ("musl, the C library of the programs for Linux", "MIT", "musl.txt"),
]


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    license: str
    description: str
    authors: tuple[str, ...]
    folder: Path
    depends_on: tuple[tuple[str, str], ...]
    is_ours: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.version


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments, "--locked"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def crates(target: str) -> dict[tuple[str, str], Crate]:
    """What is linked into the program for a target, by name and version."""
    tree = cargo("tree", "-p", "termbridge", "-e", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}")
    linked = {(words[0], words[1].removeprefix("v")) for line in tree.splitlines() if (words := line.split())}
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", target))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found = {}
    for id_, package in packages.items():
        key = package["name"], package["version"]
        if key not in linked:
            continue
        used = [packages[one["pkg"]] for one in nodes[id_]["deps"] if any(kind["kind"] is None for kind in one["dep_kinds"])]
        keys = {(other["name"], other["version"]) for other in used}
        found[key] = Crate(
            name=key[0],
            version=key[1],
            license=(package["license"] or "see its licence file").replace("/", " OR "),
            description=" ".join((package["description"] or "").split()),
            authors=tuple(re.sub(r" *<[^>]*>", "", author) for author in package["authors"]),
            folder=Path(package["manifest_path"]).parent,
            depends_on=tuple(sorted(keys & linked)),
            is_ours=package["source"] is None,
        )
    missing = linked - found.keys()
    if missing:
        raise SystemExit(f"dependencies: cargo tree names what cargo metadata does not: {sorted(missing)}")
    return dict(sorted(found.items()))


def license_texts(crate: Crate) -> list[str]:
    """Every licence file of a crate: what it bundles has files of its own in folders below."""
    files = [path for path in sorted(crate.folder.rglob("*")) if LICENSE_NAME.match(path.name) and path.is_file()]
    texts = [path.read_text(errors="replace") for path in files if path.suffix not in SOURCE_SUFFIXES]
    return [text.replace("\r\n", "\n").strip("\n") for text in texts if text.strip()]


def third_party(targets: list[str]) -> str:
    every = {key: crate for target in targets for key, crate in crates(target).items() if not crate.is_ours}
    users: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    without = []
    for name, license_, file in BESIDE_CRATES:
        text = (ROOT / "packaging/licenses" / file).read_text().strip("\n")
        users[as_compared(text)], shown[as_compared(text)] = [f"{name} ({license_})"], text
    for _, crate in sorted(every.items()):
        label = f"{crate.name} {crate.version} ({crate.license})"
        texts = license_texts(crate)
        if not texts:
            without.append(f"{label}, {', '.join(crate.authors) or 'no authors named'}")
        for text in texts:
            users.setdefault(as_compared(text), []).append(label)
            shown.setdefault(as_compared(text), text)
    parts = [
        "# Licences of what termbridge is built from\n\n"
        f"termbridge contains {len(every)} crates of others, the Rust standard library and, on Linux, musl. Each text below is "
        "preceded by what it is the licence of; where a crate offers a choice of licences, all of them are here.\n"
    ]
    if without:
        listed = "".join(f"- {line}\n" for line in without)
        parts.append(f"## Crates that bring no licence file\n\nTheir licence is one of the texts below.\n\n{listed}")
    for text, labels in sorted(users.items(), key=lambda item: item[1]):
        parts.append("---\n\n" + "".join(f"- {label}\n" for label in dict.fromkeys(labels)) + f"\n```text\n{shown[text]}\n```\n")
    return "\n".join(parts)


def as_compared(text: str) -> str:
    """Two texts are one if only their white space differs."""
    return " ".join(text.split())


def sbom(target: str) -> str:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    sums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    linked = crates(target)
    program = next(crate for crate in linked.values() if crate.name == "termbridge")

    def purl(key: tuple[str, str]) -> str:
        return f"pkg:cargo/{key[0]}@{key[1].replace('+', '%2B')}"

    def component(crate: Crate) -> dict[str, object]:
        is_program = crate == program
        entry: dict[str, object] = {
            "type": "application" if is_program else "library",
            "bom-ref": purl(crate.key),
            "name": crate.name,
            "version": crate.version,
            "description": crate.description,
            "licenses": [{"expression": crate.license}],
            "purl": purl(crate.key),
        }
        if checksum := sums.get(crate.key):
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return entry

    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": component(program),
            "properties": [{"name": "cdx:rustc:sbom:target:triple", "value": target}],
        },
        "components": [component(crate) for crate in linked.values() if crate != program],
        "dependencies": [{"ref": purl(crate.key), "dependsOn": [purl(key) for key in crate.depends_on]} for crate in linked.values()],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    match sys.argv[1:]:
        case ["third-party", *targets] if targets:
            sys.stdout.write(third_party(targets))
        case ["sbom", target]:
            sys.stdout.write(sbom(target))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
