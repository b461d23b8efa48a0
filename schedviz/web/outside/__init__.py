"""How to connect an outside scheduler."""
