/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct tcp_info as in Linux 6.12 (include/uapi/linux/tcp.h), with another name: the struct of the
 * C library has fewer fields, and headers of older kernels lack the last ones. The layout is the
 * kernel's ABI and grows only at the end. An older kernel fills in fewer fields.
 */
#ifndef TCP_STATE_H
#define TCP_STATE_H

#include <stdint.h>

struct tcp_state {
	uint8_t state, ca_state, retransmits, probes, backoff, options;
	uint8_t snd_wscale : 4, rcv_wscale : 4;
	uint8_t delivery_rate_app_limited : 1, fastopen_client_fail : 2;

	uint32_t rto_us, ato_us, snd_mss, rcv_mss;
	uint32_t unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt_us, rttvar_us, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt, rcv_space;
	uint32_t total_retrans;

	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in;
	uint32_t notsent_bytes, min_rtt, data_segs_in, data_segs_out;
	uint64_t delivery_rate;
	uint64_t busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent, bytes_retrans;
	uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
	uint16_t total_rto, total_rto_recoveries;
	uint32_t total_rto_time;
};

#endif
