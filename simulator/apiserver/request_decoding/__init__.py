"""Decoding of the bodies of requests as kube-apiserver decodes them: its error texts, unknown and repeated
fields (apimachinery/pkg/runtime/serializer/json/json.go)."""
