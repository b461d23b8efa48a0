"""Preemption: selects a node and the pods to evict there. It does not evict them; see scheduler/evict.py.

pkg/scheduler/framework/preemption/preemption.go and pkg/scheduler/framework/plugins/defaultpreemption.
"""
