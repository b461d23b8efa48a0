"""Stories: requests to the API of a cluster, one after another, with the answers that were recorded of a real
kube-apiserver v1.34. A sandbox gives the same answers."""
