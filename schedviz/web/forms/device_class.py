"""Device classes."""

from django.utils.translation import gettext_lazy as _

from schedviz.store.past import Readable
from schedviz.web.forms.base import FieldPlace, ManifestForm, text_field
from schedviz.web.forms.device_fields import SELECTORS
from simulator.api import Manifest


class DeviceClassForm(ManifestForm):
    title = _("New DeviceClass")
    kinds = ("DeviceClass",)

    name = text_field(_("Name"), length=253)
    selectors = text_field(
        _("Selectors"),
        rows=4,
        length=40_000,
        placeholder='device.driver == "gpu.example.com"',
        help_text=_(
            "CEL expressions, one per line. A device is in the class if all of them are true. They know "
            "device.driver, device.attributes and device.capacity."
        ),
    )

    def set_up(self, manifest: Manifest) -> None:
        self.places = {
            "name": FieldPlace("metadata", "name"),
            "selectors": FieldPlace("spec", "selectors", notation=SELECTORS),
        }

    @staticmethod
    def start(sandbox: Readable) -> Manifest:
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]},
        }
