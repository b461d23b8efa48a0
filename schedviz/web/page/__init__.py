"""The live page: its parts together, the page as HTTP serves it, and past moments."""
