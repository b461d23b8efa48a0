"""The tone of a line of the log."""

from typing import Literal

Tone = Literal["", "good", "bad", "warn", "quiet"]
