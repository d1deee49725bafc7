#!/usr/bin/env python3
"""An agent finds why a test fails: in six calls, with the debugger.

    python3 examples/find_bug.py [path of termbridge]

Needs a `python3` with pytest and debugpy. The "agent" is a script here, so that the transcript is the
same every time; a model would choose the same calls. Ends with 0 when the bug is proven and mended.
"""

import sys

from mcp_client import Client, program, project

CART = '''\
def discounted(amount, percent):
    return amount - amount * percent / 100


def total(items, percent=0):
    amount = sum(count * price for count, price in items)
    return discounted(amount, percent // 10)
'''

TESTS = '''\
from cart import total


def test_plain():
    assert total([(2, 5), (1, 10)]) == 20


def test_ten_percent_off():
    assert total([(2, 5), (1, 10)], percent=10) == 18
'''


def main():
    server = program()
    with project({"cart.py": CART, "test_cart.py": TESTS}):
        client = Client(server, "--shell", "bash", "--no-history", "--debug-backend", "native")
        test = "python3 -m pytest -q -p no:cacheprovider --tb=line"
        if client.call("execute_command", command=test)["exit_code"] == 0:
            sys.exit("the test was to fail")
        client.call("breakpoint_set", path="cart.py", line=2)
        stop = client.call("test_debug_single", path="test_cart.py", line=9)["data"]
        wrong = next(local for local in stop["locals"] if local["name"] == "percent")
        if wrong["value"] != "1":
            sys.exit("the bug was to show")
        # Ten percent came in as one. Is that all? With the right value the test has to pass.
        client.call("debug_evaluate", expression="percent = 10")
        end = client.call("debug_continue")["data"]
        if end["exit"]["code"] != 0:
            sys.exit("the cause was another")
        mend = f"sed -i 's:percent // 10:percent:' cart.py && {test}"
        return client.call("execute_command", command=mend)["exit_code"]


if __name__ == "__main__":
    sys.exit(main())
