"""Runs a module as ``python -m`` does, on a machine whose wall clock is wrong: ``python -m tests.skewed 60
celery worker`` is a minute ahead."""

import runpy
import sys
import time

if __name__ == "__main__":
    right, right_ns = time.time, time.time_ns
    seconds = int(sys.argv[1])
    time.time = lambda: right() + seconds
    time.time_ns = lambda: right_ns() + seconds * 1_000_000_000
    sys.argv[:] = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
