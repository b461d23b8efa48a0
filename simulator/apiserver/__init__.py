"""The API server: decides each write of a cluster, as kube-apiserver does.

``server.py`` has :class:`ApiServer` with ``create``, ``update``, ``replace`` (PUT), ``patch``, ``apply``,
``delete``, ``bind``, ``evict`` and the subresources. Each returns an Admission, the changes with the
conditions for storing them, and stores nothing; ``commit.py`` stores them. All rules of a kind are in its
*strategy* in ``kinds/``, so that the write path names no kind. A POST:

1. ``admission.py``: ``decoding.py`` checks the types, ``served_versions.py`` converts to the stored version.
2. ``kinds/registry.py`` finds the strategy; ``strategy.py`` says what one can have.
3. ``defaults.py`` drops fields whose gates are off and sets defaults. ``managed_fields/`` notes the owners.
4. ``admission_plugins/order.py`` (``admit_request``): the admission plugins change the object.
5. The strategy allocates (``begin_create``) and sets what is set once (``prepare_for_create``).
6. ``validation.py``: names, metadata, and the strategy's ``validate``.
7. ``order.py`` (``validate_request``): the plugins see what is to be stored. ResourceQuota is the last.
8. ``commit.py``: stores the changes, decides again if what was read has changed meanwhile, and runs
   ``definition_controllers.py``.

``update.py`` asks the strategy for ``prepare_for_update`` and ``validate_update``; ``updated_objects.py``
makes the new object of a PATCH or an apply. ``deletion.py`` asks for the grace period and the finalizers.
``restore.py`` completes and validates objects that no request creates, such as those of an imported cluster.
Scheduler, kubelets and controllers write by ``component_writes.py``.
"""
