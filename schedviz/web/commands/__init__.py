"""The command bar: everything that the page can do, in one line of text, as kubectl would take it or in plain
words. Parsed here; done by what the forms and the API go through."""

from schedviz.web.commands.completion import Option, complete
from schedviz.web.commands.line import Bad, Said
from schedviz.web.commands.table import COMMANDS, run

__all__ = ["COMMANDS", "Bad", "Option", "Said", "complete", "run"]
