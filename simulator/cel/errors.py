"""The errors of expressions that do not compile, and of evaluations that end without a value. Their texts are
cel-go's."""


class EvaluationError(Exception):
    """An evaluation ended without a value."""


class ExpressionError(EvaluationError):
    """A part of an expression has no value. Operators such as ``||`` may still have one."""


class CostExceeded(EvaluationError):
    """The evaluation would take too much time or memory. No operator continues after this error."""


class CompileFault(Exception):
    """An expression does not compile. The message is upstream's."""


def no_such_overload(function: str = "") -> ExpressionError:
    """Return the error for a value of a type for which there is no function."""
    return ExpressionError(f"no such overload: {function}" if function else "no such overload")


def cost_exceeded() -> CostExceeded:
    return CostExceeded("operation cancelled: actual cost limit exceeded")
