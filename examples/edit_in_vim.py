#!/usr/bin/env python3
"""An agent's session with vim, as any MCP client would have it; nothing but Python's own library.

    python3 examples/edit_in_vim.py [path of termbridge]

Prints each call and what came back; ends with 0 when the file on disk is what was typed.
"""

import os
import sys
import tempfile

from mcp_client import Client, program


def main():
    server = program()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        client = Client(server)
        vim = client.call(
            "launch_app", command="vim",
            # A lone Escape is one after 50 ms, as in every vim with its defaults.
            args=["-u", "NONE", "-N", "--cmd", "set ttimeout ttimeoutlen=50", "poem.txt"],
            cols=50, rows=8,
            wait={"idle_ms": 300})["session_id"]
        client.call(
            "send_keys", session_id=vim, keys="iRoses are red,<Enter>terminals are too.<Escape>",
            wait={"idle_ms": 300})
        client.call(
            "send_keys", session_id=vim, keys=":%s/red/green/<Enter>", wait={"idle_ms": 300})
        client.call("send_keys", session_id=vim, keys=":wq<Enter>", wait={"exit": True})
        with open("poem.txt", encoding="utf-8") as file:
            poem = file.read()
        print(f"poem.txt:\n{poem}", end="")
        sys.exit(0 if poem == "Roses are green,\nterminals are too.\n" else 1)


if __name__ == "__main__":
    main()
