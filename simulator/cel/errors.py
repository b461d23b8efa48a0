"""What a selector's evaluation may raise."""


class SelectorError(Exception):
    """An evaluation failed. The text is cel-go's."""


def no_such_overload(function: str = "") -> SelectorError:
    """A value has a type for which there is no function."""
    return SelectorError(f"no such overload: {function}" if function else "no such overload")


class CostExceeded(SelectorError):
    """The evaluation was ended: no operator turns this error into a value."""


def cost_exceeded() -> CostExceeded:
    """The evaluation would take too much time or memory."""
    return CostExceeded("operation cancelled: actual cost limit exceeded")
