"""What a program is, by its file: format, processor, which shared libraries it loads, whether macOS would run it."""

import hashlib
import struct
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    format: str
    cpu: str
    # The interpreter and the shared libraries that it needs to start; a static program has none.
    libraries: tuple[str, ...]

    @property
    def is_static(self) -> bool:
        return not self.libraries


class NoProgram(ValueError):
    """The file is neither ELF nor Mach-O, or is cut short."""


ELF_CPUS = {62: "x86_64", 183: "aarch64"}
MACH_CPUS = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
MACH_LOADS = {0xC: "LC_LOAD_DYLIB", 0x80000018: "LC_LOAD_WEAK_DYLIB", 0x8000001F: "LC_REEXPORT_DYLIB"}


def read(data: bytes) -> Program:
    try:
        if data[:6] == b"\x7fELF\x02\x01":
            return elf(data)
        if data[:4] == b"\xcf\xfa\xed\xfe":
            return mach_o(data)
    except (struct.error, KeyError, ValueError) as error:
        raise NoProgram(f"a header that cannot be read: {error!r}") from error
    raise NoProgram("neither a 64-bit ELF nor a 64-bit Mach-O file")


def elf(data: bytes) -> Program:
    kind, machine = struct.unpack_from("<HH", data, 16)
    if kind not in (2, 3):
        raise ValueError(f"ELF type {kind} is not a program")
    offset, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    headers = [struct.unpack_from("<IIQQQQ", data, offset + index * size) for index in range(count)]
    loaded = [(address, start, length) for type_, _, start, address, _, length in headers if type_ == 1]

    def at(address: int) -> int:
        """Where in the file the memory at this address comes from."""
        return next(start + address - first for first, start, length in loaded if first <= address < first + length)

    needed = []
    for type_, _, start, _, _, length in headers:
        if type_ == 3:  # PT_INTERP
            needed.append(text(data, start))
        if type_ == 2:  # PT_DYNAMIC: tag and value; DT_NEEDED 1, DT_STRTAB 5
            entries = list(struct.iter_unpack("<qQ", data[start : start + length]))
            strings = next((value for tag, value in entries if tag == 5), None)
            needed += [text(data, at(strings) + value) for tag, value in entries if tag == 1]
    return Program("ELF", ELF_CPUS[machine], tuple(needed))


def mach_o(data: bytes) -> Program:
    _, cpu, _, kind, count, _, _, _ = struct.unpack_from("<8I", data)
    if kind != 2:
        raise ValueError(f"Mach-O type {kind} is not a program")
    libraries, offset = [], 32
    for _ in range(count):
        command, size, name = struct.unpack_from("<III", data, offset)
        if command in MACH_LOADS:
            libraries.append(text(data, offset + name))
        offset += size
    return Program("Mach-O", MACH_CPUS[cpu], tuple(libraries))


def is_signed(data: bytes) -> bool:
    """Whether the code of a Mach-O file is what its signature says. Macs with Apple's processors run nothing else."""
    offset, signature = 32, None
    for _ in range(struct.unpack_from("<8I", data)[4]):
        command, size = struct.unpack_from("<II", data, offset)
        if command == 0x1D:  # LC_CODE_SIGNATURE
            signature, = struct.unpack_from("<I", data, offset + 8)
        offset += size
    if signature is None:
        return False
    count, = struct.unpack_from(">I", data, signature + 8)
    for index in range(count):
        directory = signature + struct.unpack_from(">I", data, signature + 16 + 8 * index)[0]
        magic, _, _, _, first, _, _, pages, limit, size, kind, _, page = struct.unpack_from(">9I4B", data, directory)
        if magic != 0xFADE0C02 or kind != 2:  # another part, or another digest than SHA-256
            continue
        expected = [data[directory + first + one * size :][:size] for one in range(pages)]
        actual = [hashlib.sha256(data[one << page : min((one + 1) << page, limit)]).digest() for one in range(pages)]
        return expected == actual
    return False


def text(data: bytes, offset: int) -> str:
    return data[offset : data.index(0, offset)].decode()


def complaint(target: str, data: bytes) -> str | None:
    """What is wrong with a program that was built for this target, if anything."""
    try:
        program = read(data)
    except NoProgram as error:
        return str(error)
    expected = ("Mach-O" if "apple" in target else "ELF", target.split("-")[0])
    if (program.format, program.cpu) != expected:
        return f"{program.format} for {program.cpu}, not {' for '.join(expected)}"
    if target.endswith("-musl") and not program.is_static:
        return f"not static: it needs {', '.join(program.libraries)}"
    # What every Mac has; a library from elsewhere would be missing there.
    strange = [name for name in program.libraries if "apple" in target and not name.startswith(("/usr/lib/", "/System/Library/"))]
    if strange:
        return f"needs {', '.join(strange)}, which is not part of macOS"
    if target == "aarch64-apple-darwin" and not is_signed(data):
        return "its code signature is missing or does not fit, so no Mac would run it"
    if b".dep-v0" not in data:
        return "without the list of its dependencies that cargo-auditable adds"
    return None
