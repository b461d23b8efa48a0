"""The report on an imported cluster."""

from typing import Final

import msgspec
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from schedviz.web.text.format import number
from simulator.dumps.imported import ImportReport
from simulator.dumps.imported_kinds import KindOutcome
from simulator.dumps.kubelet_versions import nearest_version

OUTCOMES: Final[dict[KindOutcome, str | Promise]] = {
    "private": _("may contain secret values"),
    "unread": _("not used in a sandbox"),
    "unsimulated": _("a sandbox has no controller of them"),
    "admission": _("policies and webhooks are not imported"),
    "custom": _("custom resource"),
    "version": _("unknown API version"),
    "gated": _("its feature gate is off"),
    "untyped": _("no apiVersion and kind"),
}


class KindRow(msgspec.Struct, frozen=True):
    kind: str
    api_version: str
    came: int
    taken: int
    why: str
    """The reason for which the kind was not imported; "" if it was."""


class ImportView(msgspec.Struct, frozen=True):
    found: ImportReport
    kinds: int
    """The number of kinds of which objects were imported."""
    rows: list[KindRow]
    notes: list[str]
    """Differences from the real cluster, as sentences."""


def present_import(report: ImportReport) -> ImportView:
    rows = [
        KindRow(each.kind, each.api_version, each.came, each.taken, str(OUTCOMES.get(each.outcome, "")))
        for each in report.kinds
    ]
    return ImportView(report, sum(row.taken > 0 for row in rows), rows, notes(report))


def notes(report: ImportReport) -> list[str]:
    counted = (
        (
            report.orphaned,
            ngettext(
                "The owner of %(n)s object was not in the file: no controller will recreate it.",
                "The owners of %(n)s objects were not in the file: no controller will recreate them.",
                report.orphaned,
            ),
        ),
        (
            report.stray,
            ngettext(
                "%(n)s pod is bound to a node that was not in the file, and is not shown.",
                "%(n)s pods are bound to nodes that were not in the file, and are not shown.",
                report.stray,
            ),
        ),
        (
            report.namespaces,
            ngettext(
                "%(n)s namespace was not in the file, and was created without labels.",
                "%(n)s namespaces were not in the file, and were created without labels.",
                report.namespaces,
            ),
        ),
        (
            report.claiming,
            ngettext(
                "The ResourceClaim of %(n)s pod was not in the file.",
                "The ResourceClaims of %(n)s pods were not in the file.",
                report.claiming,
            ),
        ),
        (
            report.repeated,
            ngettext(
                "%(n)s object was in the file twice; the first one was imported.",
                "%(n)s objects were in the file twice; the first ones were imported.",
                report.repeated,
            ),
        ),
    )
    found = [text % {"n": count} for count, text in counted if count]
    if version := nearest_version(report.kubelets):
        text = gettext(
            "The kubelets are %(versions)s. So the version of the sandbox is %(version)s, if no other one "
            "was chosen."
        )
        counts = sorted(report.kubelets.items(), key=lambda each: -each[1])
        versions = ", ".join(f"{name} ({number(count)})" for name, count in counts)
        found.insert(0, text % {"versions": versions, "version": version.name})
    for name, count in report.schedulers.items():
        text = ngettext(
            "%(n)s pending pod waits for the scheduler “%(name)s”, which this sandbox does not have.",
            "%(n)s pending pods wait for the scheduler “%(name)s”, which this sandbox does not have.",
            count,
        )
        found.append(text % {"n": count, "name": name})
    return found
