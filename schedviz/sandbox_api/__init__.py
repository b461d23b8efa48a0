"""The HTTP API for sandboxes: create, list, branch and delete them, move their time, and read their trace and
the explanations of pods (docs/SANDBOX_API.md). Their objects are served by Kubernetes' API
(:mod:`schedviz.api`)."""
