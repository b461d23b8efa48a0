"""The contrast of the colours of both themes, computed as in WCAG 2.2 (1.4.3, 1.4.11)."""

import re
from itertools import product
from pathlib import Path
from typing import Final

import pytest

CSS: Final = Path(__file__).parent.parent.parent / "static" / "css"
TEXT, MARKS = 4.5, 3.0

Colour = tuple[float, float, float]


def themes() -> dict[str, dict[str, str]]:
    text = re.sub(r"\s+", " ", (CSS / "tokens.css").read_text())
    found = dict(re.findall(r"--([\w-]+): ([^;]+);", text))
    both = {
        name: re.fullmatch(r"light-dark\( ?(.+?), (?=#|color-mix)(.+?) ?\)", value)
        for name, value in found.items()
    }
    return {
        theme: {name: each[place] if each else found[name] for name, each in both.items()}
        for place, theme in enumerate(("light", "dark"), 1)
    }


def colour(tokens: dict[str, str], value: str) -> Colour:
    """The red, green and blue of "#abc", "#aabbcc", var(--name) or a color-mix of two of them."""
    if value.startswith("var("):
        return colour(tokens, tokens[value[6:-1]])
    if value.startswith("color-mix"):
        one, share, other = re.fullmatch(r"color-mix\(in srgb, (\S+) (\d+)%, (\S+)\)", value).groups()  # type: ignore[union-attr]
        part = int(share) / 100
        mixed = [
            a * part + b * (1 - part) for a, b in zip(colour(tokens, one), colour(tokens, other), strict=True)
        ]
        return mixed[0], mixed[1], mixed[2]
    digits = value[1:] if len(value) == 7 else "".join(digit * 2 for digit in value[1:])
    return int(digits[:2], 16) / 255, int(digits[2:4], 16) / 255, int(digits[4:], 16) / 255


def luminance(of: Colour) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in of)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(tokens: dict[str, str], one: str, other: str) -> float:
    high, low = sorted((luminance(colour(tokens, tokens[each])) for each in (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_contrasts_with_its_background(theme: str) -> None:
    tokens = themes()[theme]
    grounds = ("panel", "raised", "ground", "sunk", "accent-wash")
    pairs = [
        *product(("ink", "quiet"), grounds),
        *product(("accent", "good", "bad", "warn"), ("panel", "raised")),
        *((tone, f"{tone}-wash") for tone in ("good", "bad", "warn", "accent")),
        ("on-accent", "accent"),
        *((f"i{rank}", f"r{rank}") for rank in range(7)),
    ]
    weak = {pair: contrast(tokens, *pair) for pair in pairs if contrast(tokens, *pair) < TEXT}
    assert weak == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_contrast_with_their_background(theme: str) -> None:
    tokens = themes()[theme]
    pairs = product(("accent", "good", "bad", "warn", "quiet"), ("panel", "raised", "ground", "sunk"))
    assert {pair for pair in pairs if contrast(tokens, *pair) < MARKS} == set()
