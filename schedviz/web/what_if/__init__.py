"""The answers to what-if questions, and what came of an applied one."""
