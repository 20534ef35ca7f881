# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.simple_switch_15: as simple_switch_13, with OpenFlow 1.5."""

from os_ken.app import simple_switch_13
from os_ken.ofproto import ofproto_v1_5


class SimpleSwitch15(simple_switch_13.SimpleSwitch13):
    OFP_VERSIONS = [ofproto_v1_5.OFP_VERSION]
