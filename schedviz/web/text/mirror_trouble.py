"""Why a mirror does not follow its cluster, in the language of the page.

The mirroring process writes its lines in English. Each is one of these sentences, or stays as it is.
"""

from typing import Final, NamedTuple

from django.utils.translation import gettext, gettext_noop

from schedviz.web.text.mirror_sentences import find_values

SENTENCES: Final = (
    gettext_noop("the mirroring process does not run, or cannot reach the cluster; its output says why"),
    gettext_noop("more happens in the cluster than is stored in time"),
    gettext_noop("%(trouble)s (and %(n)s more resources)"),
    gettext_noop("no permission to list %(resources)s: %(said)s"),
    gettext_noop('the server does not accept the credentials of the context "%(context)s" (401): %(said)s'),
    gettext_noop("%(server)s: no answer within %(seconds)s s"),
    gettext_noop("%(server)s: no answer by the proxy within %(seconds)s s"),
    gettext_noop("%(server)s: no connection: %(said)s"),
    gettext_noop("%(server)s: no connection by the proxy: %(said)s"),
    gettext_noop("%(server)s: the server closed the connection"),
    gettext_noop("%(server)s: what answers does not speak TLS"),
    gettext_noop("%(server)s: what answers by the proxy does not speak TLS"),
    gettext_noop("%(server)s: TLS: %(said)s"),
    gettext_noop("%(server)s: TLS by the proxy: %(said)s"),
    gettext_noop("%(server)s: /version is not that of a Kubernetes API server"),
    gettext_noop("%(server)s: the list %(path)s expired %(n)s times before its end"),
    gettext_noop("kubeconfig %(file)s: %(field)s: no such file: %(path)s"),
    gettext_noop("kubeconfig %(file)s: %(field)s: no certificate in PEM"),
    gettext_noop("kubeconfig %(file)s: %(field)s: no private key in PEM without a password"),
    gettext_noop("kubeconfig %(file)s: %(field)s: not the key of the certificate"),
    gettext_noop("kubeconfig %(file)s: %(field)s: not base64"),
    gettext_noop("kubeconfig %(file)s: %(field)s is missing"),
    gettext_noop('kubeconfig %(file)s: cluster "%(cluster)s" was not found for context "%(context)s"'),
    gettext_noop('kubeconfig %(file)s: user "%(user)s" was not found for context "%(context)s"'),
    gettext_noop('the token of the context "%(context)s" has characters that no header may have'),
    gettext_noop("kubeconfig %(file)s: a folder, not a file"),
    gettext_noop("kubeconfig %(file)s: no such file"),
    gettext_noop("kubeconfig %(file)s: not a kubeconfig"),
    gettext_noop('kubeconfig %(file)s: no context "%(context)s"; there are: %(contexts)s'),
    gettext_noop('kubeconfig %(file)s: the cluster of the context "%(context)s" has no server'),
    gettext_noop(
        'kubeconfig %(file)s: the server of the context "%(context)s" has neither http:// nor https://: '
        "%(server)s"
    ),
    gettext_noop(
        'kubeconfig %(file)s: the plugin for credentials "%(plugin)s" is not installed, or not in the PATH'
    ),
    gettext_noop("the cluster does not fit: %(said)s"),
    gettext_noop("the mirror %(name)s follows %(server)s; choose another --name, or delete it"),
    gettext_noop("the mirroring process ended (%(status)s)"),
    gettext_noop("%(resources)s: %(trouble)s"),
)
"""The more particular ones first. A ``trouble`` is such a sentence itself."""


class Trouble(NamedTuple):
    text: str
    is_english: bool
    """Whether it is no known sentence."""


def say_trouble(message: str) -> Trouble:
    for sentence in SENTENCES:
        values = find_values(sentence, message)
        if values is None or not values.get("resources", "pods").isalpha():
            continue
        if "trouble" in values:
            values["trouble"] = say_trouble(values["trouble"]).text
        return Trouble(gettext(sentence) % values, is_english=False)
    return Trouble(message, is_english=True)
