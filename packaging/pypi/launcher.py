#!python
"""Runs the program beside this script, for `uvx termbridge-mcp` and `pipx run termbridge-mcp`."""

import os
import sys

program = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "termbridge")
os.execv(program, [program, *sys.argv[1:]])
