"""What a selector's evaluation may raise."""


class SelectorError(Exception):
    """An evaluation failed. The text is cel-go's."""


def no_such_overload(function: str = "") -> SelectorError:
    """A value has a type for which there is no function."""
    return SelectorError(f"no such overload: {function}" if function else "no such overload")


def cost_exceeded() -> SelectorError:
    """The evaluation would take too much time or memory."""
    return SelectorError("operation cancelled: actual cost limit exceeded")
