"""The fuzz: requests of every sort, valid, broken and hostile, to the real server, worker and job runner.

    python -m tests.programs.fuzz --requests 40000 --seed 1

Each request is made from the seed and its number alone, so that a finding can be repeated. Numbers are
sent in rounds of :data:`ROUND`: number N goes to the client and the sandbox ``N % CLIENTS``. The sandboxes
are new in each round, and at the end of the round a pod in each of them must still be bound.
"""

CLIENTS = 4
"""Clients that send at the same time, each to a sandbox of its own, in the order of the numbers."""

ROUND = 800
"""Requests between two canaries: 200 for each sandbox."""
