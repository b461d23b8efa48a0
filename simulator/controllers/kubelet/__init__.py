"""The kubelets (pkg/kubelet). Each class here acts for the kubelets of all nodes."""
