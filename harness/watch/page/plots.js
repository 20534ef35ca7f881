// SPDX-License-Identifier: GPL-2.0-only
// The plots of a trial up to a moment: a moving path, queue with its drops, windows, throughput by pair.
"use strict";
const COLOURS = ["#0b5cad", "#b4510a", "#0a7a4f", "#a3337f", "#6b6b00", "#5b3fa8", "#7a4a1f", "#33626e"];
const CONFIG = {displayModeBar: false, responsive: true};
const TIME = "virtual time (s)";
const MOST_TICKS = 16; // pairs that are all named below their bars
const IN_VIEW_S = 20; // the last seconds fill a plot over time; all of it is below
const KEYS = {queue: "record.queue_sample_ms", windows: "record.cwnd_sample_ms",
  pairs: "record.throughput_sample_ms", drops: "record.drops"};
const NAMES = {queue: "the queue", windows: "congestion windows", pairs: "throughput by pair", drops: "dropped frames"};
const PLURAL = new Set(["windows", "drops"]);
const hidden = new Set(); // pairs whose windows are not wanted
let drawn = ""; // what the plots on the page have been made for

const upTo = (times, limit) => { // how many of rising times are not after the limit
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    times[middle] <= limit ? low = middle + 1 : high = middle;
  }
  return low;
};
const say = (part, now, text) => at(`plot-${part}`).setAttribute("aria-label", `At ${now.toFixed(2)} s: ${text}`);
const largest = (values) => values.reduce((top, value) => value > top ? value : top, 0);

const layout = (end, unit, title) => ({
  margin: {l: 55, r: 10, t: 44, b: 38}, font: {size: 12, color: "#1c2330"}, showlegend: true,
  legend: {orientation: "h", y: 1, yanchor: "bottom"}, xaxis: {title: {text: title}, range: [0, end]},
  yaxis: {title: {text: unit}, rangemode: "tozero"},
});

// A plot over time: its last seconds, and below them a strip of the whole trial.
const overTime = (end, unit) => {
  const form = layout(end, unit, TIME);
  if (end > IN_VIEW_S) form.xaxis.rangeslider = {range: [0, end], thickness: 0.16};
  return form;
};

const inView = (end, now) => {
  const last = Math.min(end, Math.max(now, IN_VIEW_S));
  return {"xaxis.range": [Math.max(0, last - IN_VIEW_S), last]};
};

// Make the plots anew where the trial has other series than those that are there.
function prepare(trial) {
  const shape = JSON.stringify([trial.name, !!trial.path, !!trial.queue, trial.windows.map((one) => one.pair), hasRates(trial), !!trial.rates]);
  if (shape === drawn) return scale(trial);
  drawn = shape;
  for (const part of ["path", "delays", "queue", "windows", "pairs"]) {
    Plotly.purge(`plot-${part}`);
    at(`plot-${part}`).textContent = "";
  }
  for (const part of ["path", "delays"]) at(`plot-${part}`).parentElement.hidden = !trial.path;
  if (trial.path) pathPlots(trial);
  const there = {queue: !!trial.queue, windows: !!trial.windows.length, pairs: hasRates(trial)};
  const comes = (part) => trial.live && (part === "pairs" || trial.sampled[part]);
  for (const part of Object.keys(there)) {
    at(`plot-${part}`).parentElement.hidden = !there[part] && !comes(part);
    if (there[part]) continue;
    at(`plot-${part}`).textContent = "No figures have come yet.";
    at(`plot-${part}`).setAttribute("aria-label", "No figures have come yet.");
  }
  if (there.queue) queuePlot(trial);
  if (there.windows) windowsPlot(trial);
  if (there.pairs) pairsPlot(trial);
  const missing = Object.keys(there).filter((part) => !there[part] && !comes(part));
  if (there.queue && trial.drops_recordable && !trial.sampled.drops) missing.push("drops");
  at("missing").textContent = missing.map((part) => `This trial did not record ${NAMES[part]}; the key ${KEYS[part]} records ${PLURAL.has(part) ? "them" : "it"}.`).join(" ");
  captions(trial);
  choices(trial);
  scale(trial);
}

function captions(trial) {
  at("caption-queue").textContent = trial.sampled.drops ? "Queue and dropped frames" : "Queue";
  at("caption-pairs").textContent = trial.rates ? "Throughput by pair"
    : "Throughput by pair over the last second, of the answers that were complete by the end";
}

const hasRates = (trial) => !!(trial.rates || trial.answers.length);

// The link's rate and what passed; the delays of both directions.
function pathPlots({duration_s: end}) {
  const line = (name, color, more) => ({name, x: [], y: [], mode: "lines", line: {color, width: 1.3, ...more}});
  Plotly.newPlot("plot-path", [
    line("rate of the link", "#1c2330", {shape: "hv", dash: "dash"}),
    line("throughput", COLOURS[0]),
  ], overTime(end, "Mbit/s"), CONFIG);
  Plotly.newPlot("plot-delays", [
    line("to the clients", COLOURS[1], {shape: "hv"}),
    line("to the servers", COLOURS[3], {shape: "hv"}),
  ], overTime(end, "one-way delay (ms)"), CONFIG);
}

function queuePlot({queue, duration_s: end}) {
  const lines = [["buffer", queue.buffer, "#1c2330"], ["threshold", queue.threshold, "#a01414"]]
    .filter(([, value]) => value)
    .map(([name, value, color]) => ({name, x: [0, end], y: [value, value], mode: "lines",
      line: {color, dash: "dash", width: 1}}));
  Plotly.newPlot("plot-queue", [
    {name: "queue", x: [], y: [], mode: "lines", line: {color: COLOURS[0], width: 1}},
    {name: "dropped", x: [], y: [], text: [], mode: "markers", marker: {color: "#a01414", symbol: "x", size: 6}},
    ...lines,
  ], overTime(end, queue.unit), CONFIG);
}

function windowsPlot({windows, duration_s: end}) {
  Plotly.newPlot("plot-windows", windows.map((one, place) => ({name: `pair ${one.pair}`, x: [], y: [],
    mode: "lines", line: {shape: "hv", width: 1.3, color: COLOURS[place % COLOURS.length]}})),
  overTime(end, "segments"), CONFIG);
}

function pairsPlot({pairs}) {
  const form = layout(pairs + 0.5, "Mbit/s", "pair");
  form.showlegend = false;
  form.xaxis = {...form.xaxis, range: [0.5, pairs + 0.5], ...(pairs <= MOST_TICKS ? {dtick: 1} : {})};
  Plotly.newPlot("plot-pairs", [{type: "bar", x: [], y: [], marker: {color: COLOURS[2]}}], form, CONFIG);
}

// The heights of the plots: of all that is known, so that they do not jump while it is played.
function scale(trial) {
  const {queue, windows, rates} = trial;
  const tops = {
    queue: queue && Math.max(queue.buffer ?? 0, largest(queue.x)),
    windows: windows.length && largest(windows.map((one) => largest(one.w))),
    pairs: rates ? largest(rates.mbit.map(largest))
      : trial.answers.length && trial.rate_bit_per_s / 1e6 / Math.max(2, trial.pairs / 8),
  };
  for (const [part, top] of Object.entries(tops)) {
    if (top) Plotly.relayout(`plot-${part}`, {"yaxis.range": [0, top * 1.08]});
  }
  if (!trial.path) return;
  const delays = Object.values(trial.path.delays).map(({ms}) => largest(ms));
  const most = Math.max(largest(trial.path.mbit), largest(overLink(trial)));
  for (const [part, top] of [["path", most], ["delays", largest(delays)]]) Plotly.relayout(`plot-${part}`, {"yaxis.range": [0, top * 1.08]});
}

// Throughput over the moving link at each moment [Mbit/s]; [] while it is not known.
const overLink = ({path, rates}) => !rates ? []
  : rates.mbit.map((row) => path.pairs.reduce((sum, pair) => sum + (row[pair - 1] ?? 0), 0));

// What a path has at a moment: its rate [Mbit/s], and the delays of both directions [ms].
function pathAt({mbit, t, delays}, now) {
  const last = (times, values) => values[Math.max(0, upTo(times, now) - 1)];
  return {mbit: last(t, mbit), down: last(delays.down.t, delays.down.ms), up: last(delays.up.t, delays.up.ms)};
}

function drawPath(trial, now) {
  const {t, mbit, delays} = trial.path, passed = overLink(trial);
  const series = [[t, mbit], [trial.rates?.t ?? [], passed], [delays.down.t, delays.down.ms], [delays.up.t, delays.up.ms]];
  const cut = series.map(([times, values], place) => {
    const count = upTo(times, now), steps = place !== 1 && count; // a value holds until now
    return [[...times.slice(0, count), ...(steps ? [now] : [])],
      [...values.slice(0, count), ...(steps ? [values[count - 1]] : [])]];
  });
  for (const [part, lines] of [["path", cut.slice(0, 2)], ["delays", cut.slice(2)]]) {
    Plotly.update(`plot-${part}`, {x: lines.map(([x]) => x), y: lines.map(([, y]) => y)}, inView(trial.duration_s, now));
  }
  const {mbit: rate, down, up} = pathAt(trial.path, now);
  say("path", now, `the link has ${rate.toFixed(1)} Mbit/s`);
  say("delays", now, `${down} ms to the clients and ${up} ms to the servers`);
}

// A box a pair whose window is followed.
function choices({windows}) {
  at("choices").hidden = windows.length < 2;
  at("choices").replaceChildren(made("legend", "Windows of pairs"), ...windows.map(({pair}) => {
    const box = made("input", "", {type: "checkbox", checked: !hidden.has(pair)});
    box.addEventListener("change", () => {
      box.checked ? hidden.delete(pair) : hidden.add(pair);
      visible(windows);
    });
    const label = made("label", ` ${pair}`);
    label.prepend(box);
    return label;
  }));
  if (windows.length) visible(windows);
}

const visible = (windows) =>
  Plotly.restyle("plot-windows", {visible: windows.map((one) => !hidden.has(one.pair))});

// Throughput of each pair at a moment [Mbit/s]: over the last sample, or of the answers of a second.
function throughput(trial, now) {
  const found = new Map();
  if (trial.rates) {
    const row = trial.rates.mbit[upTo(trial.rates.t, now) - 1] ?? [];
    row.forEach((rate, place) => found.set(place + 1, rate));
    return found;
  }
  for (const [pair, begin, end, size] of trial.answers) {
    const over = Math.min(end, now) - Math.max(begin, now - 1);
    if (over > 0) found.set(pair, (found.get(pair) ?? 0) + size * 8 / 1e6 * over / Math.max(end - begin, 1e-6));
  }
  return found;
}

function draw(trial, now, rates) {
  if (trial.path) drawPath(trial, now);
  const {queue, windows, drops} = trial;
  if (queue) {
    const count = upTo(queue.t, now), gone = upTo(drops.t, now);
    Plotly.update("plot-queue", {x: [queue.t.slice(0, count), drops.t.slice(0, gone)],
      y: [queue.x.slice(0, count), drops.x.slice(0, gone)],
      text: [null, drops.cause.slice(0, gone).map((cause, place) => `${cause}, pair ${drops.pair[place]}`)]},
    inView(trial.duration_s, now), [0, 1]);
    say("queue", now, `${count ? queue.x[count - 1] : 0} ${queue.unit} in the queue`);
  }
  if (windows.length) {
    const counts = windows.map((one) => upTo(one.t, now));
    Plotly.update("plot-windows", {x: windows.map((one, place) => one.t.slice(0, counts[place])),
      y: windows.map((one, place) => one.w.slice(0, counts[place]))}, inView(trial.duration_s, now));
    say("windows", now, windows.map((one, place) => `pair ${one.pair} ${one.w[counts[place] - 1] ?? 0}`).join(", ") + " segments");
  }
  if (hasRates(trial)) {
    Plotly.restyle("plot-pairs", {x: [[...rates.keys()]], y: [[...rates.values()]]});
    const all = [...rates.values()].reduce((sum, one) => sum + one, 0);
    say("pairs", now, `${all.toFixed(1)} Mbit/s to ${counted(trial.pairs, "pair")}`);
  }
}
