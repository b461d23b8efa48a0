"""The kubelets (pkg/kubelet, v1.34). Each class here acts for the kubelets of all nodes."""
