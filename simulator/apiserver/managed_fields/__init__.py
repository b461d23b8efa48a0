"""Field management of server-side apply: which manager owns which fields of an object.

Upstream: apimachinery/pkg/util/managedfields and sigs.k8s.io/structured-merge-diff v6.3.0 (fieldpath, typed,
merge), as kube-apiserver uses them."""
