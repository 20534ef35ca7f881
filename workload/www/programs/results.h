/* SPDX-License-Identifier: GPL-2.0-only */
/* The output of the client: flows.csv and requests.csv, and one line of JSON on stdout. */
#ifndef RESULTS_H
#define RESULTS_H

#include "trial.h"

void results_write(const struct trial *trial, const char *out_dir);
void results_print_summary(const struct trial *trial);

#endif
