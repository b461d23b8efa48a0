"""The state of a sandbox that pages show, made of small records."""
