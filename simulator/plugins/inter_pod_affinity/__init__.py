"""InterPodAffinity (pkg/scheduler/framework/plugins/interpodaffinity, v1.34)."""

from simulator.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
