"""What the commands of ``python -m simulator`` share: their files, and their output as text."""
