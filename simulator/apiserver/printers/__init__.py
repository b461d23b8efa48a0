"""The columns and rows that ``kubectl get`` prints (pkg/printers/internalversion/printers.go)."""
