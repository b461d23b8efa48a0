"""What the tests of languages know of them."""

import re
from typing import Final

from django.conf.locale import LANG_INFO

NAMES: Final = frozenset(
    re.findall(
        r"\w+",
        """
    Pod Pods Deployment Job ReplicaSet PriorityClass PodDisruptionBudget PDB Node YAML CPU GPU API Redis ID
    activeQ backoffQ Informer Permit PreFilter PreBind PreferNoSchedule NoSchedule NoExecute UTC Esc Cookie MB
    Kubernetes kubectl describe kubelet Init cpu memory pods key value Effect selector schedviz generateName
    FIFO MIG QueueingHint percentageOfNodesToScore
    globalDefault preemptionPolicy maxSkew whenUnsatisfiable topologyKey minAvailable in example com quota
    NodeResourcesFit RequestedToCapacityRatio default scheduler NodeResourcesBalancedAllocation
    NodeDeclaredFeatures TaintToleration
    train render web shop workers scratch checkout my cluster
    Secret get create drain until preemption pod kind node ctrl scheduling k8s io Namespace
    ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass PostFilter CEL firstAvailable adminAccess
    matchAttribute distinctAttribute device driver attributes capacity claim template for where
    gpu gpus numa all ConfigMap PodGroup Workload gang minCount basic Coscheduling Gang disruptionMode
    placement rack GenericWorkload GangScheduling TopologyAwareWorkloadScheduling Alpha
    Filter Score NormalizeScore NodeAffinity Reserve Bind BestEffort QoS nodeSelector IgnoredDuringExecution
    """,
    )
)
"""Words that no language translates: names of Kubernetes, of its fields, and of the objects in scenarios. In
the
official Chinese documentation they are in English, too."""

SAME: Final = {
    "de": frozenset(
        re.findall(
            r"\w+",
            """
    Name Zone Taints Labels Tolerations Scheduler Plugins Pause max daemon Scores Trace JSON Lines Sandboxes
    Leader
    Levels Handout Zoom Taint Label live Log Moment Events Code online offline Sandbox Plan Links
    PodDisruptionBudgets Namespaces Nodes Preemption min ms nvidia
    """,
        )
    )
}
"""Language -> its words that are English ones, too."""


def has_own_script(language: str) -> bool:
    """Whether English words can be told from those of the language by their letters."""
    return not re.search("[A-Za-z]", LANG_INFO[language]["name_local"])


def english_words(text: str) -> list[str]:
    """Return the words in Latin letters that are no names."""
    found = re.findall(r"[A-Za-z][A-Za-z']+", re.sub(r"\S*=\S*|[a-z]+-\d|\d+[KMGT]i", "", text))
    return [word for word in found if word not in NAMES]
