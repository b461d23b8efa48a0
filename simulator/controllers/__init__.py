"""The controllers of kube-controller-manager v1.34 that a small cluster cannot do without (pkg/controller).

Each keeps one kind of object true, in a file of its own; what they share is in
:mod:`simulator.controllers.controller`, and :mod:`simulator.controllers.manager` starts them all.
"""
