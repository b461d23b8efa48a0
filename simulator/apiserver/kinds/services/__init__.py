"""Services, and the addresses and ports that they get."""
