"""Quantities with a unit that is not meant, or that does not exist."""

import pytest

from schedviz.api import write
from schedviz.store import Sandbox
from schedviz.web.forms.form_and_yaml import with_positions
from schedviz.web.forms.node import NodeForm
from schedviz.web.forms.unit_mistakes import find_unit_mistakes
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.status import StatusError


def test_a_valid_unit_that_is_probably_a_mistake_gets_a_hint() -> None:
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: main
      resources:
        requests:
          cpu: 500M
          memory: 512m
        limits: {memory: 512Mi, cpu: 500m}
"""
    (manifest,) = parse_manifests(text)
    requests = "spec.containers[0].resources.requests"
    assert [*with_positions(text, [find_unit_mistakes(manifest)])] == [
        f"Line 9, column 11: {requests}[cpu]: 500M is 500,000,000 CPUs. Did you mean 500m?",
        f"Line 10, column 11: {requests}[memory]: 512m is 0.512 bytes. Did you mean 512Mi?",
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1gb", '"1Gi" or "1G"'),
        ("512MB", '"512Mi" or "512M"'),
        ("1.5 Gi", '"1.5Gi"'),
        ("1,5", '"1.5"'),
        ("64mib", '"64Mi"'),
        ("100K", '"100Ki" or "100k"'),
        ("2 cores", '"2"'),
        ("250millicores", '"250m"'),
        ("much", ""),
    ],
)
def test_an_invalid_quantity_gets_the_quantity_that_was_probably_meant(
    sandbox: Sandbox, text: str, meant: str
) -> None:
    manifest = NodeForm.start(sandbox)
    manifest["status"]["allocatable"]["memory"] = text
    with pytest.raises(StatusError) as refused:
        write.create(sandbox, [NodeForm.start(sandbox), manifest], dry_run=True)
    (cause,) = refused.value.causes
    assert refused.value.document == 1
    assert cause.message.endswith(f"; did you mean {meant}?") == bool(meant)
