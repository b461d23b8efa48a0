"""The report on an imported cluster."""

from typing import Final

import msgspec
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from simulator.dumps.imported import Fate, ImportReport

FATES: Final[dict[Fate, str | Promise]] = {
    "private": _("may hold secrets"),
    "unread": _("nothing here reads it"),
    "unsimulated": _("not simulated"),
    "custom": _("custom resource"),
    "version": _("version not known"),
    "untyped": _("no apiVersion and kind"),
}


class KindRow(msgspec.Struct, frozen=True):
    kind: str
    api_version: str
    came: int
    taken: int
    why: str
    """Why the kind was not imported; empty if it was."""


class ImportView(msgspec.Struct, frozen=True):
    taken: int
    came: int
    kinds: int
    """The number of kinds of which objects were imported."""
    rows: list[KindRow]
    notes: list[str]
    """Differences from the real cluster, as sentences."""
    refused: list[str]
    refusals: int
    dropped: list[tuple[str, int]]


def present_import(report: ImportReport) -> ImportView:
    rows = [
        KindRow(each.kind, each.api_version, each.came, each.taken, str(FATES.get(each.fate, "")))
        for each in report.kinds
    ]
    return ImportView(
        taken=report.taken,
        came=report.came,
        kinds=sum(row.taken > 0 for row in rows),
        rows=rows,
        notes=notes(report),
        refused=report.refused,
        refusals=report.refusals,
        dropped=[*report.dropped.items()],
    )


def notes(report: ImportReport) -> list[str]:
    counted = (
        (
            report.orphaned,
            ngettext(
                "%(n)s object has lost its owner, which was not in the text: nobody makes it anew.",
                "%(n)s objects have lost their owners, which were not in the text: nobody makes them anew.",
                report.orphaned,
            ),
        ),
        (
            report.stray,
            ngettext(
                "%(n)s pod is bound to a node that was not in the text, and is not drawn.",
                "%(n)s pods are bound to nodes that were not in the text, and are not drawn.",
                report.stray,
            ),
        ),
        (
            report.namespaces,
            ngettext(
                "%(n)s namespace was not in the text and is made, without labels.",
                "%(n)s namespaces were not in the text and are made, without labels.",
                report.namespaces,
            ),
        ),
        (
            report.claiming,
            ngettext(
                "%(n)s pod claims devices (resourceClaims), which are not simulated.",
                "%(n)s pods claim devices (resourceClaims), which are not simulated.",
                report.claiming,
            ),
        ),
        (
            report.repeated,
            ngettext(
                "%(n)s object came twice; the first counts.",
                "%(n)s objects came twice; the first counts.",
                report.repeated,
            ),
        ),
    )
    found = [text % {"n": count} for count, text in counted if count]
    for name, count in report.schedulers.items():
        text = ngettext(
            "%(n)s pending pod waits for the scheduler “%(name)s”, which is not here.",
            "%(n)s pending pods wait for the scheduler “%(name)s”, which is not here.",
            count,
        )
        found.append(text % {"n": count, "name": name})
    return found
