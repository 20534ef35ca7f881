// SPDX-License-Identifier: GPL-2.0-only
// A recorded trial, played in virtual time: everything is drawn up to the moment that is shown.
"use strict";
const FRAME_MS = 120;
const STEP_S = 0.05;
const COLOURS = ["#0b5cad", "#b4510a", "#0a7a4f", "#a3337f", "#6b6b00", "#5b3fa8", "#7a4a1f", "#33626e"];
const CONFIG = {displayModeBar: false, responsive: true};
let trial = null;
let now = 0;
let playing = false;
let drawn = 0;

const upTo = (times, limit) => { // how many of rising times are not after the limit
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    times[middle] <= limit ? low = middle + 1 : high = middle;
  }
  return low;
};

const layout = (end, top, unit, title) => ({
  margin: {l: 55, r: 10, t: 8, b: 38}, font: {size: 12, color: "#1c2330"}, showlegend: true,
  legend: {orientation: "h", y: 1.12}, xaxis: {title: {text: title}, range: [0, end]},
  yaxis: {title: {text: unit}, range: [0, top * 1.08 || 1]},
});

async function choose() {
  const name = decodeURIComponent(location.hash.slice(1));
  playing = false;
  at("trial").hidden = !name;
  if (!name) return;
  const answer = await fetch(`trial/${encodeURIComponent(name)}`);
  const found = answer.ok ? await answer.json() : {error: "it has no record yet"};
  at("trial-heading").textContent = name;
  at("facts").textContent = found.error ?? facts(found);
  for (const part of ["controls", "network"]) at(part).style.display = found.error ? "none" : "";
  trial = found.error ? null : found;
  if (!trial) return;
  at("time").max = trial.duration_s;
  at("delay").textContent = `${trial.delay_ms} ms`;
  threshold();
  plots();
  seek(trial.duration_s);
  at("trial-heading").focus({preventScroll: true});
  at("trial").scrollIntoView();
}

function facts(found) {
  const levels = Object.entries(found.levels).map(([name, level]) => `${name} ${level}`).join(", ");
  const failed = found.checks.filter((one) => !one.ok).map((one) => one.name);
  const checks = failed.length ? `failed: ${failed.join(", ")}` : `${found.checks.length} checks ok`;
  return `${levels}; ${found.pairs} pairs, ${found.rate_bit_per_s / 1e6} Mbit/s; ${checks}.`;
}

function threshold() {
  const {buffer, threshold: limit} = trial.queue ?? {};
  at("threshold").setAttribute("visibility", limit ? "visible" : "hidden");
  if (limit) for (const end of ["x1", "x2"]) at("threshold").setAttribute(end, 172 + 156 * limit / buffer);
}

function plots() {
  const end = trial.duration_s;
  const {queue, windows, answers} = trial;
  for (const part of ["queue", "windows", "pairs"]) Plotly.purge(`plot-${part}`);
  at("plot-queue").textContent = queue ? "" : "not recorded: record.queue_sample_ms";
  at("plot-windows").textContent = windows.length ? "" : "not recorded: record.cwnd_sample_ms";
  at("plot-pairs").textContent = answers.length ? "" : "no requests in this workload";
  if (queue) {
    const lines = [["buffer", queue.buffer, "#1c2330"], ["threshold", queue.threshold, "#a01414"]]
      .filter(([, value]) => value)
      .map(([name, value, color]) => ({name, x: [0, end], y: [value, value], mode: "lines",
        line: {color, dash: "dash", width: 1}}));
    Plotly.newPlot("plot-queue", [
      {name: "queue", x: [], y: [], mode: "lines", line: {color: COLOURS[0], width: 1}},
      {name: "dropped", x: [], y: [], text: [], mode: "markers", marker: {color: "#a01414", symbol: "x", size: 6}},
      ...lines,
    ], layout(end, Math.max(queue.buffer ?? 0, ...queue.x), queue.unit, "virtual time (s)"), CONFIG);
  }
  if (windows.length) {
    const top = Math.max(...windows.flatMap((one) => one.w));
    Plotly.newPlot("plot-windows", windows.map((one, place) => ({name: `pair ${one.pair}`, x: [], y: [],
      mode: "lines", line: {shape: "hv", width: 1.3, color: COLOURS[place % COLOURS.length]}})),
    layout(end, top, "segments", "virtual time (s)"), CONFIG);
  }
  if (answers.length) {
    const form = layout(trial.pairs + 0.5, trial.rate_bit_per_s / 1e6 / Math.max(2, trial.pairs / 8), "Mbit/s", "pair");
    form.showlegend = false;
    Plotly.newPlot("plot-pairs", [{type: "bar", x: [], y: [], marker: {color: COLOURS[2]}}], form, CONFIG);
  }
}

function throughput() { // Mbit/s by pair over the last second
  const rates = new Map();
  for (const [pair, begin, end, size] of trial.answers) {
    const over = Math.min(end, now) - Math.max(begin, now - 1);
    if (over > 0) rates.set(pair, (rates.get(pair) ?? 0) + size * 8 / 1e6 * over / Math.max(end - begin, 1e-6));
  }
  return rates;
}

function seek(moment) {
  now = Math.min(Math.max(0, moment), trial.duration_s);
  at("time").value = now;
  at("now").textContent = `${now.toFixed(2)} s`;
  const {queue, windows, drops, answers} = trial;
  const gone = upTo(drops.t, now);
  if (queue) {
    const count = upTo(queue.t, now);
    Plotly.restyle("plot-queue", {x: [queue.t.slice(0, count), drops.t.slice(0, gone)],
      y: [queue.x.slice(0, count), drops.x.slice(0, gone)],
      text: [null, drops.cause.slice(0, gone).map((cause, place) => `${cause}, pair ${drops.pair[place]}`)]}, [0, 1]);
    said("queue", `${count ? queue.x[count - 1] : 0} ${queue.unit} in the queue`);
  }
  if (windows.length) {
    const counts = windows.map((one) => upTo(one.t, now));
    Plotly.restyle("plot-windows", {x: windows.map((one, place) => one.t.slice(0, counts[place])),
      y: windows.map((one, place) => one.w.slice(0, counts[place]))});
    said("windows", windows.map((one, place) => `pair ${one.pair} ${one.w[counts[place] - 1] ?? 0}`).join(", ") + " segments");
  }
  const rates = throughput();
  const all = [...rates.values()].reduce((sum, one) => sum + one, 0);
  if (answers.length) {
    Plotly.restyle("plot-pairs", {x: [[...rates.keys()]], y: [[...rates.values()]]});
    said("pairs", `${all.toFixed(1)} Mbit/s to ${rates.size} pairs`);
  }
  network(queue, gone, answers.length ? all * 1e6 / trial.rate_bit_per_s : null);
}

function said(part, text) {
  at(`plot-${part}`).setAttribute("aria-label", `At ${now.toFixed(1)} s: ${text}`);
}

function network(queue, gone, load) {
  const length = queue ? queue.x[upTo(queue.t, now) - 1] ?? 0 : null;
  const top = queue ? queue.buffer ?? Math.max(...queue.x, 1) : 1;
  at("filled").setAttribute("width", 156 * Math.min(1, (length ?? 0) / top));
  at("length").textContent = length === null ? "queue" : `${length} ${queue.unit}`;
  at("dropped").textContent = trial.drops.t.length ? `${gone} frames dropped` : "";
  const glow = load ?? (length ? 1 : 0);
  at("middle").style.stroke = `hsl(28 ${Math.round(30 + 70 * Math.min(1, glow))}% ${Math.round(75 - 30 * Math.min(1, glow))}%)`;
  at("middle").style.strokeWidth = 4 + 6 * Math.min(1, glow);
  at("load").textContent = load === null ? "" : `${Math.round(100 * load)} %`;
  at("network-text").textContent = `At ${now.toFixed(1)} s: queue ${at("length").textContent}, ${at("dropped").textContent} ${at("load").textContent}`;
}

function play(wanted) {
  playing = wanted;
  at("play").textContent = playing ? "Pause" : "Play";
  if (!playing) return;
  if (now >= trial.duration_s) seek(0);
  drawn = performance.now();
  requestAnimationFrame(tick);
}

function tick(time) {
  if (!playing || !trial) return;
  if (time - drawn >= FRAME_MS) {
    seek(now + (time - drawn) / 1000 * Number(at("speed").value));
    drawn = time;
    if (now >= trial.duration_s) return play(false);
  }
  requestAnimationFrame(tick);
}

at("play").addEventListener("click", () => play(!playing));
at("step").addEventListener("click", () => { play(false); seek(now + STEP_S); });
at("time").addEventListener("input", () => { play(false); seek(Number(at("time").value)); });
addEventListener("hashchange", choose);
if (location.hash) choose();
