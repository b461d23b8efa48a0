"""Parses and checks selectors in Kubernetes' environment for devices (environment/base.go at 1.34 and
dynamic-resource-allocation/cel/compile.go), by the library of CEL's authors."""

import json
from typing import Final

from cel_expr_python import cel

from simulator.cel.library import LIBRARY

_EXTENSIONS: Final = ("optional", "bindings", "two-var-comprehensions")
_CONFIG: Final = {
    "extensions": [{"name": each} for each in _EXTENSIONS],
    "stdlib": {"exclude_functions": [{"name": "string"}]},
    "functions": [
        {"name": name, "overloads": [each.describe() for each in overloads]}
        for name, overloads in LIBRARY.items()
    ],
}
_DOMAINS: Final = cel.Type.Map(
    cel.Type.STRING, cel.Type.Map(cel.Type.STRING, cel.Type("google.protobuf.Any"))
)
_CAPACITY: Final = cel.Type.Map(
    cel.Type.STRING, cel.Type.Map(cel.Type.STRING, cel.Type.AbstractType("kubernetes.Quantity"))
)
ENVIRONMENT: Final = cel.NewEnv(
    config=cel.NewEnvConfigFromYaml(json.dumps(_CONFIG)),
    variables={
        "device": cel.Type.AbstractType("kubernetes.DRADevice"),
        "device.driver": cel.Type.STRING,
        "device.attributes": _DOMAINS,
        "device.capacity": _CAPACITY,
        "device.allowMultipleAllocations": cel.Type.BOOL,
    },
)
