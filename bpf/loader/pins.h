/* SPDX-License-Identifier: GPL-2.0-only */
/* pins.h - where a loaded port lives: /sys/fs/bpf/cellq/NAME/ */
#ifndef CELLQ_PINS_H
#define CELLQ_PINS_H

#define PIN_ROOT "/sys/fs/bpf/cellq"

struct bpf_object;

/* The maps and programs that a port pins; also their file names. */
#define PIN_STATS	"stats"
#define PIN_PARAMS	"params"
#define PIN_EVENTS	"events"
#define PIN_ATTACHMENTS	"attachments"
#define PIN_WIRE	"wire"

/* All return STATUS_OK, or STATUS_FAILED after printing one line. */
int pins_create(const char *name);
int pins_fill(const char *name, struct bpf_object *object);
int pins_remove(const char *name);

/* A file descriptor of a pinned map, or -1 after printing one line. */
int pins_open(const char *name, const char *map);

#endif /* CELLQ_PINS_H */
