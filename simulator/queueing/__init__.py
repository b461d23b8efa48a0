"""The scheduling queue of kube-scheduler (pkg/scheduler/backend/queue).

:mod:`simulator.queueing.scheduling_queue` has the main class, :mod:`simulator.queueing.older_queues` the
queues of older versions."""
