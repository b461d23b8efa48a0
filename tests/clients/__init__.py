"""Client libraries at work against a sandbox: the official ones for JavaScript and Python, kr8s, lightkube,
kopf."""
