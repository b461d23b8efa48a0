"""The settings with accounts, by which mypy knows their models."""

import os

os.environ["ACCOUNTS"] = "1"

from schedviz.settings import *  # noqa: F403
