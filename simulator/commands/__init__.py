"""The commands of ``python -m simulator``, one module each."""
