"""Where a declaration of C and C++ ends, by its source."""

import re

import lldb

LANGUAGES = {
    getattr(lldb, "eLanguageTypeC" + version, None)
    for version in ("", "89", "99", "11", "17", "23", "_plus_plus", "_plus_plus_03", "_plus_plus_11", "_plus_plus_14", "_plus_plus_17", "_plus_plus_20")
} - {None}
# What may hold brackets that are text.
TOKEN = re.compile(r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|[][(){};]', re.DOTALL)
# Lines that a declaration may take.
MOST_LINES = 500
# Bytes of a source file that is read.
MOST_BYTES = 8 << 20
# The lines of source files, and the last lines of declarations by file, line and name.
SOURCES = {}
ENDS = {}


def is_c_or_cpp(frame):
    """Whether a frame is of C or C++."""
    return frame.GetCompileUnit().GetLanguage() in LANGUAGES


def last_line(frame, value):
    """The line in which the declaration of a variable ends; the one in which it begins where that is not known."""
    declaration = value.GetDeclaration()
    line = declaration.GetLine()
    if not is_c_or_cpp(frame):
        return line
    key = (declaration.GetFileSpec().fullpath, line, value.GetName())
    if key not in ENDS:
        text = "".join(source(key[0])[line - 1 : line - 1 + MOST_LINES])
        # Not every compiler tells the column.
        name = re.search(rf"\b{re.escape(value.GetName() or '')}\b", text.split("\n")[0])
        ENDS[key] = line + (text.count("\n", 0, end_of(text, name.end())) if name else 0)
    return ENDS[key]


def is_of_thread(value):
    """Whether a variable of C and C++ is declared with the lifetime of its thread."""
    declaration = value.GetDeclaration()
    lines = source(declaration.GetFileSpec().fullpath)[: declaration.GetLine()]
    return bool(lines) and re.search(r"\b(thread_local|_Thread_local|__thread)\b", lines[-1]) is not None


def is_end_of_block(frame, file, line):
    """Whether a line begins with the closing brace of a block."""
    if not is_c_or_cpp(frame):
        return False
    lines = source(file.fullpath)
    return line <= len(lines) and lines[line - 1].lstrip().startswith("}")


def end_of(text, at):
    """Where the statement that a text has at a place ends; at its beginning if it does not end."""
    depth = 0
    for token in TOKEN.finditer(text, at):
        if token[0] in ("(", "[", "{"):
            depth += 1
        elif token[0] in (")", "]", "}"):
            depth -= 1
        # The bracket around the declaration of a `for` or an `if`, or of a parameter, ends it too.
        if depth < 0 or (depth == 0 and token[0] == ";"):
            return token.start()
    return 0


def source(path):
    """The lines of a source file; none if it cannot be read."""
    if path not in SOURCES:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                SOURCES[path] = file.read(MOST_BYTES).splitlines(keepends=True)
        except (OSError, TypeError):
            SOURCES[path] = []
    return SOURCES[path]
