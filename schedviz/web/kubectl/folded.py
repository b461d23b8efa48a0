"""What a panel shows folded: the outputs of kubectl, and the object as YAML. Made where it is unfolded."""

from collections.abc import Callable

from schedviz.web.kubectl.lines import Output
from schedviz.web.manifests.yaml import to_yaml
from simulator.api import Manifest

IsUnfolded = Callable[[str], bool]
"""Whether the fold with this id of a panel is unfolded."""


def folded_yaml(manifest: Manifest, is_unfolded: IsUnfolded) -> str | None:
    """Return the text of templates/kubectl/yaml.html."""
    return to_yaml([manifest]) if is_unfolded("panel-yaml") else None


def folded_output(fold: str, line: str, make: Callable[[], str], is_unfolded: IsUnfolded) -> Output:
    return Output(fold, line, make() if is_unfolded(fold) else None)
