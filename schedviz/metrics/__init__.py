"""The metrics of this process: what is counted and measured, by Prometheus' client. Nothing here knows Redis.
:mod:`schedviz.processes.shared_metrics` adds up those of all processes."""
