"""Values that are a number or a percentage of a total: ``2`` or ``"25%"`` (GetScaledValueFromIntOrPercent,
apimachinery/pkg/util/intstr/intstr.go, v1.34)."""


def scaled_value_rounded_up(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else -(-int(value.removesuffix("%")) * total // 100)


def scaled_value_rounded_down(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else int(value.removesuffix("%")) * total // 100
