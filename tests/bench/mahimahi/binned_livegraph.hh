// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stands in for mahimahi's header of the same name, so that mm-link needs no window system: a live
 * graph that draws nothing.
 */
#pragma once
#include <functional>
#include <string>
#include <tuple>
#include <vector>

class BinnedLiveGraph
{
public:
	using Style = std::tuple<float, float, float, float, bool>;

	BinnedLiveGraph(const std::string &, const std::vector<Style> &, const std::string &, double,
			bool, unsigned int, const std::function<void(int, int &)> &)
	{
	}
	void add_value_now(unsigned int, unsigned int) {}
	void set_max_value_now(unsigned int, unsigned int) {}
};
