// SPDX-License-Identifier: GPL-2.0-only
// The matrix of cells: built once a shape, then kept up to date button by button.
"use strict";
const at = (id) => document.getElementById(id);
// The trial that the address names. A name that was cut in a character is no trial's name.
function chosen() {
  const name = location.hash.slice(1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
const SIGNS = {waiting: "·", failed: "×", invalid: "!", recorded: "…", unfinished: "not finished"};
const RECORDED = new Set(["valid", "invalid", "recorded"]);
let shape = "";
let state = null;
let offered = false;
let gone = false; // the server does not answer

function made(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), {textContent: text, ...properties});
}

function show(found) {
  const first = !state;
  state = found;
  document.title = `${found.name} - cellbed`;
  at("name").textContent = found.name;
  at("title").textContent = found.title || "";
  const done = found.trials.filter((one) => RECORDED.has(one.status)).length;
  const of = (status) => found.trials.filter((one) => one.status === status).length;
  at("bar").max = Math.max(1, found.trials.length);
  at("bar").value = done;
  const left = found.left_s && !gone ? `; about ${lasting(found.left_s)} are left` : "";
  at("progress").textContent = found.trials.length
    ? `${done} of ${counted(found.trials.length, "trial")} ${done === 1 ? "has" : "have"} a record`
      + `; ${of("failed")} failed, ${of("invalid")} invalid${found.ended ? `; ${found.ended}` : left}`
    : "The page shows the trials as soon as ./cellbed run begins.";
  at("cells").hidden = at("bar").hidden = !found.trials.length;
  const now = JSON.stringify([found.factors, found.trials.map((one) => one.name)]);
  if (now !== shape) {
    shape = now;
    build(found);
  }
  metrics(found);
  found.trials.forEach(fill);
  if (location.hash && first) choose();
  settle();
  if (!location.hash && !offered) offer(found.trials.find((one) => one.live));
}

function offer(trial) { // who comes while trials run sees one
  if (!trial) return;
  offered = true;
  location.hash = encodeURIComponent(trial.name);
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function lasting(seconds) {
  return seconds < 90 ? `${Math.round(seconds)} s`
    : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function build(found) {
  const varied = Object.keys(found.factors).filter((name) => found.factors[name].length > 1);
  const along = varied.at(-1);
  const heads = varied.slice(0, -1);
  const columns = along ? found.factors[along] : [""];
  const rows = new Map();
  for (const trial of found.trials) {
    const key = heads.map((name) => trial.levels[name] ?? "?").join("\u0000");
    if (!rows.has(key)) rows.set(key, columns.map(() => []));
    rows.get(key)[Math.max(0, columns.indexOf(trial.levels[along]))].push(trial);
  }
  const table = made("table", "");
  table.append(made("caption", ""));
  const head = table.createTHead().insertRow();
  for (const name of heads) head.append(made("th", name, {scope: "col"}));
  for (const level of columns) head.append(made("th", along ? level : "trial", {scope: "col"}));
  const body = table.createTBody();
  for (const [key, cells] of rows) {
    const row = body.insertRow();
    if (heads.length) for (const level of key.split("\u0000")) row.append(made("th", level, {scope: "row"}));
    for (const trials of cells) row.insertCell().append(...trials.map(button));
  }
  const words = `The trials by their levels${along ? `; the columns are the levels of ${along}` : ""}`;
  table.caption.append(made("span", words));
  at("matrix").replaceChildren(table);
}

function button(trial) {
  const found = made("button", "", {type: "button", id: `trial-${trial.name}`});
  found.addEventListener("click", () => {
    if (found.getAttribute("aria-disabled") === "false") location.hash = encodeURIComponent(trial.name);
  });
  return found;
}

function metrics(found) {
  const names = [...new Set(found.trials.flatMap((one) => Object.keys(one.metrics ?? {})))];
  const select = at("metric");
  if (names.join() !== [...select.options].map((one) => one.value).join()) {
    select.replaceChildren(...names.map((name) => made("option", name, {value: name})));
    if (names.length) select.value = names[0];
  }
  at("metric-label").hidden = !names.length;
}

function fill(trial) {
  const found = at(`trial-${trial.name}`);
  const value = trial.metrics?.[at("metric").value];
  const figure = typeof value === "number" ? (Math.abs(value) < 100 ? value.toFixed(4) : value.toPrecision(6)) : "ok";
  const status = gone && trial.status === "running" ? "unfinished" : trial.status;
  const text = status === "running" ? `${Math.floor(shownOf(trial) ?? trial.virtual_s)} s`
    : status === "valid" ? figure : SIGNS[status];
  if (found.textContent !== text) found.textContent = text;
  found.className = trial.older ? `${status} older` : status;
  const levels = Object.values(trial.levels).join(" ") || trial.name;
  const why = trial.failed?.length ? `: ${trial.failed.join(", ")}` : "";
  const older = trial.older ? " (an older record of the same trial)" : "";
  found.setAttribute("aria-label", `${levels}, seed ${trial.seed}: ${status}${why} ${text}${older}`);
  found.title = found.getAttribute("aria-label");
  found.setAttribute("aria-disabled", String(!answers(trial)));
  chosen() === trial.name ? found.setAttribute("aria-current", "true") : found.removeAttribute("aria-current");
}

// Has a press on its button an answer?
const answers = (trial) => trial.status === "failed"
  || (gone ? loaded?.name === trial.name : !!trial.live || ["valid", "invalid", "unfinished"].includes(trial.status));

const goneText = () =>
  `The command that served this page has ended. ${state?.again ?? "./cellbed watch"} shows the campaign again.`;

function lost() {
  if (gone) return;
  gone = true;
  at("offline").textContent = goneText();
  at("offline").hidden = false;
  if (state) show(state);
}

function back() { // after an interruption, as of a tunnel to another machine
  if (!gone) return;
  gone = false;
  at("offline").hidden = true;
  if (state) show(state);
  choose();
}

at("metric").addEventListener("change", () => state?.trials.forEach(fill));
addEventListener("hashchange", () => state?.trials.forEach(fill));
const source = new EventSource("events");
source.onmessage = (message) => show(JSON.parse(message.data));
source.onerror = lost;
source.onopen = back;
