"""InterPodAffinity (pkg/scheduler/framework/plugins/interpodaffinity)."""

from simulator.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
