"""CEL as Kubernetes has it (cel-go v0.26; apiserver/pkg/cel)."""
