"""Programs that measure, fuzz and picture the real product; tests use parts of them, in short form."""
