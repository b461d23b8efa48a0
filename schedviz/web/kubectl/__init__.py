"""What one would type, and would be shown, at a real cluster for what is done and shown here."""
