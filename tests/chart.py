"""Renders the Helm chart, and writes the plain manifests: ``make manifests``.

gotpl runs Go's templates with Helm's functions in Python, so that neither Helm nor Go must be installed.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from gotpl.exts.helm.runtime import HelmTemplateEngine

ROOT: Final = Path(__file__).resolve().parent.parent
CHART: Final = ROOT / "deploy" / "helm" / "schedviz"
PLAIN: Final = ROOT / "deploy" / "kubernetes" / "schedviz.yaml"
RELEASE: Final = "schedviz"

HEADER: Final = """\
# schedviz with the default values of its Helm chart (docs/KUBERNETES.md). `make manifests` writes it.
"""


def default_values() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
    return values


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The values with these changes; maps are merged, as Helm does it."""
    result = dict(values)
    for name, value in changes.items():
        old = result.get(name)
        result[name] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def render(changes: Mapping[str, Any] = {}, release: str = RELEASE) -> dict[str, str]:
    """The rendered templates by file name. Raises what gotpl raises for a template that fails."""
    metadata = yaml.safe_load((CHART / "Chart.yaml").read_text())
    context = {
        "Values": merged(default_values(), changes),
        "Release": {"Name": release, "Namespace": "default", "Service": "Helm"},
        "Chart": {name[0].upper() + name[1:]: value for name, value in metadata.items()},
    }
    sources = {path.name: path.read_text() for path in sorted((CHART / "templates").iterdir())}
    engine = HelmTemplateEngine.from_sources(sources, strict=True)
    return engine.render({name: context for name in sources if not name.endswith(".tpl")})


def manifests(changes: Mapping[str, Any] = {}, release: str = RELEASE) -> list[dict[str, Any]]:
    """The objects that the chart installs, in the order of its files."""
    texts = [text for name, text in render(changes, release).items() if name.endswith(".yaml")]
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


def plain_manifests() -> str:
    """The objects of the default values as one file for kubectl, without the labels that Helm needs."""
    documents = manifests()
    for document in documents:
        _drop_helm_labels(document)
    return HEADER + yaml.safe_dump_all(documents, sort_keys=False, width=110)


def _drop_helm_labels(value: Any) -> None:
    if isinstance(value, dict):
        for label in ("helm.sh/chart", "app.kubernetes.io/managed-by"):
            value.pop(label, None)
        for each in value.values():
            _drop_helm_labels(each)
    elif isinstance(value, list):
        for each in value:
            _drop_helm_labels(each)


if __name__ == "__main__":
    PLAIN.write_text(plain_manifests())
    print(f"wrote {PLAIN.relative_to(ROOT)}")
    sys.exit(0)
