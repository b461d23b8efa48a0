"""Programs and inputs that test and measure the scheduler: recorded inputs are answered one a line, and
clusters and workloads are made up."""

COMMANDS = ("decide", "queue", "settle")
"""The modules that are commands of ``python -m simulator``, beside those of :mod:`simulator.commands`."""
