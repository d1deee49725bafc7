#!/usr/bin/python3
"""A language server for tests: knows lines that begin with `func`, and does what `behaviour` says.

It works in the folder of the project: `behaviour` is read at each request, `edit.json` is the answer
to a rename, and `log` gets a line for each message and the numbers of its processes.
"""

import json
import os
import re
import signal
import subprocess
import sys


def say(**fields):
    body = json.dumps({"jsonrpc": "2.0", **fields}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def log(line):
    with open("log", "a", encoding="utf-8") as file:
        file.write(line + "\n")


def behaviour():
    try:
        with open("behaviour", encoding="utf-8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def text_of(uri):
    if uri in documents:
        return documents[uri]
    with open(uri.removeprefix("file://"), encoding="utf-8") as file:
        return file.read()


def symbols(text):
    found = []
    for number, line in enumerate(text.splitlines()):
        match = re.match(r"func (\w+)", line)
        if match:
            place = lambda at: {"line": number, "character": at}
            whole = {"start": place(0), "end": place(len(line))}
            name = {"start": place(match.start(1)), "end": place(match.end(1))}
            found.append({"name": match[1], "kind": 12, "range": whole, "selectionRange": name})
    return found


def uses(uri, name):
    found = []
    for number, line in enumerate(documents[uri].splitlines()):
        for match in re.finditer(rf"\b{name}\b", line):
            place = lambda at: {"line": number, "character": at}
            found.append({"uri": uri, "range": {"start": place(match.start()), "end": place(match.end())}})
    return found


def misbehave(how):
    if how == "die":
        sys.stderr.write("the last words\n")
        sys.stderr.flush()
        os._exit(3)
    if how == "garbage":
        sys.stdout.buffer.write(b"this is not a header\r\n\r\n")
        sys.stdout.buffer.flush()
    if how == "not json":
        sys.stdout.buffer.write(b"Content-Length: 3\r\n\r\n{]}")
        sys.stdout.buffer.flush()
    if how == "huge":
        sys.stdout.buffer.write(b"Content-Length: 99999999999\r\n\r\n")
        sys.stdout.buffer.flush()


documents = {}
too_early = 2
# It holds the output open when this process dies.
child = subprocess.Popen(["/bin/sleep", "1000"], stdin=subprocess.DEVNULL)
log(f"started {os.getpid()} {child.pid}")
while True:
    length = None
    while True:
        header = sys.stdin.buffer.readline()
        if not header:
            sys.exit(0)
        if header == b"\r\n":
            break
        if header.lower().startswith(b"content-length:"):
            length = int(header.split(b":")[1])
    message = json.loads(sys.stdin.buffer.read(length))
    method, params = message.get("method"), message.get("params", {})
    log(method or f"answer {json.dumps(message.get('result', message.get('error')))}")
    if method == "textDocument/didOpen":
        documents[params["textDocument"]["uri"]] = params["textDocument"]["text"]
    elif method == "textDocument/didChange":
        documents[params["textDocument"]["uri"]] = params["contentChanges"][0]["text"]
    if method == "initialized" and behaviour() == "deaf":
        signal.pause()
    if method == "initialized" and behaviour() == "building":
        say(method="experimental/serverStatus", params={"health": "ok", "quiescent": False})
        value = {"kind": "begin", "title": "Building compile-time-deps", "message": "serde"}
        say(method="$/progress", params={"token": 1, "value": value})
    if method is None or "id" not in message:
        continue
    answer = lambda result: say(id=message["id"], result=result)
    how = behaviour()
    if method == "initialize":
        if how == "die at start":
            misbehave("die")
        if how == "slow start":
            signal.pause()
        answer({"capabilities": {"renameProvider": True, "referencesProvider": True}})
        say(id="q1", method="workspace/configuration", params={"items": [{}, {}]})
        say(id="q2", method="workspace/applyEdit", params={"edit": {}})
        say(id="q3", method="what/is/this", params={})
    elif method == "textDocument/documentSymbol":
        answer(symbols(text_of(params["textDocument"]["uri"])))
    elif how in ("die", "garbage", "not json", "huge"):
        misbehave(how)
    elif how == "silent":
        pass
    elif how == "too early" and too_early > 0:
        too_early -= 1
        say(id=message["id"], error={"code": -32801, "message": "content modified"})
    elif how == "nonsense":
        answer([{"no": "location"}])
    elif method == "textDocument/references":
        uri, place = params["textDocument"]["uri"], params["position"]
        line = documents[uri].splitlines()[place["line"]]
        found = uses(uri, re.match(r"\w+", line[place["character"]:])[0])
        if how == "elsewhere":
            found.append({"uri": "untitled:1", "range": {"start": place, "end": place}})
            found.append({"uri": "file:///nowhere/x.go", "range": {"start": place, "end": place}})
        answer(found)
    elif method == "textDocument/rename":
        with open("edit.json", encoding="utf-8") as file:
            answer(json.load(file))
    else:
        say(id=message["id"], error={"code": -32601, "message": "no such method"})
