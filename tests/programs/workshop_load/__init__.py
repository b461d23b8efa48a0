"""A workshop on the real processes: ``python -m tests.programs.workshop_load``, or ``make workshop-load``.

A teacher opens a room for a lesson, and learners join it: each has cookies, a page with its websocket, and
goes through the whole lesson over HTTP, as the scripts of the page do. The teacher's view is open meanwhile.
The processes, the clients and the tables are those of the load. docs/BENCHMARKS.md says how to run it.
"""
