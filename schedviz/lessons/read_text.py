"""Reads the texts of a lesson from Markdown. HTML in the Markdown is shown as text, and what is rendered
passes a sanitiser."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace

from schedviz.lessons.lesson import LessonText, StepText
from schedviz.lessons.mistakes import Mistake, YamlFile
from simulator.apiserver.manifest import ManifestError, parse_documents

TAGS: Final = frozenset(
    "p ul ol li code pre em strong a blockquote br hr h4 h5 h6 table thead tbody tr th td".split()  # noqa: SIM905
)
ATTRIBUTES: Final = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES: Final = frozenset({"http", "https"})
CELLS_AT_MOST: Final = 10_000
"""Maximum number of lines of a text, times the columns of its widest table. Markdown fills short rows of a
table with cells."""
FRONT_MATTER: Final = ("title", "summary")

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
_FRONT: Final = re.compile(r"---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_STEP: Final = re.compile(r"([^\s:]+):\s+(\S.*)")
_PART: Final = re.compile(r"question|answer|check (\S+)|hint (\S+) (\S+)")


class Places(NamedTuple):
    """The lines of what a text describes, for mistakes that are found later: step -> the name of the part
    ("" = the step itself; ``question``, ``answer``, ``check ID``, ``hint CHECK HINT``, ``choice ID``) -> its
    line."""

    file: Path
    steps: dict[str, dict[str, int]]


class _Section(NamedTuple):
    level: int
    line: int
    heading: Token
    tokens: list[Token]


def read_text(path: Path, text: str) -> tuple[LessonText, Places, list[Mistake]]:
    """Return the texts of one language, the lines of their parts, and the mistakes."""
    reader = _Reader(path)
    reader.read(text)
    return (
        LessonText(reader.front.get("title", ""), reader.front.get("summary", ""), reader.steps),
        Places(path, reader.lines),
        reader.mistakes,
    )


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.mistakes: list[Mistake] = []
        self.front: dict[str, str] = {}
        self.steps: dict[str, StepText] = {}
        self.lines: dict[str, dict[str, int]] = {}

    def read(self, text: str) -> None:
        lines = text.split("\n")
        widest = max(range(len(lines)), key=lambda number: lines[number].count("|"))
        if len(lines) * lines[widest].count("|") > CELLS_AT_MOST:
            self._add(widest + 1, "a table is too wide for the number of lines of the text")
            return
        front = _FRONT.match(text)
        skipped = 0
        if front is None:
            self._add(1, "must begin with the front matter, title and summary between two lines ---")
        else:
            self._read_front(front[1])
            skipped = front[0].count("\n")
            text = text[front.end() :]
        step = ""
        for section in _sections(_MARKDOWN.parse(text), skipped):
            if section.level == 0:
                if section.tokens:
                    self._add(section.line, "a text belongs below the heading of a step: ## ID: TITLE")
            elif section.level == 1:
                self._add(section.line, "a heading of level 1: steps have headings of level 2")
            elif section.level == 2:
                step = self._begin_step(section)
            elif not step:
                self._add(section.line, "a heading of level 3 belongs below that of a step: ## ID: TITLE")
            else:
                self._read_part(step, section)

    def _add(self, line: int, message: str) -> None:
        self.mistakes.append(Mistake(self._path, line, message))

    def _read_front(self, text: str) -> None:
        try:
            fields = (parse_documents(text) or [{}])[0]
        except ManifestError as error:
            file = YamlFile(self._path, text)
            file.add_syntax_error(error)
            self.mistakes += (each._replace(line=each.line + 1) for each in file.mistakes)
            return
        for key, value in fields.items():
            if key not in FRONT_MATTER:
                self._add(1, f"{key}: unknown field")
            elif not isinstance(value, str) or not value.strip():
                self._add(1, f"{key}: must be a text")
            else:
                self.front[key] = value
        for key in FRONT_MATTER:
            if key not in fields:
                self._add(1, f"{key}: is missing")

    def _begin_step(self, section: _Section) -> str:
        found = _STEP.fullmatch(section.heading.content)
        if found is None:
            self._add(section.line, "the heading of a step is its id, a colon and its title: ## ID: TITLE")
            return ""
        step, title = found.groups()
        if step in self.steps:
            self._add(section.line, f"the step {step} is described twice")
        self.steps[step] = StepText(_plain(title), _render(section.tokens), {}, {}, choices={})
        self.lines[step] = {"": section.line}
        return step

    def _read_part(self, step: str, section: _Section) -> None:
        part = section.heading.content.strip()
        found = _PART.fullmatch(part)
        if found is None:
            wanted = "question, answer, check ID or hint CHECK HINT"
            self._add(section.line, f"{part}: a heading of level 3 must be {wanted}")
            return
        if part in self.lines[step]:
            self._add(section.line, f"{part} of the step {step} is described twice")
        if not section.tokens:
            self._add(section.line, f"{part}: has no text")
        self.lines[step][part] = section.line
        text = self.steps[step]
        if part == "question":
            self._read_question(step, section)
        elif part == "answer":
            self.steps[step] = replace(text, answer=_render(section.tokens))
        elif found[1]:
            self.steps[step] = replace(text, checks={**text.checks, found[1]: _render(section.tokens)})
        else:
            hint = f"{found[2]}/{found[3]}"
            self.steps[step] = replace(text, hints={**text.hints, hint: _render(section.tokens)})

    def _read_question(self, step: str, section: _Section) -> None:
        """Read a question: the text before the last list. The items of that list are the choices."""
        starts = [
            number
            for number, token in enumerate(section.tokens)
            if token.type == "bullet_list_open" and token.level == 0
        ]
        if not starts:
            self._add(section.line, "a question ends with the list of its choices: - `ID`: TEXT")
            return
        choices: dict[str, str] = {}
        for token in section.tokens[starts[-1] :]:
            if token.type != "inline":
                continue
            line = _line(token, section)
            identifier, text = _choice(token)
            if not identifier or token.level != 3:
                self._add(line, "a choice is one paragraph: - `ID`: TEXT")
            elif identifier in choices:
                self._add(line, f"the choice {identifier} is described twice")
            else:
                choices[identifier] = text
                self.lines[step][f"choice {identifier}"] = line
        question = _render(section.tokens[: starts[-1]])
        self.steps[step] = replace(self.steps[step], question=question, choices=choices)


def _sections(tokens: Sequence[Token], skipped: int) -> Iterator[_Section]:
    """Yield the text before the first heading, and then each heading of level 1 to 3 with the text below
    it."""
    section = _Section(0, skipped + 1, Token("inline", "", 0), [])
    rest = iter(tokens)
    for token in rest:
        if token.type == "heading_open" and token.level == 0 and int(token.tag[1]) <= 3:
            yield section
            assert token.map is not None
            heading = next(rest)
            next(rest)
            section = _Section(int(token.tag[1]), token.map[0] + 1 + skipped, heading, [])
        else:
            if token.map is not None:
                token.meta["line"] = token.map[0] + 1 + skipped
            section.tokens.append(token)
    yield section


def _line(token: Token, section: _Section) -> int:
    line: int = token.meta.get("line", section.line)
    return line


def _choice(token: Token) -> tuple[str, str]:
    """Return the id and the text of a choice; "" for another text."""
    first, *rest = token.children or [Token("text", "", 0)]
    if first.type != "code_inline" or not rest or not rest[0].content.startswith(":"):
        return "", ""
    rest[0].content = rest[0].content[1:].lstrip()
    return first.content, _clean(_MARKDOWN.renderer.render([_inline(rest)], _MARKDOWN.options, {}))


def _inline(children: list[Token]) -> Token:
    token = Token("inline", "", 0)
    token.children = children
    return token


def render_line(markdown: str) -> str:
    """Return a text of one line as safe HTML."""
    return _clean(_MARKDOWN.renderInline(markdown))


def _plain(markdown: str) -> str:
    """Return the text of a heading without its marks."""
    (token,) = _MARKDOWN.parseInline(markdown)
    return "".join(child.content for child in token.children or () if not child.nesting)


def _render(tokens: Sequence[Token]) -> str:
    return _clean(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def _clean(html: str) -> str:
    return nh3.clean(html, tags=set(TAGS), attributes=ATTRIBUTES, url_schemes=set(SCHEMES)).strip()
