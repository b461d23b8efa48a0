"""The completion indexes of an Indexed Job (pkg/controller/job/indexed_job_utils.go, v1.34)."""

from simulator.api import Manifest
from simulator.objects.metadata import annotations_of, name_of
from simulator.objects.numbers import whole_number
from simulator.objects.status import status_of

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"


def set_index(pod: Manifest, job: Manifest, index: int) -> None:
    """Write the index to the annotations, labels and name of a new pod."""
    metadata = pod["metadata"]
    metadata.setdefault("annotations", {})[COMPLETION_INDEX] = str(index)
    metadata.setdefault("labels", {})[COMPLETION_INDEX] = str(index)
    metadata["generateName"] = f"{name_of(job)}-{index}-"


def completion_index(pod: Manifest) -> int:
    """Return the index of a pod; -1 for a pod without an index (getCompletionIndex)."""
    index = whole_number(annotations_of(pod).get(COMPLETION_INDEX, ""))
    return -1 if index is None else index


def completed_indexes(job: Manifest) -> set[int]:
    """Return the completedIndexes of the status that are below the Job's completions; none without
    indexes."""
    if job["spec"]["completionMode"] != "Indexed":
        return set()
    return parse_ranges(status_of(job).get("completedIndexes", ""), job["spec"]["completions"])


def as_ranges(indexes: set[int]) -> str:
    """Format indexes: ``0-2,5``: three and more in a row are written as a range (succeededIndexes.String)."""
    runs: list[list[int]] = []
    for index in sorted(index for index in indexes if index >= 0):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = (f"{r[0]}-{r[-1]}" if len(r) > 2 else ",".join(map(str, r)) for r in runs)
    return ",".join(parts)


def parse_ranges(text: str, completions: int) -> set[int]:
    """Return the indexes of ``0-2,5`` that are below ``completions``; parts that are no numbers are skipped
    (parseIndexesFromString)."""
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low, high = whole_number(first), whole_number(last if dash else first)
        if low is not None and high is not None:
            found.update(range(low, min(high + 1, completions)))
    return found
