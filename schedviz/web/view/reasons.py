"""The scheduler's message for a pod that fits nowhere, in our own short words.

It reads "0/6 nodes are available: 5 Insufficient cpu, 1 Too many pods. preemption: ..." (FitError.Error in
pkg/scheduler/framework/types.go, v1.34). What stands behind the reasons is for who wants it word for word.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from django.utils.translation import gettext, ngettext

AVAILABLE: Final = re.compile(r"^0/\d+ nodes are available: ")
REASON: Final = re.compile(r"(\d+) (.+?)(?=, \d+ |$)")
BEHIND: Final = re.compile(r"\.(?: |$)")
"""Ends the reasons: none of them holds a full stop before a space."""
INSUFFICIENT: Final = "Insufficient "
TAINT: Final = "node(s) had untolerated taint "

KNOWN: Final[Mapping[str, Callable[[int], str]]] = {
    "Too many pods": lambda n: ngettext(
        "%(n)s holds all the pods it may", "%(n)s hold all the pods they may", n
    ),
    "node(s) were unschedulable": lambda n: ngettext("%(n)s is cordoned", "%(n)s are cordoned", n),
    "node(s) didn't match Pod's node affinity/selector": lambda n: ngettext(
        "%(n)s does not match its affinity or selector", "%(n)s do not match its affinity or selector", n
    ),
    "node(s) didn't have free ports for the requested pod ports": lambda n: ngettext(
        "%(n)s has its host port taken", "%(n)s have its host port taken", n
    ),
    "node(s) didn't match pod anti-affinity rules": lambda n: ngettext(
        "%(n)s holds pods that it must not be with", "%(n)s hold pods that it must not be with", n
    ),
    "node(s) didn't match pod affinity rules": lambda n: ngettext(
        "%(n)s lacks the pods that it must be with", "%(n)s lack the pods that it must be with", n
    ),
    "node(s) didn't match pod topology spread constraints": lambda n: ngettext(
        "%(n)s would make the spread uneven", "%(n)s would make the spread uneven", n
    ),
}
"""By the reason's own words, which are constants of upstream's plugins."""


def short(message: str) -> str:
    """ "6 lack cpu, 1 is tainted {gpu: yes}"; the message itself where it is of no such form."""
    found = AVAILABLE.match(message)
    if found is None:
        return message
    reasons = BEHIND.split(message[found.end() :], maxsplit=1)[0]
    return ", ".join(in_words(reason[2], int(reason[1])) for reason in REASON.finditer(reasons)) or message


def in_words(reason: str, count: int) -> str:
    """One reason and the number of nodes that gave it."""
    if reason.startswith(INSUFFICIENT):
        text = ngettext("%(n)s lacks %(what)s", "%(n)s lack %(what)s", count)
        return text % {"n": count, "what": reason.removeprefix(INSUFFICIENT)}
    if reason.startswith(TAINT):
        text = ngettext("%(n)s is tainted %(what)s", "%(n)s are tainted %(what)s", count)
        return text % {"n": count, "what": reason.removeprefix(TAINT)}
    if reason in KNOWN:
        return KNOWN[reason](count) % {"n": count}
    return f"{count} {reason}"


def fits_no_node(pod: str, message: str) -> str:
    """ "web fits no node: 6 lack cpu." """
    if AVAILABLE.match(message) is None:
        return gettext("%(pod)s fits no node.") % {"pod": pod}
    return gettext("%(pod)s fits no node: %(reasons)s.") % {"pod": pod, "reasons": short(message)}
