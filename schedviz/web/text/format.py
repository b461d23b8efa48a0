"""Formats amounts, times and names as Kubernetes does, in a short form."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from django.utils.translation import gettext, pgettext

from simulator.api import SECOND, Micros
from simulator.objects.amount_text import amount_text, trimmed

SAFE: Final = "[bcdfghjklmnpqrstvwxz2456789]"
"""The letters of generated names (SafeEncodeString, k8s.io/apimachinery, pkg/util/rand)."""
GENERATED: Final = re.compile(rf"(-(?:{SAFE}{{7,10}}|\d{{6,10}}))?(-{SAFE}{{5}})$")
"""The end of a generated name: the hash of a ReplicaSet or the number of a CronJob's run, and letters."""
GROUP: Final = "\u202f"
"""The narrow no-break space between groups of digits. It is a decimal sign in no language."""

DECIMAL: Final = ((10**9, "G"), (10**6, "M"), (10**3, "k"))


def number(value: int) -> str:
    """Format a number: 1000000 -> "1 000 000"."""
    return f"{value:,}".replace(",", GROUP).replace("-", "\u2212")


def short_number(value: int) -> str:
    """Return a priority beside a name: exact up to 9999, above that compact."""
    return number(value) if abs(value) < 10_000 else compact(value)


def compact(value: int) -> str:
    """Return a priority in a short form: 1000000 -> "1M", 2000001000 -> "2G"; below 1000 exact."""
    sign, size = ("\u2212", -value) if value < 0 else ("", value)
    for unit, suffix in DECIMAL:
        if size >= unit:
            return f"{sign}{trimmed(Decimal(size) / unit, 1)}{suffix}"
    return f"{sign}{size}"


def amount(resource: str, value: int) -> str:
    """Return the amount of a resource: cpu (in millicores) in cores, bytes in binary units, others
    unchanged."""
    return amount_text(resource, value).replace("-", "\u2212")


def listed(parts: Iterable[str]) -> str:
    """Return the parts as a list in the active language."""
    return pgettext("between the parts of a list", ", ").join(parts)


def requests(amounts: dict[str, int]) -> str:
    """Format requests: {"cpu": 500, "memory": 2**30} -> "0.5 cpu, 1Gi memory"."""
    shown = [f"{amount(name, value)} {name}" for name, value in amounts.items() if value and name != "pods"]
    return listed(shown) or gettext("nothing")


def clock(t: Micros) -> str:
    """Return the time of day of a simulated time, UTC, with milliseconds."""
    return f"{datetime.fromtimestamp(t // SECOND, UTC):%H:%M:%S}.{t % SECOND // 1000:03d}"


def parse_time(text: str) -> Micros:
    """Return an RFC 3339 timestamp of the API in simulated microseconds; 0 for an empty text."""
    if not text:
        return 0
    return int(datetime.fromisoformat(text).timestamp() * SECOND)


def pod_name(key: str) -> str:
    """Return a pod's key, without the namespace if that is "default"."""
    return key.removeprefix("default/")


def first_pods(keys: Sequence[str], at_most: int = 3) -> str:
    """Return the names of the first pods, as a list in a sentence, and how many more there are."""
    names = listed(pod_name(key) for key in keys[:at_most])
    more = len(keys) - at_most
    return names if more <= 0 else gettext("%(names)s and %(n)s more") % {"names": names, "n": more}


class PodName(NamedTuple):
    """The parts of a pod's name. ``namespace`` ends with a slash. ``revision``: the hash of a ReplicaSet, or
    the number of a CronJob's run. ``end``: the generated letters. Both begin with a hyphen; empty if there is
    none."""

    namespace: str
    owner: str
    revision: str
    end: str


@lru_cache(maxsize=10_000)
def split_pod_name(label: str) -> PodName:
    """Split a pod's name as controllers generate it: checkout-7d9f8b6c5-x2x7q. The whole name is the owner if
    it does not look so; the number of a StatefulSet's pod belongs to its name."""
    namespace, slash, name = label.rpartition("/")
    found = GENERATED.search(name)
    if not found or not found.start():
        return PodName(namespace + slash, name, "", "")
    return PodName(namespace + slash, name[: found.start()], found[1] or "", found[2])


def stem(label: str) -> str:
    """Return the part of a pod's name that pods of one controller share, for the first of two lines: the
    owner's name, or the name before its last hyphen; the whole name without a hyphen. Without the
    namespace."""
    name = split_pod_name(label)
    return name.owner if name.end else name.owner.rpartition("-")[0] or name.owner


def tail(label: str) -> str:
    """Return the part of a pod's name in which pods of one controller differ, with the hyphen before it;
    empty without one."""
    name = split_pod_name(label)
    return name.end or name.owner[len(stem(label)) :]
