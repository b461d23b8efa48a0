"""What a load costs: ``python -m tests.programs.load``, or ``make load``.

Real processes (Redis, server, workers, job runner), and one asyncio process that does what many pages do: it
reads each page, opens its websocket, and follows the numbers of the frames as static/js/live.js does. Pods
are created over the Kubernetes API of the sandboxes. Each part of the program has processes of its own and
prints one table. docs/BENCHMARKS.md says how to run it.
"""
