"""Numbers that may be shares of a whole: ``2`` or ``"25%"`` (apimachinery/pkg/util/intstr)."""


def rounded_up(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else -(-int(value.removesuffix("%")) * total // 100)


def rounded_down(value: int | str, total: int) -> int:
    return value if isinstance(value, int) else int(value.removesuffix("%")) * total // 100
