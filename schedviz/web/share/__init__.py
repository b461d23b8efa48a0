"""The links of a sandbox, and its kubeconfig."""
