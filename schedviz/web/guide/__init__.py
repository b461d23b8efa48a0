"""What leads a visitor: the hint, the box of the own act, the end of a scenario."""
