// SPDX-License-Identifier: GPL-2.0-only
// The network of a trial: the queue as it fills, and links that glow by their load.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const MOST_LINES = 128; // of many pairs as many, evenly
const [TOP, HEIGHT] = [14, 172];
const QUEUE = {x: 232, width: 136};
const DROP_S = 0.3; // for so long the queue shows that it dropped, and the link that it was silent
let shown = []; // pairs that have lines
let lines = new Map(); // pair -> its lines, to the server and to the client

function buildNetwork(trial) {
  const step = Math.max(1, Math.ceil(trial.pairs / MOST_LINES));
  const wanted = Array.from({length: Math.ceil(trial.pairs / step)}, (_, place) => 1 + place * step);
  at("delay").textContent = `${trial.delay_ms} ms`;
  const {buffer, threshold} = trial.queue ?? {};
  at("threshold").setAttribute("visibility", threshold ? "visible" : "hidden");
  if (threshold) for (const end of ["x1", "x2"]) at("threshold").setAttribute(end, QUEUE.x + QUEUE.width * threshold / buffer);
  if (wanted.join() === shown.join()) return;
  shown = wanted;
  lines = new Map(wanted.map((pair, place) => [pair, ends(place, wanted.length)]));
  at("access").replaceChildren(...[...lines.values()].flat());
}

function ends(place, count) { // the two links of a pair
  const y = TOP + HEIGHT * (count === 1 ? 0.5 : place / (count - 1));
  return [[70, y, 170, 100], [530, 100, 620, y]].map(([x1, y1, x2, y2]) => {
    const line = document.createElementNS(SVG, "line");
    for (const [name, value] of Object.entries({x1, y1, x2, y2, class: "link"})) line.setAttribute(name, value);
    return line;
  });
}

function glow(line, load, thickest) { // 0: grey and thin; 1: orange and thick
  const share = Math.min(1, load);
  line.style.stroke = `hsl(28 ${Math.round(15 + 80 * share)}% ${Math.round(78 - 36 * share)}%)`;
  line.style.strokeWidth = 1 + (thickest - 1) * share;
}

function drawNetwork(trial, now, rates) {
  const {queue, drops} = trial;
  const length = queue ? queue.x[upTo(queue.t, now) - 1] ?? 0 : null;
  const top = queue ? queue.buffer ?? Math.max(largest(queue.x), 1) : 1;
  const gone = upTo(drops.t, now);
  const moved = trial.path && pathAt(trial.path, now);
  const all = [...rates].reduce((sum, [pair, one]) => !moved || trial.path.pairs.includes(pair) ? sum + one : sum, 0);
  const link = trial.rate_bit_per_s / 1e6, share = link / trial.pairs, carries = moved?.mbit || link;
  const silent = !!trial.path?.silent.some(([begin, end]) => begin <= now && now < end + DROP_S);
  if (moved) at("delay").textContent = `${moved.down} ms`;
  at("middle").classList.toggle("silent", silent);
  at("filled").setAttribute("width", QUEUE.width * Math.min(1, (length ?? 0) / top));
  at("length").textContent = length === null ? "queue" : `${length} ${queue.unit}`;
  at("dropped").textContent = drops.t.length ? `${gone} frames dropped` : "";
  at("queue-box").classList.toggle("dropping", gone > upTo(drops.t, now - DROP_S));
  // A queue that is not empty keeps its link busy, whatever the answers that were whole by the end add up to.
  glow(at("middle"), trial.rates ? all / carries : length ? 1 : all / carries, 12);
  const of = moved && trial.rates ? ` of ${moved.mbit.toFixed(1)}` : "";
  at("load").textContent = trial.rates ? `${all.toFixed(1)}${of} Mbit/s` : "";
  for (const [pair, both] of lines) for (const line of both) glow(line, (rates.get(pair) ?? 0) / share / 2, 5);
  at("network-text").textContent = `At ${now.toFixed(2)} s: queue ${at("length").textContent}, ${at("dropped").textContent} ${at("load").textContent}${silent ? ", the link sends nothing" : ""}`;
}
