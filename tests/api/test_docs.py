"""docs/API.md says what the code does."""

import inspect
import re
from collections import Counter
from pathlib import Path

from schedviz.api import urls
from schedviz.limit_settings import DEFAULTS
from simulator.apiserver import admission, bounds, object_meta_validation, status
from simulator.apiserver.resources import BUILT_IN

TEXT = (Path(__file__).parents[2] / "docs" / "API.md").read_text()


def test_each_reason_and_its_code_is_documented() -> None:
    for _, error in inspect.getmembers(status, inspect.isclass):
        if issubclass(error, status.StatusError) and error is not status.StatusError:
            assert f"`{error.reason}`" in TEXT
            assert str(error.code) in TEXT


def test_each_limit_is_documented() -> None:
    for limit in (
        f"{bounds.MAX_BYTES // 1024} KiB",
        f"{bounds.MAX_OBJECT_BYTES / (1 << 20)} MiB, as etcd",
        f"{admission.MAX_COPIES:,}",
        f"{bounds.MAX_DEPTH}",
        f"{bounds.MAX_NODES:,}",
        f"{DEFAULTS['MAX_WATCHES']:,}",
        f"{object_meta_validation.MAX_ANNOTATIONS_BYTES // 1024} KiB",
    ):
        assert f"| {limit} |" in TEXT
    assert f"| {bounds.MAX_BODY_BYTES >> 20} MiB, as kube-apiserver" in TEXT


def test_each_kind_is_of_one_sort() -> None:
    rows = re.findall(r"^\| (?:simulated|kept) \| (.*) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 2
    words = Counter(re.findall(r"\w+", " ".join(rows)))
    assert [kind for kind in {each.kind for each in BUILT_IN} if words[kind] != 1] == []


def test_each_path_is_documented() -> None:
    for pattern in urls.urlpatterns:
        words = [
            word
            for word in ("healthz", "readyz", "version", "trace", "recording", "scheduler", "openapi", "api")
            if word in str(pattern.pattern)
        ]
        assert words
        assert f"/{words[0]}" in TEXT
