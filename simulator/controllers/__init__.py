"""Controllers of kube-controller-manager (pkg/controller), the kubelets, and timetables.

Each is a subclass of :class:`simulator.controllers.controller.Controller`, or of
:class:`simulator.controllers.workload_controller.WorkloadController` if its objects own others.
:mod:`simulator.controllers.manager` creates them all.
"""
