"""The completion indexes of an Indexed Job (pkg/controller/job/indexed_job_utils.go, v1.34)."""

from simulator.api import Manifest

INDEX = "batch.kubernetes.io/job-completion-index"


def give_index(pod: Manifest, manifest: Manifest, index: int) -> None:
    metadata = pod["metadata"]
    metadata.setdefault("annotations", {})[INDEX] = str(index)
    metadata.setdefault("labels", {})[INDEX] = str(index)
    metadata["generateName"] = f"{manifest['metadata']['name']}-{index}-"


def index_of(pod: Manifest) -> int:
    """-1 for a pod that has none."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isascii() and text.isdigit() else -1


def completed_indexes(job: Manifest) -> set[int]:
    """``0-2,5`` read back."""
    return parse_ranges((job.get("status") or {}).get("completedIndexes", ""))


def as_ranges(indexes: set[int]) -> str:
    """``0-2,5``: runs of three and more are contracted."""
    runs: list[list[int]] = []
    for index in sorted(index for index in indexes if index >= 0):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    parts = (f"{r[0]}-{r[-1]}" if len(r) > 2 else ",".join(map(str, r)) for r in runs)
    return ",".join(parts)


def parse_ranges(text: str) -> set[int]:
    """``0-2,5`` read back. Raises ValueError."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
