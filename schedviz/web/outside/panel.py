"""The panel of the outside schedulers, which the live page shows instead of a cycle while the sandbox's own
scheduler stands down."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec
from django.utils.translation import gettext

from schedviz.web.outside.present import act_in_words
from schedviz.web.outside.sentences import OutsideEvent
from schedviz.web.outside.verdicts import TONES, pair_verdicts, verdict_reason
from schedviz.web.picture.picture import Picture
from schedviz.web.text import format as fmt
from schedviz.web.text.tone import Tone
from simulator.trace import OutsideFailed
from simulator.verdict_words import VERDICTS

ACTS_AT_MOST: Final = 20
"""Maximum number of acts in the panel: more than fit on a screen. The log has older ones."""


class ActOfPod(msgspec.Struct, frozen=True):
    """One act of an outside scheduler, with its pod."""

    seq: int
    time: str
    tone: Tone
    pod: str
    label: str
    text: str
    verdict: str = ""
    """The verdict on it, in a word; "" = there is none."""
    why: str = ""


def outside_acts(picture: Picture) -> list[ActOfPod]:
    """Return the last acts of outside schedulers, newest first."""
    return [*islice(_acts(picture), ACTS_AT_MOST)]


def _acts(picture: Picture) -> Iterator[ActOfPod]:
    verdicts = pair_verdicts(picture.trace)
    for seq, event in reversed(picture.trace):
        if isinstance(event, OutsideEvent):
            tone, text = act_in_words(event, mirrors=picture.mirrors)
            if isinstance(event, OutsideFailed):
                text = gettext("not scheduled: %(why)s") % {"why": text}
            judged = verdicts.get(seq)
            yield ActOfPod(
                seq,
                fmt.clock(event.t),
                TONES.get(judged.verdict, tone) if judged else tone,
                event.pod,
                fmt.pod_name(event.pod),
                text,
                gettext(VERDICTS[judged.verdict]) if judged else "",
                verdict_reason(judged) if judged else "",
            )
