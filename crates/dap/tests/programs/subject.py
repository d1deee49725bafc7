"""Debugged by the tests. The comments `mark: NAME` are how they find lines."""
import os
import subprocess
import sys
import threading


def add(a, b):
    total = a + b  # mark: add
    return total  # mark: return


def add_all():
    total = 0  # mark: start
    values = [10, 20, 30]
    for i in range(5):
        total = add(total, i)  # mark: call
    print("total", total, len(values), flush=True)  # mark: print
    return total


def crash():
    raise ValueError("planted")  # mark: crash


def work(number):
    answer = number * 2
    return answer  # mark: work


def threads():
    all_threads = [threading.Thread(target=work, args=(21,), name="worker")]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()


def loop():
    turns = 0
    print("looping", os.getpid(), flush=True)
    while True:
        turns += 1  # mark: loop


def child():
    subprocess.run([sys.executable, __file__, "sum"])


if __name__ == "__main__":
    mode = sys.argv[1]
    if mode == "sum":
        add_all()
        sys.exit(3)
    {"crash": crash, "threads": threads, "loop": loop, "child": child}[mode]()
