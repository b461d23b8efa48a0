"""Questions about the whole cluster of a sandbox: the forms, the progress, and the answers."""
