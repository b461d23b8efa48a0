"""Preemption: which pods to evict, on which node. Nothing is evicted here.

pkg/scheduler/framework/preemption/preemption.go and pkg/scheduler/framework/plugins/defaultpreemption, v1.34.
"""
