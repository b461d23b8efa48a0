"""The sentences of the trace: the log of the live page, and what panels quote of it."""
