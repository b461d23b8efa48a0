"""Label selectors (staging/src/k8s.io/apimachinery/pkg/labels/selector.go).

Selectors are immutable and hashable. They are used as keys of caches, so that a selector is matched against
the cluster's columns once, and not once per pod.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

Labels = Mapping[str, str]


class Requirement(NamedTuple):
    """One expression. ``operator`` is In, NotIn, Exists, DoesNotExist, Gt or Lt; ``values`` are sorted."""

    key: str
    operator: str
    values: tuple[str, ...]

    def matches(self, labels: Labels) -> bool:
        return self.matches_value(labels.get(self.key))

    def matches_value(self, value: str | None) -> bool:
        """Whether a label of this value (None = no such label) satisfies the expression. An unknown operator
        matches nothing."""
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return value is not None and self._compares(value)
        return False

    def __str__(self) -> str:
        """Return the requirement as labels.Requirement.String writes it: ``app=web``, ``app in (a,b)``,
        ``!app``."""
        one, values = ",".join(self.values), f"({','.join(self.values)})"
        match self.operator:
            case "In":
                return f"{self.key}={one}" if len(self.values) == 1 else f"{self.key} in {values}"
            case "NotIn":
                return f"{self.key}!={one}" if len(self.values) == 1 else f"{self.key} notin {values}"
            case "DoesNotExist":
                return f"!{self.key}"
            case "Gt" | "Lt":
                return f"{self.key}{'>' if self.operator == 'Gt' else '<'}{one}"
        return self.key

    def _compares(self, value: str) -> bool:
        have, want = parse_int64(value), parse_int64(self.values[0]) if len(self.values) == 1 else None
        if have is None or want is None:
            return False
        return have > want if self.operator == "Gt" else have < want


def parse_int64(text: str) -> int | None:
    """Parse an integer as strconv.ParseInt(text, 10, 64) does; None if that returns an error."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 400:
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


def parse_requirement(manifest: Mapping[str, Any]) -> Requirement:
    """Parse one of a selector's ``matchExpressions``."""
    return Requirement(manifest["key"], manifest["operator"], tuple(sorted(manifest.get("values") or ())))


class Selector(NamedTuple):
    """A conjunction of requirements. An empty selector matches everything."""

    requirements: tuple[Requirement, ...]

    @property
    def empty(self) -> bool:
        return not self.requirements

    def matches(self, labels: Labels) -> bool:
        return all(r.matches_value(labels.get(r.key)) for r in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def with_requirements(self, *more: Requirement) -> "Selector":
        return Selector(tuple(sorted(set(self.requirements) | set(more))))


EVERYTHING = Selector(())
"""The empty selector (labels.Everything)."""


def set_selector(labels: Labels) -> Selector:
    """Return the selector for objects with all of these labels (labels.SelectorFromSet)."""
    return Selector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items())))


def label_selector(manifest: Mapping[str, Any] | None) -> Selector | None:
    """Parse a LabelSelector (metav1.LabelSelectorAsSelector). None, which matches nothing, for a missing
    one."""
    if manifest is None:
        return None
    requirements = {
        Requirement(key, "In", (value,)) for key, value in (manifest.get("matchLabels") or {}).items()
    }
    requirements.update(
        parse_requirement(expression) for expression in manifest.get("matchExpressions") or ()
    )
    return Selector(tuple(sorted(requirements)))


def selector_text(manifest: Mapping[str, Any] | None) -> str:
    """Return a LabelSelector as Kubernetes writes it (LabelSelectorAsSelector, then String): ``app=web``,
    ``tier in (front),!beta``. A pair of ``matchLabels`` and an expression with one value are written
    differently. "" for a selector that is empty or missing."""
    given = manifest or {}
    parts = [(key, f"{key}={value}") for key, value in (given.get("matchLabels") or {}).items()]
    for expression in given.get("matchExpressions") or ():
        key, values = expression["key"], f"({','.join(sorted(expression.get('values') or ()))})"
        text = {"In": f"{key} in {values}", "NotIn": f"{key} notin {values}", "DoesNotExist": f"!{key}"}
        parts.append((key, text.get(expression["operator"], key)))
    return ",".join(text for _, text in sorted(parts, key=lambda part: part[0]))
