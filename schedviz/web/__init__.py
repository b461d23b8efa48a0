"""The pages and forms: a package for each feature, with its Django views in ``views.py``.

``urls.py`` has the routes. Templates are in the folder of ``templates/`` with the name of the package, styles
in the files of ``static/css/`` that begin with it. All features use ``sources.py`` (finds a sandbox),
``answers.py`` (answers with a panel or a form), ``parts/`` (draws what changed), ``picture/`` (the state that
pages show), ``reasons/`` (the sentences of Kubernetes in plain words), and ``kubectl/``, ``manifests/``,
``devices/``, ``text/``.
"""
