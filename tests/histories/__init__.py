"""Recorded histories: what the simulator put out, to the byte, for inputs that are the same each time.

    python -m tests.histories check [NAME...]     # run them again; the first difference of each is printed
    python -m tests.histories record [NAME...]    # write the files of those that differ, and say which

A history is a list of lines: every write, trace event, decision and queue place, in order. Its inputs follow
from a seed, a scenario or the conformance suites. The lines are kept under ``recorded/``, one file for each
history, and pytest compares what the simulator puts out with them. After a change of what the simulator does,
run ``record``; the commit names each change that it prints, and says why.

The simulator is used only through its outside (Simulation, Term, admission, the commands), so that its inside
may be rebuilt without a change here.
"""
