"""Preemption: selects a node and the pods to evict there. It does not evict them.

``plugins/default_preemption.py`` asks, in this order: ``eligibility.py`` (may this pod preempt?),
``dry_run.py`` (on which nodes, with which victims?), ``select_candidate.py`` (extenders, then the rules for
ties). The scheduler nominates the node, and ``scheduler/evict.py`` deletes the victims.

pkg/scheduler/framework/preemption/preemption.go and pkg/scheduler/framework/plugins/defaultpreemption.
"""
