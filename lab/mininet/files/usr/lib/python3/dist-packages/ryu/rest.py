# SPDX-License-Identifier: GPL-2.0-only
"""What the stock applications with web interfaces share: switches, their answers, and replies."""

import json

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib import (
    dpid,
    ofctl_v1_0,
    ofctl_v1_2,
    ofctl_v1_3,
    ofctl_v1_4,
    ofctl_v1_5,
)
from os_ken.ofproto import ofproto_v1_0, ofproto_v1_2, ofproto_v1_3, ofproto_v1_4, ofproto_v1_5

from ryu.app.wsgi import Response

VERSIONS = {
    ofproto_v1_0.OFP_VERSION: ofctl_v1_0,
    ofproto_v1_2.OFP_VERSION: ofctl_v1_2,
    ofproto_v1_3.OFP_VERSION: ofctl_v1_3,
    ofproto_v1_4.OFP_VERSION: ofctl_v1_4,
    ofproto_v1_5.OFP_VERSION: ofctl_v1_5,
}
# Of a path: 16 digits, or all switches.
SWITCH = {"switch": f"{dpid.DPID_PATTERN}|all"}
PARTS = [
    getattr(ofp_event, name)
    for name in (
        "EventOFPStatsReply", "EventOFPDescStatsReply", "EventOFPFlowStatsReply",
        "EventOFPAggregateStatsReply", "EventOFPTableStatsReply",
        "EventOFPTableFeaturesStatsReply", "EventOFPPortStatsReply", "EventOFPQueueStatsReply",
        "EventOFPQueueDescStatsReply", "EventOFPMeterStatsReply",
        "EventOFPMeterFeaturesStatsReply", "EventOFPMeterConfigStatsReply",
        "EventOFPMeterDescStatsReply", "EventOFPGroupStatsReply",
        "EventOFPGroupFeaturesStatsReply", "EventOFPGroupDescStatsReply",
        "EventOFPPortDescStatsReply",
    )
    if hasattr(ofp_event, name)
]  # fmt: skip


class RefusedError(ValueError):
    """A request that cannot be done; its text says why."""


class Asking(app_manager.OSKenApp):
    """An application that asks switches: `waiters` is for os-ken's functions of `VERSIONS`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.waiters = {}

    @set_ev_cls(PARTS, MAIN_DISPATCHER)
    def stats_reply_handler(self, event):
        """A part of an answer; the last one wakes who asked."""
        message = event.msg
        protocol = message.datapath.ofproto
        more = getattr(protocol, "OFPMPF_REPLY_MORE", None) or protocol.OFPSF_REPLY_MORE
        self.finish(message, bool(message.flags & more))

    @set_ev_cls(
        [
            ofp_event.EventOFPSwitchFeatures, ofp_event.EventOFPQueueGetConfigReply,
            ofp_event.EventOFPRoleReply,
        ],
        MAIN_DISPATCHER,
    )  # fmt: skip
    def reply_handler(self, event):
        """An answer of one part."""
        self.finish(event.msg, False)

    def finish(self, message, more):
        """Hand it to who waits for it, if anybody does."""
        waiting = self.waiters.get(message.datapath.id, {})
        if message.xid not in waiting:
            return
        event, messages = waiting[message.xid]
        messages.append(message)
        if not more:
            del waiting[message.xid]
            event.set()

    @set_ev_cls(ofp_event.EventOFPErrorMsg, MAIN_DISPATCHER)
    def error_handler(self, event):
        """A switch refuses a rule only after the reply to the request."""
        message = event.msg
        number = dpid.dpid_to_str(message.datapath.id)
        self.logger.error(
            "the switch %s refused a message: error of type %d, code %d",
            number, message.type, message.code,
        )  # fmt: skip


def reply(value, status=200):
    """As JSON."""
    return Response(status=status, content_type="application/json", text=json.dumps(value))


def each(switches, wanted, ask):
    """The reply with an object for each switch.

    Args:
        switches: by their numbers.
        wanted: as a path has it (SWITCH).
        ask: called with a switch; gives what its object has beside its number.
    """
    numbers = sorted(switches) if wanted == "all" else [dpid.str_to_dpid(wanted)]
    if missing := [number for number in numbers if number not in switches]:
        return Response(status=404, text=f"there is no switch {dpid.dpid_to_str(missing[0])}\n")
    try:
        told = [
            {"switch_id": dpid.dpid_to_str(number), **ask(switches[number])} for number in numbers
        ]
    except RefusedError as error:
        return Response(status=400, text=f"{error}\n")
    return reply(told)


def asked(request):
    """The object that a request has.

    Raises:
        RefusedError: it has none.
    """
    try:
        found = request.json if request.body else {}
    except ValueError as error:
        raise RefusedError(f"the request is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise RefusedError("the request is no object of JSON")
    return found
