"""What holds for each URL: the one table of expectations, written down without the table of routes."""

from typing import Final, NamedTuple


class Expected(NamedTuple):
    rights: str
    """The rights that GET and POST need. -: none, V: view, E: edit, O: own, T: the room's teacher."""
    changes: bool
    """Whether all POST requests, or DELETE where there is no POST, change the sandbox in the path."""
    acts: frozenset[str]
    """The values of ``do`` with which a POST request changes it, where others do not."""
    roles: str
    """The least roles of GET and POST. G: guest, L: learner, T: teacher."""


_TABLE: Final = {
    # name of the URL: rights, * or acts, roles
    "metrics": "--", "upload-lesson": "-- TT", "solution": "--", "solution-picture": "--",
    "healthz": "--", "readyz": "--", "home": "--", "set-language": "--", "create-sandbox": "-- GL",
    "workload": "-- GL", "connect": "-- TT", "connected": "-- TT", "disconnect": "-- TT",
    "play-workload": "--", "played": "--", "stop-played": "--", "played-json": "--",
    "bring": "-- GL", "compare": "--", "comparison": "--", "stop-comparison": "--", "ideas": "--",
    "documents": "--", "document": "--", "document-example": "--",
    "idea": "--", "start-idea": "-- GL", "start-guide": "-- GL", "lessons": "--", "start-lesson": "-- GL",
    "handout": "--", "lesson-notes": "--",
    "rooms": "--", "new-room": "-- TT", "room": "--", "room-qr": "--", "room-me": "--",
    "room-hint": "--", "room-signal": "--", "room-place": "--", "room-warning": "--",
    "room-personal": "--", "teach-link": "--",
    "teach": "TT", "room-act": "TT pause resume section start step state", "room-own": "TT",
    "room-results": "TT", "room-results-page": "TT", "room-questions": "TT",
    "room-projector": "TT",
    "api": "VE *", "api-version": "VE", "api-health": "VE", "openapi": "VE", "built-in-openapi": "--",
    "trace": "VE", "recording": "VE",
    "scheduler-settings": "VE *",
    "played-workloads": "--", "one-played-workload": "--",
    "sandbox-openapi": "--", "sandbox-scenarios": "--", "sandboxes": "-- GL", "one-sandbox": "VO *",
    "sandbox-branches": "VV GL", "sandbox-objects": "EE *", "sandbox-pause": "EE *",
    "sandbox-resume": "EE *", "sandbox-speed": "EE *", "sandbox-step": "EE *", "sandbox-run": "EE *",
    "sandbox-trace": "VE", "sandbox-explanation": "VE", "sandbox-question": "VV",
    "sandbox-preventions": "VV", "sandbox-questions": "VV", "sandbox-one-question": "VV",
    "sandbox": "VE", "jump": "VE", "moment": "VE", "moment-cycle": "VE", "moment-last-cycle": "VE",
    "moment-pod": "VE", "moment-nodes": "VE", "moment-node": "VE", "moment-object": "VE",
    "moment-kinds": "VE", "moment-objects": "VE", "moment-now": "VE", "moment-pending": "VE",
    "cycle": "VE", "last-cycle": "VE", "pod-group": "VE", "moment-pod-group": "VE",
    "pod": "VE", "nodes": "VE", "node": "VE", "kinds": "VE", "objects": "VE", "object": "VE",
    "pending": "VE", "imported": "VE", "leader": "VE", "outside": "VE", "guide": "VV",
    "lesson-panel": "VE undo again reset solution", "share-solution": "EE", "download": "VE",
    "download-objects": "VE", "download-manifests": "VE", "download-picture": "VE",
    "branch-now": "VV GL",
    "branch": "VV GL", "predict": "VE begin go", "what-if": "VE apply", "evicted": "VV", "scheduler": "VE *",
    "ask": "VV", "asked": "VE", "stop-asked": "VV", "asked-json": "VE", "asked-csv": "VE",
    "clock": "EE *", "command": "EE *", "command-options": "EE", "kill-leader": "EE *",
    "break-watch": "EE *", "propose": "EE", "paste": "EE *", "new": "EE *", "edit": "EE *",
    "delete-object": "EE *", "delete-pod": "EE *", "permit": "EE *", "change-node": "EE *",
    "start-over": "EE *", "undo": "EE *", "keep-sandbox": "EE",
    "delete-sandbox": "OO *", "share": "OO", "kubeconfig": "OO", "open-link": "--",
}  # fmt: skip

_WITH_ACCOUNTS: Final = {
    "account": "-- LL", "change-password": "-- LL", "log-in": "--", "log-out": "--", "sign-on": "--",
    "signed-on": "--", "reset-password": "--", "reset-sent": "--", "choose-password": "--",
}  # fmt: skip


def _read(row: str) -> Expected:
    rights, *more = row.split()
    acts = frozenset(each for each in more if each.islower())
    return Expected(rights, "*" in more, acts, next((each for each in more if each.isupper()), "GG"))


EXPECTED: Final = {name: _read(row) for name, row in _TABLE.items()}
WITH_ACCOUNTS: Final = {name: _read(row) for name, row in _WITH_ACCOUNTS.items()}
