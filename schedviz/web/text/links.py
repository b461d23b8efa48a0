"""Links to pods and nodes in sentences, in HTML, and addresses. format_html escapes every name in them."""

from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from schedviz.web.text import format as fmt
from schedviz.web.text.node_names import node_name


def pod_link(base: str, key: str) -> SafeString:
    """Return the name of a pod with a link; what was generated of it is marked
    (templates/text/pod_name.html)."""
    name = fmt.split_pod_name(fmt.pod_name(key))
    if not name.end:
        return format_html('<a data-panel href="{}pods/{}/">{}{}</a>', base, key, name.namespace, name.owner)
    html = '<a data-panel href="{}pods/{}/">{}{}<span class="gen">{}{}</span></a>'
    return format_html(html, base, key, *name)


def node_link(base: str, name: str) -> SafeString:
    """Return the short name of a node with a link, and the whole name as its title."""
    short = node_name(name)
    if short == name:
        return format_html('<a data-panel href="{}nodes/{}/">{}</a>', base, name, name)
    return format_html('<a data-panel href="{}nodes/{}/" title="{}">{}</a>', base, name, name, short)


def group_link(base: str, key: str) -> SafeString:
    """Return the name of a PodGroup with a link."""
    return format_html('<a data-panel href="{}pod-groups/{}/">{}</a>', base, key, fmt.pod_name(key))


def in_english(text: str) -> SafeString:
    """Return text that is not translated. The language is marked for screen readers."""
    return format_html('<span lang="en">{}</span>', text)


def recorded_comparison(sandbox: str) -> str:
    """Return the address of the form that compares the recording of a sandbox with the model, to its end."""
    asked = {"workload": f"sandbox:{sandbox}", "a": "recorded", "b": "own", "until": ""}
    return f"{reverse('compare')}?{urlencode(asked)}"
