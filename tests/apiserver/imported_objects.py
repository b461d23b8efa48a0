"""What an import takes over of a dump, for the tests."""

from simulator.api import SECOND, Manifest
from simulator.dumps.dump import Dump
from simulator.dumps.imported import Import, ImportReport, import_dump

NOW = 1_780_000_000 * SECOND


def imported(text: str | bytes) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    taken = Import(NOW, b"salt")
    for manifest in Dump(text.encode() if isinstance(text, str) else text).manifests():
        taken.take(manifest)
    return result_of(taken)


def taken_of(dump: Dump) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    return result_of(import_dump(dump, NOW, b"salt"))


def result_of(taken: Import) -> tuple[dict[tuple[str, str], Manifest], ImportReport]:
    changes = [*taken.changes()]
    return {(change.resource, change.key): change.object or {} for change in changes}, taken.report
