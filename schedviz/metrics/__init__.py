"""The metrics of this process: what is counted and measured, by Prometheus' client. Nothing here depends on
Redis. :mod:`schedviz.processes.shared_metrics` adds up those of all processes."""
