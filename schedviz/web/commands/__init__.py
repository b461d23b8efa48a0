"""The command bar: every action of the page as one line of text, in the syntax of kubectl. This package
parses the lines and completes them; the actions are those of the forms and the API."""

from schedviz.web.commands.completion import Option, complete
from schedviz.web.commands.line import CommandError, CommandResult
from schedviz.web.commands.table import COMMANDS, run

__all__ = ["COMMANDS", "CommandError", "CommandResult", "Option", "complete", "run"]
