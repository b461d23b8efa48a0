"""The scheduler: the scheduling loop, scheduling and binding cycles, and what follows a failure.

A cycle, a binding and an eviction are processes (:mod:`simulator.kernel.requests`). A search ends with a
ScheduleResult (``schedule_result.py``), the only thing that the scheduler reads of it: the node, or a
FitError with the candidate of preemption. The Decision (:mod:`simulator.decision`) is the record of the same
search for display: ``decision_log.py``.
"""
