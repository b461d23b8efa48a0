"""The recorded stories of the API, by category."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent.parent / "conformance" / "api"
CATEGORIES: Final = sorted(file.name.removesuffix(".jsonl.gz") for file in FOLDER.glob("*.jsonl.gz"))


def read_stories(category: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / f"{category}.jsonl.gz") as lines:
        return [json.loads(line) for line in lines]


def read_steps() -> Iterator[dict[str, Any]]:
    """The steps of all stories: requests with their responses."""
    for category in CATEGORIES:
        for story in read_stories(category):
            yield from story["steps"]
