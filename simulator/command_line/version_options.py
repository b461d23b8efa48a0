"""The options of the commands that name a version of Kubernetes and its feature gates."""

import argparse
from typing import Final

from simulator.command_line.files import InputError
from simulator.versions.feature_gates import FeatureGateError
from simulator.versions.features import DEFAULT_FEATURES, Features, chosen_features
from simulator.versions.kubernetes_version import VERSIONS, UnknownVersion

VALUES: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
"""The texts that strconv.ParseBool reads."""


def add_version_options(
    parser: argparse.ArgumentParser,
    suffix: str = "",
    default: str = f"the scenario's, or {DEFAULT_FEATURES.version.name}",
) -> None:
    """Add ``--kubernetes`` and ``--feature-gates``, with the suffix. ``default``: the version that is taken
    without the option, in words."""
    known = ", ".join(version.name for version in VERSIONS)
    help_text = f"the version: {known}; by default {default}"
    parser.add_argument(f"--kubernetes{suffix}", metavar="VERSION", help=help_text)
    add_gates_option(parser, suffix)


def add_gates_option(parser: argparse.ArgumentParser, suffix: str = "") -> None:
    parser.add_argument(
        f"--feature-gates{suffix}", default="", metavar="GATES", help="as of kube-scheduler: A=true,B=false"
    )


def features_of(
    kubernetes: str | None,
    gates: str,
    option: str = "--feature-gates",
    default: Features = DEFAULT_FEATURES,
) -> Features:
    """Return the version with its gates. Without a version the gates are set in ``default``. Raises
    InputError."""
    try:
        return chosen_features(default, kubernetes or "", parse_gates(gates))
    except UnknownVersion as failure:
        raise InputError(str(failure)) from None
    except (FeatureGateError, ValueError) as failure:
        raise InputError(f"{option}: {failure}") from None


def parse_gates(text: str) -> dict[str, bool]:
    """Parse the value of ``--feature-gates`` (Set in featuregate/feature_gate.go). Raises ValueError."""
    found = {}
    for each in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in each.partition("="))
        if not equals:
            raise ValueError(f"missing bool value for {name}")
        if value not in VALUES:
            reason = f'strconv.ParseBool: parsing "{value}": invalid syntax'
            raise ValueError(f"invalid value of {name}={value}, err: {reason}")
        found[name] = VALUES[value]
    return found
