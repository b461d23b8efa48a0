"""The scheduling queue of kube-scheduler v1.34 (pkg/scheduler/backend/queue), with its plugins' queueing
hints.

The reader enters at :mod:`simulator.queueing.scheduling_queue`; :mod:`simulator.queueing.versions` names the
older queues beside it.
"""
