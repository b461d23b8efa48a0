"""The output of ``kubectl describe`` for pods and nodes, exactly as kubectl v1.36 prints it, in UTC and with
ages in simulated time.

tests/kubectl/test_described.py compares it with kubectl. Upstream: kubectl/pkg/describe/describe.go.
"""
