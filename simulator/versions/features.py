"""Features: a version with its feature gates, for the components that depend on them (plfeature.Features in
pkg/scheduler/framework/plugins/feature/feature.go)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from msgspec import UNSET, UnsetType

from simulator.versions.feature_gates import check_gates, feature_gates
from simulator.versions.kubernetes_version import V1_34_1, VERSIONS, KubernetesVersion, find_version

FEATURES_CACHED: Final = 32
"""Number of versions with their gates for which a cache keeps what depends on them. Users choose gates."""


class Features:
    """Immutable; equal where version and gates are."""

    def __init__(self, version: KubernetesVersion, gates: Mapping[str, bool] | None = None) -> None:
        """``gates``: those that are set; the others have their default. Raises FeatureGateError."""
        self.version = version
        self.gates = dict(gates or {})
        self._values = check_gates(version.name, self.gates)
        self._key = (version, *sorted(self.gates.items()))

    def enabled(self, gate: str) -> bool:
        """Return whether a gate is on. A gate that the version does not have is off."""
        return self._values.get(gate, False)

    def with_gate(self, gate: str, value: bool) -> "Features":
        """Return the same with a gate set; gates that depend on one that is turned off are off, too."""
        gates = {**self.gates, gate: value}
        known = feature_gates(self.version.name)
        off = [] if value else [gate]
        for name in off:
            dependent = [each for each, known_gate in known.items() if name in known_gate.depends_on]
            off += [each for each in dependent if each not in off]
            gates |= {each: False for each in dependent if not known[each].locked}
        return Features(self.version, gates)

    @property
    def gates_text(self) -> str:
        """The gates that are set, as ``--feature-gates`` takes them: ``A=true,B=false``."""
        return ",".join(f"{name}={str(value).lower()}" for name, value in sorted(self.gates.items()))

    def __str__(self) -> str:
        """``v1.36.2, StorageCapacityScoring=true``."""
        return ", ".join((self.version.patch, *filter(None, self.gates_text.split(","))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def read_features(kubernetes: str, gates: Mapping[str, bool]) -> Features:
    """Return the features of a version, by its name, with these gates set. Raises UnknownVersion,
    FeatureGateError."""
    return Features(find_version(kubernetes), gates) if gates else _without_gates(kubernetes)


@lru_cache(maxsize=2 * len(VERSIONS) + 1)
def _without_gates(kubernetes: str) -> Features:
    return Features(find_version(kubernetes))


def chosen_features(usual: Features, kubernetes: str, gates: Mapping[str, bool]) -> Features:
    """Return the version with these gates set; "" = the usual one. Gates of ``usual`` stay set, unless the
    version is another. Raises UnknownVersion, FeatureGateError."""
    version = find_version(kubernetes) if kubernetes else usual.version
    kept = usual.gates if version == usual.version else {}
    return Features(version, {**kept, **gates})


def stored_features(kubernetes: str | UnsetType, gates: Mapping[str, bool] | UnsetType) -> Features:
    """Return the features that are stored with a sandbox or recorded. Raises UnknownVersion,
    FeatureGateError."""
    return UNSTATED_FEATURES if kubernetes is UNSET else read_features(kubernetes, gates or {})


UNSTATED_FEATURES: Final = Features(V1_34_1)
"""What is stored or recorded without a version, before there was a choice."""
DEFAULT_FEATURES: Final = Features(VERSIONS[0])
"""Those of new sandboxes, scenarios and commands that name no version."""
