"""The admission plugins of kube-apiserver that change or refuse requests. ``order.py`` lists them."""
