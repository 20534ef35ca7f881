/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cellq.h - types shared by the BPF programs, the loader and the tests
 *
 * Units are in the names: _ps picoseconds (the model's tick), _ns nanoseconds
 * of CLOCK_MONOTONIC, _cells ATM cells of 53 bytes, _ppm millionths.
 * Every struct is laid out without implicit padding; all are little-endian on
 * disk because every supported machine is.
 */
#ifndef CELLQ_H
#define CELLQ_H

#include <linux/types.h>

/* Table sizes. Powers of two: an index is masked, not compared, which is what
 * lets the BPF verifier see that it is in range. */
#define CELLQ_MAX_VCS		1024
#define CELLQ_MAX_BUFFER_CELLS	(1 << 20)	/* a million, and room for more */
#define CELLQ_MAX_FRAMES	(1 << 17)	/* announced and not yet resolved */
#define CELLQ_MAX_FRAME_CELLS	1366		/* AAL5 limit, 65535 bytes */
#define CELLQ_MAX_ATTACHMENTS	2048

#define CELLQ_CELL_BITS		424		/* 53 bytes */
#define CELLQ_PPM		1000000

/* The fate of a frame. The order is part of the record format. */
enum cellq_cause {
	CELLQ_DELIVERED,		/* every cell accepted */
	CELLQ_REFUSED_THRESHOLD,	/* policy: X > R, or the like */
	CELLQ_REFUSED_FAIRNESS,		/* policy: this VC holds too much */
	CELLQ_LOST_FIRST,		/* buffer full at the first cell */
	CELLQ_LOST_MID,			/* buffer full at a later cell */
	CELLQ_CAUSES,
};

/* Faults: events that the program cannot handle. Each one is a packet
 * (CELLQ_FAULT_RECORD: a record). The packet is dropped, and the trial is
 * invalid. X(name, meaning) */
#define CELLQ_FAULTS(X)							\
	X(no_vc, "verdict: packet carries no VC mark")			\
	X(vc_range, "VC outside 1..vcs")				\
	X(not_ipv4, "not an IPv4 packet")				\
	X(gso, "GSO packet: one skb is more than one frame")		\
	X(frame_too_long, "more cells than max_frame_cells")		\
	X(frame_table_full, "more than 131071 frames unresolved")	\
	X(no_announce, "verdict for a frame that was never announced")	\
	X(length_mismatch, "announced and arrived frame differ in cells") \
	X(early, "frame left its access link before the model says")	\
	X(late, "departure time already past at the verdict")		\
	X(loop_budget, "more work in one call than the kernel allows")	\
	X(model_stuck, "frame unresolved though no train is in progress") \
	X(tstamp, "the kernel refused the departure time")		\
	X(record_lost, "ring buffer full, a record is missing")

enum cellq_fault {
#define CELLQ_FAULT_ENUM(name, meaning) CELLQ_FAULT_##name,
	CELLQ_FAULTS(CELLQ_FAULT_ENUM)
#undef CELLQ_FAULT_ENUM
	CELLQ_FAULT_COUNT,
};

/* Parameters of one port; constant while the program is loaded. */
struct cellq_params {
	__u64 service_ps;	/* one cell on the port: 424e12 / rate */
	__u64 access_ps;	/* one cell on an access link, whole ns */
	__u64 access_delay_ps;	/* propagation of an access link */
	__u64 sample_ns;	/* grain of the time series, 0 = none */
	__u64 late_tolerance_ns;
	__u32 buffer_cells;	/* K */
	__u32 threshold_cells;	/* R, whole cells */
	__u32 z_ppm;		/* Z */
	__u32 vcs;		/* VCs are 1..vcs */
	__u32 policy;		/* enum cellq_policy */
	__u32 max_frame_cells;
	__u32 ifindex_base;	/* announce: VC = ifindex - ifindex_base */
	__u16 record_frames;
	__u16 record_drops;
};

/* Counters of one VC. A frame is counted when its last cell has arrived.
 * Frames in = sum of frames[]; cells in = sum of cells[];
 * accepted cells = cells[CELLQ_DELIVERED] + wasted. */
struct cellq_vc_stats {
	__u64 frames[CELLQ_CAUSES];
	__u64 cells[CELLQ_CAUSES];	/* all cells of those frames */
	__u64 cells_wasted;	/* accepted, of a frame not delivered */
	__u64 cells_overflow;	/* found the buffer full */
	__u64 cells_discarded;	/* refused because the frame had lost a cell */
	__u64 pad[3];		/* 128 bytes: the index is a shift */
};

/* All counters of a port; mapped read-only by the reader. */
struct cellq_stats {
	__u64 generation;	/* odd while a hook is writing */
	__u64 faults[CELLQ_FAULT_COUNT];
	__u64 frames_announced;
	__u64 frames_resolved;	/* verdicts, faults included */
	__u64 frames_late;	/* departures in the past, within the tolerance */
	__u64 late_max_ns;	/* largest such lateness seen, fault or not */
	__u64 records;		/* records written to the ring buffer */
	__u64 first_departure_ns; /* of a delivered frame's last cell */
	__u64 last_departure_ns;
	__u64 model_ps;		/* the model is exact up to this tick */
	__u64 busy_ps;		/* server busy up to model_ps, whole cells */
	__u64 cells_sent;	/* cells that left in that time */
	__u32 occupancy_cells;	/* X at model_ps */
	__u32 active_vcs;	/* N_a at model_ps */
	__u32 peak_cells;	/* largest X ever */
	__u32 pad;
	struct cellq_vc_stats vc[CELLQ_MAX_VCS]; /* [0] is VC 1 */
};

/* Records in the ring buffer and in the file that `cellq record` writes. */
enum cellq_record_type {
	CELLQ_RECORD_FRAME = 1,
	CELLQ_RECORD_DROP = 2,
	CELLQ_RECORD_SAMPLE = 3,
};

/* A frame, at its verdict; sorted by seq the frames are the arrival trace. */
struct cellq_frame_record {
	__u8 type;
	__u8 cause;		/* enum cellq_cause */
	__u16 vc;		/* 1..vcs */
	__u32 cells;
	__u64 seq;		/* order of the announcements, from 0 */
	__u64 announce_ns;
	__u64 departure_ns;	/* 0 unless delivered */
	__u64 verdict_ns;
};

/* A frame that will not be delivered, at the moment that decided this. */
struct cellq_drop_record {
	__u8 type;
	__u8 cause;
	__u16 vc;
	__u32 cells;
	__u64 time_ns;		/* of the cell refused or lost, rounded down */
	__u32 occupancy_cells;	/* X that the cell found */
	__u32 vc_cells;		/* X_i that the cell found */
	__u32 active_vcs;	/* N_a that the cell found */
	__u32 accepted_cells;	/* cells of the frame that the link sends in vain */
	__u64 seq;
};

/* X and N_a at a multiple of the grain. A missing sample repeats X = 0. */
struct cellq_sample_record {
	__u8 type;
	__u8 pad0;
	__u16 active_vcs;
	__u32 occupancy_cells;
	__u64 time_ns;
};

/* Head of a record file; the records follow back to back. */
#define CELLQ_FILE_MAGIC_BYTES	{ 'c', 'e', 'l', 'l', 'q', 'r', 'e', 'c' }
#define CELLQ_FILE_VERSION	1
struct cellq_file_header {
	char magic[8];
	__u32 version;
	__u32 header_bytes;	/* records begin here */
	struct cellq_params params;
};

/* The port's link as seen from outside, by the frames that go in and come out.
 * This is not part of the model; see wire.h. */
struct cellq_wire {
	__u32 lock;		/* BPF: struct bpf_spin_lock */
	__u32 waiting;		/* frames that went in and have not come out */
	__u64 since_ns;		/* start of the present busy stretch */
	__u64 until_ns;		/* end of the last stretch */
	__u64 stretch_cells;	/* cells sent in the present one, with torn frames */
	__u64 torn_cells;	/* cells of torn frames since the last whole frame */
	__u64 unsure_cells;	/* cells of this stretch or of the one before */
	__u64 busy_ns;		/* length of all counted stretches */
	__u64 cells;		/* cells sent in the counted stretches */
	__u64 frames;		/* frames that came out at the far end */
	__u64 stretches, stretches_unsure;	/* counted; left out */
};

/* An attachment of `cellq load`. `cellq unload` removes only these. */
struct cellq_attachment {
	__u64 netns_ino;	/* of /proc/PID/ns/net, guards against reuse */
	__u32 pid;		/* 0 = the loader's own namespace */
	__u32 ifindex;
	__u32 handle;
	__u32 priority;
	__u32 prog_id;
	__u32 made_clsact;	/* the loader created the clsact qdisc */
	__u32 ingress;		/* at the ingress; else at the egress */
	__u32 pad;
};

#endif /* CELLQ_H */
