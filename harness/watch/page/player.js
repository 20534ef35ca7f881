// SPDX-License-Identifier: GPL-2.0-only
// A trial played in virtual time: a recorded one, or one that runs, which can be held.
"use strict";
const FRAME_MS = 120;
const STEP_S = 0.05;
const LIVE_STEP_S = 1; // a lab says each second how far it is
const AHEAD_S = 2; // a lab that is slowed down is so far ahead of what is shown
const HOLD_MS = 1000;
const UNFINISHED = "The run ended before this trial did. Give the same ./cellbed run again to run it.";
const PARTS = ["controls", "network", "glow", "choices", "missing", "plots"];
let trial = null;
let loaded = null; // the last trial that was shown: without the server it can still be played
let now = 0;
let playing = false;
let drawnAt = 0;
let stream = null; // of a trial that runs
let over = null; // the trial of which no more comes
let target = 0; // what is wanted to be shown of a trial that stands
let follows = false; // a page that was paused goes to the moment at which its lab stands
let held = null; // the second up to which another page lets the lab run
let newest = null; // what has come and is not drawn yet
let asked = null; // until which second its lab may go
let reader = ""; // the server's name for this look at a trial that runs: each has a wish of its own

const known = () => trial.live || trial.cut ? trial.until_s : trial.duration_s; // up to this there is something to show
const asItRuns = () => trial.live && at("speed").value === "live";

const stateOf = (name) => state?.trials.find((one) => one.name === name);

function choose() {
  const name = chosen(), one = stateOf(name);
  stream?.close();
  stream = trial = asked = over = held = newest = null;
  playing = follows = false;
  label();
  at("live").hidden = true;
  at("trial").hidden = !name;
  if (!name || !state) return;
  at("trial-heading").textContent = name;
  for (const part of PARTS) at(part).style.display = "none";
  if (gone && loaded?.name === name) return again();
  if (gone && one?.status !== "failed") return void (at("facts").textContent = goneText());
  if (RECORDED.has(one?.status)) return replay(name);
  if (one?.live) return follow(name);
  at("facts").textContent = one?.status === "running" ? "The trial runs on another machine."
    : one?.status === "failed" ? `The trial failed and left no record: ${firstLine(one.failed)} Give the same ./cellbed run again to run it.`
    : one?.status === "unfinished" ? UNFINISHED
    : one ? "The trial waits and has no record yet." : "The campaign has no trial of this name.";
  at("trial").scrollIntoView();
}

function firstLine(reasons) { // of what may end with a stack
  const line = (reasons?.[0] ?? "").split("\n")[0].trim();
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

async function replay(name) {
  const found = await fetch(`trial/${encodeURIComponent(name)}`).then((answer) => answer.json(), () => ({error: goneText()}));
  if (name !== chosen()) return;
  at("facts").textContent = found.error ?? facts(found);
  if (found.error) return;
  begin(found);
  seek(trial.duration_s);
}

function begin(found) {
  for (const part of PARTS) at(part).style.display = "";
  take(found);
  at("trial-heading").focus({preventScroll: true});
  at("trial").scrollIntoView();
}

// A trial that runs: what has come of it, again and again.
function follow(name) {
  at("facts").textContent = "The trial begins. The first figures come after its first second.";
  reader = crypto.randomUUID();
  stream = new EventSource(`live/${encodeURIComponent(name)}?reader=${reader}`);
  stream.onerror = () => ended(name);
  stream.onmessage = ({data}) => {
    const found = JSON.parse(data);
    if (found === "ended") return ended(name);
    if (found === null) return;
    if ("held_until_s" in found) {
      held = found.held_until_s;
      return label();
    }
    // A browser that is slower than the lab draws the newest, and not all that has come before it.
    if (newest === null) setTimeout(drawNewest);
    newest = found;
  };
}

function drawNewest() {
  const found = newest;
  newest = null;
  if (found?.name !== chosen() || !stream) return;
  at("facts").textContent = facts(found);
  if (trial) take(found);
  else {
    begin(found);
    play();
  }
  if (follows || (asItRuns() && playing)) seek(trial.until_s);
  else if (!playing && target > now) seek(target);
  else label();
}

function ended(name) {
  if (name !== chosen()) return;
  drawNewest();
  stream?.close();
  over = name;
  settle();
}

// A trial of which no more comes has a record, has failed, or is not finished. The state says which.
function settle() {
  if (gone && chosen()) {
    if (!trial && stateOf(chosen())?.status !== "failed") at("facts").textContent = goneText();
    return cut();
  }
  if (over === null) return;
  const status = stateOf(over)?.status;
  if (status === "unfinished") return trial ? cut() : choose();
  if (!["running", "recorded"].includes(status)) return choose();
  at("facts").textContent = "The trial runs no more. The page waits for its record.";
}

function cut() { // what has come of it can be played, like a record
  drawNewest();
  stream?.close();
  if (trial?.live) {
    playing = false;
    take({...trial, live: false, cut: true});
    at("facts").textContent = facts(trial);
    seek(now);
  }
  label();
}

function again() {
  at("facts").textContent = facts(loaded);
  begin(loaded);
  seek(known());
}

// Does another page hold the lab? A page that plays slowly does so just ahead of what it shows.
const heldByAnother = () => !!trial?.live && held !== null && held <= trial.until_s + AHEAD_S;

// The buttons as they act now, and a sentence if the page does not show how far the trial is.
function label() {
  const another = heldByAnother();
  at("play").textContent = !playing ? "Play" : another ? "Pause here, too" : "Pause";
  at("step").disabled = another && now >= known();
  const text = trial ? standing() : "";
  if (at("standing").textContent !== text) at("standing").textContent = text;
}

function standing() {
  if (gone) return `${goneText()} The page can still play what it has loaded.`;
  if (trial.cut) return UNFINISHED;
  if (!trial.live) return now < known() ? "" : `This is the end of the trial. Step goes back to ${beginsInView().toFixed(2)} s.`;
  const ahead = now < trial.until_s ? `The lab has run to ${trial.until_s.toFixed(2)} s. ` : "";
  return `${ahead}${heldByAnother() ? "Another page holds this trial." : ""}`.trim();
}

function take(found) {
  trial = loaded = found;
  at("time").max = trial.duration_s;
  at("live").hidden = !trial.live && !trial.cut;
  at("live").textContent = trial.cut ? "not finished" : "live";
  at("live").classList.toggle("cut", !!trial.cut);
  at("as-it-runs").hidden = at("as-it-runs").disabled = !trial.live;
  if (!!trial.live !== (at("speed").dataset.live === "true")) {
    at("speed").dataset.live = String(!!trial.live);
    at("speed").value = trial.live ? "live" : "5";
  }
  buildNetwork(trial);
  prepare(trial);
}

function facts(found) {
  const levels = Object.entries(found.levels).map(([name, level]) => `${name} ${level}`).join(", ");
  const what = `${levels ? `${levels}; ` : ""}${counted(found.pairs, "pair")}, ${found.rate_bit_per_s / 1e6} Mbit/s`;
  if (found.live || found.cut) return `${what}; the trial lasts ${found.duration_s} virtual seconds.`;
  const failed = found.checks.filter((one) => !one.ok).map((one) => one.name);
  return `${what}; ${failed.length ? `failed: ${failed.join(", ")}` : `${found.checks.length} checks ok`}.`;
}

function seek(moment) {
  now = Math.min(Math.max(0, moment), known());
  at("time").value = now;
  at("now").textContent = `${now.toFixed(2)} s`;
  label();
  fillChosen();
  const rates = throughput(trial, now);
  draw(trial, now, rates);
  drawNetwork(trial, now, rates);
}

function play() {
  playing = true;
  follows = false;
  label();
  ask();
  if (!trial.live && now >= known()) seek(0);
  drawnAt = performance.now();
  requestAnimationFrame(tick);
}

function tick(time) {
  if (!playing || !trial) return;
  if (time - drawnAt >= FRAME_MS && !asItRuns()) {
    seek(now + (time - drawnAt) / 1000 * Number(at("speed").value));
    drawnAt = time;
    if (!trial.live && now >= known()) return standAt(now);
  }
  requestAnimationFrame(tick);
}

// The moment that is shown of a trial that runs; undefined of every other.
const shownOf = (one) => trial?.live && trial.name === one.name ? now : undefined;

// The button of the trial that is shown says the moment that is shown.
function fillChosen() {
  const one = stateOf(trial.name);
  if (one?.status === "running") fill(one);
}

// Hold the lab where it is, or just ahead of what is shown, or let it go. The server does so for as
// long as it has this page as its reader.
function ask() {
  if (!trial?.live || !waits()) return;
  const wanted = !playing ? Math.ceil(target) : asItRuns() ? null : Math.floor(now) + AHEAD_S;
  if (wanted === asked) return;
  asked = wanted;
  fetch(`hold/${encodeURIComponent(trial.name)}?reader=${reader}`, {method: "POST", headers: {"X-Cellbed": "page"}, body: JSON.stringify(wanted)});
}

const waits = () => stateOf(trial.name)?.waits;

function standAt(moment) { // a lab goes on until it is so far
  playing = false;
  target = Math.min(moment, trial.duration_s);
  seek(target);
  ask();
}

// A lab runs on until it hears of a pause. A viewer who slowed it down, or chose a moment, stays there.
function pause() {
  if (playing) follows = asItRuns() && waits();
  standAt(now);
}

const beginsInView = () => Math.max(0, known() - IN_VIEW_S);

function step() { // at the end there is no further moment: begin again where the plots begin
  if (!trial.live && now >= known()) return standAt(beginsInView());
  if (playing) follows = asItRuns() && waits();
  if (!trial.live) return standAt(now + STEP_S);
  const from = playing ? now : Math.max(now, target); // the lab may not be where the last step leads
  standAt(Math.floor(from + LIVE_STEP_S));
}

at("play").addEventListener("click", () => playing ? pause() : play());
at("step").addEventListener("click", step);
at("speed").addEventListener("change", () => { drawnAt = performance.now(); ask(); });
at("time").addEventListener("input", () => {
  follows = false;
  standAt(Number(at("time").value));
});
setInterval(ask, HOLD_MS);
addEventListener("hashchange", choose);
