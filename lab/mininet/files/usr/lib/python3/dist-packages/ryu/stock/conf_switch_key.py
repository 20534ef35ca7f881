# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.conf_switch_key: names of what ryu.app.rest_conf_switch knows of a switch."""

OVSDB_ADDR = "ovsdb_addr"
OVS_TUNNEL_ADDR = "ovs_tunnel_addr"
