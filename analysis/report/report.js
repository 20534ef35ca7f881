// SPDX-License-Identifier: GPL-2.0-only
// The campaign trial by trial: a matrix of combinations to filter, a point a trial, pictures of one.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const made = (tag, text, properties = {}) => Object.assign(document.createElement(tag), {textContent: text, ...properties});
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const CONFIG = {displayModeBar: false, responsive: true};
  const SERIES = ["s1", "s2", "s3", "s4", "s5"];
  const MOST_LABELS = 24;
  const ALL = "all";
  const UPPER = 0.8; // as UPPER of analysis/report/overview.py
  let campaign = null;
  let chosen = null; // the name of a trial

  async function unpacked(id) {
    const bytes = Uint8Array.from(atob(at(id).textContent), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }

  const layout = () => ({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: {color: colour("text"), size: 12},
    margin: {l: 60, r: 10, t: 40, b: 45}, legend: {orientation: "h", y: 1, yanchor: "bottom"}, hovermode: "closest",
    xaxis: {gridcolor: colour("line")}, yaxis: {gridcolor: colour("line"), zerolinecolor: colour("line")},
  });

  const mean = (values) => values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null;
  const text = (value) => value === null || value === undefined ? "–" : value.toFixed(4);
  const label = (levels) => Object.keys(campaign.factors).map((name) => levels[name]).join(" ") || "all";
  const shown = () => campaign.trials.filter((trial) => Object.keys(campaign.factors).every((name) =>
    [ALL, trial.levels[name]].includes(at(`filter-${name}`).value)));

  function cells() { // of the trials that are shown: label -> trials
    const found = new Map();
    for (const trial of shown()) {
      const key = label(trial.levels);
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(trial);
    }
    return found;
  }

  function selects() {
    const one = (id, title, options) => {
      const found = made("label", `${title} `);
      const select = made("select", "", {id});
      select.append(...options.map(([value, words]) => made("option", words, {value})));
      select.addEventListener("change", draw);
      found.append(select);
      return found;
    };
    const responses = Object.entries(campaign.responses);
    at("explore-filters").append(
      ...Object.entries(campaign.factors).map(([name, levels]) => one(`filter-${name}`, name, [ALL, ...levels].map((x) => [x, x]))),
      ...(responses.length ? [one("response", "figure", responses)] : []));
  }

  function overview() {
    const response = at("response")?.value;
    at("explore-points").hidden = !response;
    if (!response) return;
    const [first] = Object.keys(campaign.factors);
    const groups = new Map();
    for (const trial of shown()) {
      const group = first ? trial.levels[first] : "";
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(trial);
    }
    const traces = [...groups].map(([name, trials], place) => ({
      type: "scatter", mode: "markers", name, customdata: trials.map((trial) => trial.name),
      x: trials.map((trial) => label(trial.levels)), y: trials.map((trial) => trial.values[response]),
      text: trials.map(said), hoverinfo: "text",
      marker: {size: 9, color: colour(SERIES[place % SERIES.length]), symbol: place, opacity: 0.85},
    }));
    const form = layout();
    Object.assign(form.xaxis, {type: "category", showticklabels: cells().size <= MOST_LABELS, automargin: true});
    Object.assign(form.yaxis, vertical(campaign.responses[response], traces.flatMap((one) => one.y)));
    form.showlegend = groups.size > 1;
    Plotly.react("explore-points", traces, form, CONFIG);
    at("explore-points").removeAllListeners?.("plotly_click");
    at("explore-points").on("plotly_click", ({points}) => choose(points[0].customdata));
  }

  function vertical(title, values) { // begins at 0, unless all values are in the upper fifth
    const known = values.filter((one) => typeof one === "number");
    const most = Math.max(...known), begin = UPPER * most;
    if (!known.length || begin <= 0 || Math.min(...known) <= begin) return {title: {text: title}, rangemode: "tozero"};
    return {title: {text: `${title} (axis begins at ${Number(begin.toPrecision(3))})`}, range: [begin, most + 0.02 * most]};
  }

  const said = (trial) => [`<b>${label(trial.levels)}, seed ${trial.seed}</b>`, trial.name,
    ...Object.entries(campaign.responses).map(([name, title]) => `${title}: ${text(trial.values[name])}`)].join("<br>");

  function matrix() { // a row the levels of all factors but the last, which makes the columns
    const factors = Object.keys(campaign.factors).filter((name) => at(`filter-${name}`).value === ALL);
    const along = factors.at(-1), heads = factors.slice(0, -1), response = at("response")?.value;
    const columns = along ? campaign.factors[along] : [""];
    const rows = new Map();
    for (const trial of shown()) {
      const key = JSON.stringify(heads.map((name) => trial.levels[name]));
      if (!rows.has(key)) rows.set(key, columns.map(() => []));
      rows.get(key)[along ? columns.indexOf(trial.levels[along]) : 0].push(trial);
    }
    const table = at("explore-matrix");
    table.replaceChildren(table.caption);
    const head = table.createTHead().insertRow();
    for (const name of [...heads, ...columns.map((level) => along ? `${along} ${level}` : "mean")]) head.append(made("th", name, {scope: "col"}));
    const body = table.createTBody();
    for (const [key, found] of rows) {
      const row = body.insertRow();
      for (const level of JSON.parse(key)) row.append(made("th", level, {scope: "row"}));
      for (const trials of found) {
        const cell = row.insertCell();
        if (trials.length) cell.append(button(trials, response));
      }
    }
  }

  function button(trials, response) {
    const value = text(mean(trials.map((trial) => trial.values[response]).filter((one) => typeof one === "number")));
    const found = made("button", response ? value : "pictures", {type: "button"});
    found.setAttribute("aria-label", `${label(trials[0].levels)}: ${found.textContent}`);
    if (trials.some((trial) => trial.name === chosen)) found.setAttribute("aria-current", "true");
    found.addEventListener("click", () => choose(trials[0].name));
    return found;
  }

  function choose(name) {
    chosen = name;
    matrix();
    const trial = campaign.trials.find((one) => one.name === name);
    at("explore-trial").hidden = false;
    at("explore-name").textContent = `${label(trial.levels)}, seed ${trial.seed}`;
    const same = campaign.trials.filter((one) => label(one.levels) === label(trial.levels));
    at("explore-seeds").replaceChildren(...(same.length > 1 ? same.map((one) => seed(one)) : []));
    const facts = Object.entries(campaign.responses).map(([key, title]) => `${title} ${text(trial.values[key])}`);
    at("explore-facts").textContent = `${[...facts, `${trial.checks} checks ok`].join("; ")}. ${trial.name}`;
    pictures(campaign.pictures[name]);
    at("explore-name").focus({preventScroll: true});
    at("explore-trial").scrollIntoView({block: "nearest"});
  }

  function seed(trial) {
    const found = made("button", `seed ${trial.seed}`, {type: "button"});
    if (trial.name === chosen) found.setAttribute("aria-current", "true");
    found.addEventListener("click", () => choose(trial.name));
    return found;
  }

  function pictures(found) {
    const none = found ? "This trial recorded no tables over time to draw." : "The report has no pictures of this trial: it draws only the first seed of each combination of levels.";
    at("explore-pictures").replaceChildren(...(found?.length ? found.map((one) => {
      const figure = made("figure", "");
      const place = made("div", "", {className: "picture"});
      place.setAttribute("role", "img");
      place.setAttribute("aria-label", one.alt);
      figure.append(made("figcaption", one.title), place);
      return figure;
    }) : [made("p", none)]));
    at("explore-pictures").querySelectorAll(".picture").forEach((place, at_) => picture(place, found[at_]));
  }

  function picture(place, {traces, across, x, y}) {
    const form = layout();
    for (const [axis, of] of [["xaxis", x], ["yaxis", y]]) Object.assign(form[axis], {title: {text: of.title}, type: of.type, range: of.range});
    form.shapes = across.map((height) => ({type: "line", xref: "paper", x0: 0, x1: 1, y0: height, y1: height,
      line: {dash: "dash", width: 1, color: colour("text")}}));
    form.showlegend = traces.some((one) => one.name);
    form.barmode = "overlay";
    Plotly.newPlot(place, traces.map((one) => ({...one, showlegend: !!one.name, ...(one.base
      ? {type: "bar", marker: {color: colour(one.colour)}}
      : {type: "scatter", mode: "lines", line: {shape: one.shape, dash: one.dash, width: 1.3, color: colour(one.colour)}})})), form, CONFIG);
  }

  function draw() {
    overview();
    matrix();
  }

  async function begin() {
    if (!("DecompressionStream" in window)) return;
    document.head.append(made("script", await unpacked("explore-library")));
    campaign = JSON.parse(await unpacked("explore-data"));
    selects();
    at("explore-app").hidden = false;
    at("explore-wait").hidden = true;
    draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { draw(); if (chosen) choose(chosen); });
  }

  addEventListener("load", () => setTimeout(begin));
})();
