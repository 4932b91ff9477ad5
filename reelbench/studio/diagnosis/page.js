/* A diagnosis: what it comes to, each question round by round, and the tables behind the figures. */
"use strict";
const { h, svg, count: grouped } = globalThis.Elements;
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const STATES = {
  right: ["✓", "right"], wrong: ["✗", "wrong"], divergent: ["↷", "another path"], undetermined: ["…", "not evaluated"], undecided: ["?", "votes differ"],
};
const STOPS = {
  all_evaluated: "all evaluated", answer_right: "answer right", limit: "limit of rounds", no_consensus: "votes differ",
  tagger_unparsable: "unreadable tags", tagger_unavailable: "no reply of the tagger", graph_invalid: "no graph", model_failed: "model failed", media_missing: "video missing", unjudged: "answer not judged",
};
const several = data.diagnoses.length > 1;
const DASH = "–";

// --- numbers in words ---
const percent = (x) => (x == null ? DASH : `${Math.round(100 * x)} %`);
const count = (n, noun, plural = `${noun}s`) => `${grouped(n)} ${n === 1 ? noun : plural}`;
const interval = (ends) => (ends ? `${Math.round(100 * ends[0])} to ${percent(ends[1])}` : "");
const joined = (parts, or = DASH) => parts.filter(Boolean).join(", ") || or;
const pairs = (values) => joined(Object.entries(values || {}).map(([name, value]) => `${name.replaceAll("_", " ")} ${value && typeof value === "object" ? pairs(value) : value}`));
const language = (code) => {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(code);
  } catch {
    return ""; // no code of a language
  }
};

// --- the result ---
const total = (figures) => figures.rounds.reduce((sum, round) => sum + Object.values(round.labels).reduce((a, b) => a + b, 0), 0);
const perception = data.labels.filter((label) => !["Knowledge-Dependent Issue", "Reasoning"].includes(label));
const PERCEPTION = "Perception (the first four)";

function sentence({ name, settings, figures }, i) {
  const { asked, entered, unjudged } = figures.questions;
  const most = Math.max(...data.labels.map((label) => figures.labels[label].n));
  const without = data.questions.filter(({ diagnoses }) => diagnoses[i] && !diagnoses[i].some((round) => !round.right && round.nodes.some((node) => node.label))).length;
  const told = [`${several || settings.model ? `${several ? name : settings.model}: ` : ""}${entered} of ${count(asked - unjudged, `${unjudged ? "judged " : ""}answer`)} ${entered === 1 ? "was" : "were"} wrong${unjudged ? `; ${unjudged} of ${asked} were not judged` : ""}.`];
  if (most) {
    const first = data.labels.filter((label) => figures.labels[label].n === most);
    const { share, ci95 } = figures.labels[first[0]];
    const each = `${first.length > 1 ? " each" : ""}${ci95 ? ` (95 % interval ${interval(ci95)})` : ""}`;
    told.push(`${without ? `In ${grouped(without)} of these no error was found. ` : ""}Of ${count(sum(figures), "error")}, ${percent(share)}${each} ${most === 1 && first.length === 1 ? "is" : "are"} ${first.join(" and ")}; ${percent(figures.perception.share)} are errors of perception, the first four kinds.`);
  } else told.push("No error was found on their way.");
  return h("p", {}, told.join(" "));
}
const sum = (figures) => data.labels.reduce((n, label) => n + figures.labels[label].n, 0);

function result() {
  at("result").append(...data.diagnoses.map(sentence));
  const { settings } = data.diagnoses[0];
  const named = (of) => [...new Set(data.diagnoses.flatMap(({ figures }) => of(figures) || []))].join(", ");
  const judges = named(({ judge }) => judge?.requested),
    tagged = named(({ models }) => models.tagger?.model);
  at("about").textContent = [`${data.benchmark} ${settings.split}`, settings.model, settings.frames, count(data.questions.length, "question"), judges && `answers judged by ${judges}`, tagged && `errors tagged by ${tagged}`].filter(Boolean).join(" · ");
  const some = data.diagnoses.filter(({ figures }) => sum(figures));
  if (some.length) at("kinds").append(shares());
  at("by-round").append(...some.filter(({ figures }) => figures.rounds.length > 1).map(byRound));
}
function shares() {
  const some = data.diagnoses.map(({ figures }) => data.labels.some((label) => figures.labels[label].ci95));
  const whiskers = some.every((has) => has) ? ", with its 95 % interval over videos" : some.some((has) => has) ? ", with its 95 % interval over videos where errors are on ten or more" : "; no interval, as the errors are on fewer than ten videos";
  const n = data.diagnoses.map(({ name, figures }) => `${several ? `${name}: ` : ""}n = ${sum(figures)}`).join(", ");
  const rows = data.labels.map((label) => [label, (figures) => figures.labels[label]]); // perception, a sum of four, is in the sentence and the table
  const lines = rows.map(([label, pick]) => ({
    label,
    bars: data.diagnoses.flatMap(({ name, figures }, i) => {
      const { share, ci95, n: errors } = pick(figures);
      if (share == null) return [];
      const tip = `${label}${several ? `, ${name}` : ""}: ${percent(share)}${ci95 ? `, 95 % interval ${interval(ci95)}` : ""}, ${count(errors, "error")}`;
      return [{ at: 100 * share, ends: ci95?.map((end) => 100 * end), i, show: percent(share), text: tip }];
    }),
  }));
  return Plots.figure({
    id: "errors", title: "Errors by kind", about: `Share of all errors${whiskers}; ${n}.`,
    whole: true,
    draw: () => Plots.bars(lines, data.diagnoses.map(({ name }) => name), (step) => `${step} %`),
  });
}
function byRound({ name, figures }, place) {
  const lines = data.labels.map((label) => {
    let n = 0;
    return { label, bars: figures.rounds.map(({ round, labels }, i) => ({ at: (n += labels[label]), i, show: String(n), text: `${label}, up to round ${round}: ${count(n, "error")}` })) };
  });
  return Plots.figure({
    id: `rounds-${place}`, title: several ? `Found up to each round, ${name}` : "Found up to each round", about: `Errors by kind; n = ${total(figures)}.`,
    draw: () => Plots.bars(lines, figures.rounds.map(({ round }) => `up to round ${round}`)),
  });
}

// --- the tables ---
function table(id, head, rows, side = "n") {
  const heads = head.map((text, place) => (text ? h("th", { scope: "col", class: place ? side : null }, text) : h("td", {})));
  at(id).replaceWith(Elements.table({ id }, head.some(Boolean) && heads, rows));
}
const number = (n) => h("td", { class: "n" }, grouped(n));
function share({ share: value, ci95 }, name) {
  if (value == null) return h("td", {}, DASH);
  const words = `${percent(value)}${ci95 ? ` (${interval(ci95)})` : ""}`;
  return h("td", {}, h("span", { class: "figure" }, Plots.share({ value, ends: ci95, tip: `${name}: ${words}` }), h("span", {}, words)));
}
const bySize = (noun, rates) => Object.fromEntries(Object.entries(rates || {}).map(([size, rate]) => [`${size} ${noun}`, rate]));
const named = (text, { name }) => (several ? `${name}: ${text}` : text[0].toUpperCase() + text.slice(1));

function tables() {
  const head = [""];
  for (const one of data.diagnoses) {
    const has = data.labels.some((label) => one.figures.labels[label].ci95);
    head.push(named(has ? "share (95 % interval)" : "share", one), named("errors", one), ...one.figures.rounds.map((round) => named(`round ${round.round}`, one)));
  }
  const row = (name, pick, labels) => [
    name,
    ...data.diagnoses.flatMap(({ figures }) => [
      share(pick(figures), name), number(pick(figures).n), ...figures.rounds.map((round) => number(labels.reduce((n, label) => n + round.labels[label], 0))),
    ]),
  ];
  table("labels", head, [...data.labels.map((label) => row(label, (figures) => figures.labels[label], [label])), row(PERCEPTION, (figures) => figures.perception, perception)]);

  const locales = [...new Set(data.diagnoses.flatMap((one) => Object.keys(one.figures.locales)))].sort();
  const empty = { n: 0, labels: Object.fromEntries(data.labels.map((label) => [label, { n: 0 }])), perception: { share: null, ci95: null } };
  const kinds = several ? [] : data.labels; // side by side there is no room for each label
  table(
    "by-locale",
    ["", ...data.diagnoses.flatMap((one) => [named("questions", one), ...kinds.map((label) => named(label, one)), named("share of perception", one)])],
    locales.map((locale) => [
      [locale, h("span", { class: "sub" }, language(locale))],
      ...data.diagnoses.flatMap((one) => {
        const there = one.figures.locales[locale] || empty;
        return [number(there.n), ...kinds.map((label) => number(there.labels[label].n)), share(there.perception, locale)];
      }),
    ]),
  );
  const groups = (figures) => ({
    ...bySize("nodes", figures.sizes?.nodes), ...bySize("deep", figures.sizes?.depth), ...figures.skills,
  });
  const names = [...new Set(data.diagnoses.flatMap(({ figures }) => Object.keys(groups(figures))))];
  at("rates").parentElement.hidden = !names.length;
  table(
    "by-rate",
    ["", ...data.diagnoses.flatMap((one) => [named("questions", one), named("right at first", one), ...(several ? [named("errors a question", one)] : data.labels)])],
    names.map((name) => [
      name,
      ...data.diagnoses.flatMap(({ figures }) => {
        const { n = 0, right, ci95, labels } = groups(figures)[name] || {};
        const rates = labels ? data.labels.map((label) => labels[label]) : [];
        const shown = several ? [rates.length ? rates.reduce((a, b) => a + b) : null] : data.labels.map((_, place) => rates[place]);
        return [number(n), share({ share: right, ci95 }, name), ...shown.map((rate) => h("td", { class: "n" }, rate == null ? DASH : rate.toFixed(2)))];
      }),
    ]),
  );
  table("facts", ["", ...data.diagnoses.map((one) => (several ? one.name : ""))], facts().map(([name, say]) => [name, ...data.diagnoses.map((one) => h("td", {}, say(one.figures, one.settings)))]), null);
}
/** Shares of a whole as a list of bars: [words, n], of all. */
function parts(lines, all) {
  if (!lines.length) return DASH;
  return h("ul", { class: "shares" }, ...lines.map(([words, n]) => h("li", {}, h("span", {}, words), Plots.share({ value: all ? n / all : 0, tip: `${words}: ${n} of ${all}` }), h("span", {}, `${n} of ${all}`))));
}
function facts() {
  const votes = (counts) => joined(Object.entries(counts).map(([name, n]) => `${name === "none" ? "no majority" : `${name} alike`}: ${count(n, "node")}`));
  const reasoning = (n) => `${n || "none"} of them ${n === 1 ? "is" : "are"} of reasoning`;
  const later = ({ n, of_first, of_all, reasoning: of_reason }) => n ? `${count(n, "error")}, ${of_first == null ? "" : `${percent(of_first)} more than round 1 found, `}${percent(of_all)} of all; ${reasoning(of_reason)}` : "none";
  return [
    ["Questions", (f) => `${f.questions.entered} of ${f.questions.asked} answered wrong, ${f.questions.right} right, ${f.questions.unjudged} not judged`],
    ["Ended by", (f) => parts(Object.entries(f.stops).map(([name, n]) => [STOPS[name] || name, n]), f.questions.entered)],
    ["Settled by round", (f) => parts(f.settled.map(({ round, n }) => [`up to round ${round}`, n]), f.questions.entered)],
    ["Found after round 1", (f) => later(f.later)],
    ["Votes that agreed", (f) => votes(f.consensus)],
    ["Votes in round 1, by locale", (f) => Object.entries(f.consensus_by_round["1"] || {}).map(([locale, n]) => `${locale}: ${count(n.majority, "node")} with a majority, ${n.none} without`).join("; ") || DASH],
    ["By the earliest cause", (f) => (f.labels_by_order.n ? `the label of ${f.labels_by_order.changed} of ${count(f.labels_by_order.n, "error")} would be another` : DASH)],
    ["Stated times off", (f) => (f.times.compared ? `${count(f.times.compared, "vote")} compared: ${Object.entries(f.times.beyond).map(([limit, n]) => `${n} off by more than ${limit} s`).join(", ")}` : "no vote states a time that can be compared")],
    ["Right answers", (f) => (f.right_answers ? `${f.right_answers.without_error} of ${f.right_answers.n} without an error on the way` : "not tagged")],
    ["Another path", (f) => `${count(f.nodes.divergent, "node")}${f.nodes.divergent_share == null ? "" : `, ${percent(f.nodes.divergent_share)} of those evaluated`}`],
    ["Hints ignored", (f) => `${count(f.nodes.hint_ignored, "node")}; ${f.nodes.recovered || "none"} found later without being told`],
    ["Models", (f) => Object.entries(f.models).map(([role, one]) => `${role} ${one.model}: ${count(one.replies, "reply", "replies")}, ${count(one.prompt_tokens + one.completion_tokens, "token")}`).join("; ") || DASH],
    ["Judge", (f) => (f.judge ? `${f.judge.requested}, prompts ${f.judge.prompt}` : "as recorded in the result")],
    ["Model", (_, s) => joined([s.model, s.adapter && `by ${s.adapter}`, s.frames && `frames ${s.frames}`, s.gen_kwargs], "as recorded in the result")],
    ["Model arguments", (_, s) => pairs(s.model_args)],
    ["Asked of", (_, s) => pairs(s.models)],
    ["Sampling", (_, s) => pairs({ ...s.sampling, ...s.judge_sampling })],
    ["Judge’s prompts", (_, s) => (s.judge_prompts ? `${s.judge_prompts.name} (sha256 ${s.judge_prompts.sha256.slice(0, 12)})` : DASH)],
  ];
}

// --- the list ---
const last = (question) => question.diagnoses.filter(Boolean).map((rounds) => rounds[rounds.length - 1]);
const wrong = (question) => question.diagnoses.filter(Boolean).map((rounds) => rounds.filter(({ right }) => right !== true).at(-1)).filter(Boolean); // a right answer has no errors
const labelsOf = (question) => [...new Set(wrong(question).flatMap((round) => round.nodes.map((node) => node.label).filter(Boolean)))];
let chosen = null, round = null, typed = false; // typed: the address was last written for a search that is being typed
function fill(id, values, words) {
  at(id).append(h("option", { value: "" }, "all"), ...values.map((value) => h("option", { value }, (words && words[value]) || value)));
}
function shown() {
  const search = at("search").value.trim().toLowerCase();
  return data.questions.filter((question) =>
    (!search || `${question.id} ${question.question} ${question.answer}`.toLowerCase().includes(search)) &&
    (!at("label").value || labelsOf(question).includes(at("label").value)) &&
    (!at("stop").value || last(question).some((one) => one.stop === at("stop").value)) &&
    (!at("locale").value || question.locale === at("locale").value));
}
function list() {
  const questions = shown();
  at("count").textContent = `${questions.length} of ${count(data.questions.length, "question")}`;
  at("list").replaceChildren(...questions.map((question) => h("li", {}, h("button", { type: "button", "data-id": question.id, onclick: () => { choose(question); write(); } },
    h("span", { class: "q", lang: question.language, dir: "auto" }, question.question),
    h("span", { class: "about" }, `${question.id} · ${question.locale} · ${labelsOf(question).join(", ") || "no error found"}`)))));
  if (questions.length && !questions.includes(chosen)) choose(questions[0]); else mark();
  if (!questions.length) { chosen = null; at("detail").replaceChildren(); }
}
function mark() {
  for (const button of at("list").querySelectorAll("button")) button.setAttribute("aria-current", String(chosen !== null && button.dataset.id === chosen.id));
}
function choose(question, number = null) {
  chosen = question; round = roundsOf(question).includes(number) ? number : null; mark(); detail();
}

// --- the address: what is searched, filtered and looked at; each change is a step that Back undoes, typing one ---
const FILTERS = ["search", "label", "stop", "locale"];
function write(typing = false) {
  const state = new URLSearchParams(FILTERS.map((id) => [id, at(id).value]).filter(([, value]) => value));
  if (chosen) state.set("question", chosen.id);
  if (chosen && round !== roundsOf(chosen)[0]) state.set("round", round);
  if (`#${state}` !== location.hash) history[typing && typed ? "replaceState" : "pushState"](null, "", `#${state}`);
  typed = typing;
}
function read() {
  if (location.hash && !location.hash.includes("=")) return; // a place on the page
  const state = new URLSearchParams(location.hash.slice(1));
  for (const id of FILTERS) {
    at(id).value = state.get(id) || "";
    if (at(id).selectedIndex === -1) at(id).value = ""; // no choice of this page
  }
  typed = false;
  const question = data.questions.find(({ id }) => id === state.get("question")) || data.questions[0];
  if (question) choose(question, Number(state.get("round")));
  list();
}
at("list").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...at("list").querySelectorAll("button")];
  const next = buttons[buttons.indexOf(document.activeElement) + step];
  if (next) { next.focus(); next.click(); }
});

// --- one question ---
const roundsOf = (question) => [...new Set(question.diagnoses.filter(Boolean).flatMap((rounds) => rounds.map((one) => one.round)))];
function detail() {
  const question = chosen;
  const numbers = roundsOf(question);
  round = round || numbers[0];
  const theirs = { lang: question.language, dir: "auto" };
  const video = question.video ? h("video", { src: question.video, controls: true, preload: "metadata", "aria-label": "The question's video" }) : null;
  const turn = (n) => { round = n; detail(); write(); at("detail").querySelector(".rounds button[aria-pressed=true]").focus(); };
  at("detail").replaceChildren(
    h("div", { class: "card" },
      h("h3", theirs, question.question),
      h("dl", { class: "answers" }, h("dt", {}, "Right answer"), h("dd", theirs, question.answer)),
      h("details", {}, h("summary", {}, "The person’s steps"), h("p", { class: "said", ...theirs }, question.steps)),
      video || h("p", { class: "note" }, "The video is not on this machine."),
      h("div", { class: "rounds", role: "group", "aria-label": "Round" }, ...numbers.map((n) => h("button", { type: "button", "aria-pressed": String(n === round), onclick: () => turn(n) }, `Round ${n}`)))),
    ...question.diagnoses.map((rounds, place) => rounds ? attempt(question, rounds.find((one) => one.round === round), data.diagnoses[place], video) : null).filter(Boolean));
  for (const place of at("detail").querySelectorAll(".graph")) arrows(place);
}
const stateOf = (node) => (node.status ? STATES[node.status].join(" ") : "no state");
function attempt(question, one, diagnosis, video) {
  const title = several ? h("h3", {}, diagnosis.name) : null;
  if (!one) return h("div", { class: "card" }, title, h("p", { class: "note" }, "This round was not asked."));
  const whose = several ? ` of ${diagnosis.name}` : "";
  const show = (node) => { video.currentTime = node.seconds; video.scrollIntoView({ block: "nearest" }); };
  const moment = (node) => node.seconds !== null && video ? h("button", { type: "button", class: "time", onclick: () => show(node), "aria-label": `Show ${node.time} in the video` }, node.time) : node.seconds === null ? DASH : node.time;
  const state = (node) => `${stateOf(node)}${node.label ? `: ${node.label}${node.sub_cause ? ` (${node.sub_cause.replaceAll("_", " ")})` : ""}` : ""}${node.settled ? `, round ${node.settled}` : ""}${node.later ? `; ${node.later}` : ""}${node.why ? `: “${node.why}”` : ""}`;
  const judged = one.right === true ? "Judged right" : one.right === false ? "Judged not fully right" : "Not judged";
  return h("div", { class: "card" }, title,
    h("p", {}, h("strong", {}, `${judged}: `), h("span", { lang: question.language, dir: "auto" }, one.answer || "no answer"), one.stop ? h("span", { class: "sub" }, ` · ended by: ${STOPS[one.stop] || one.stop}`) : null),
    one.nodes.length ? graph(one.nodes, `Evidence graph, round ${one.round}${whose}`) : h("p", { class: "note" }, "There is no graph."),
    h("div", { class: "beside" },
      h("div", {}, h("h4", {}, "Evidence"), Elements.scroll(`Evidence${whose}`, Elements.table({}, ["Node", "Time", "Evidence", "Rests on", "State"],
        one.nodes.map((node) => [node.id, moment(node), h("td", { dir: "auto" }, node.evidence), joined(node.parents), state(node)])))),
      h("div", {}, h("h4", {}, "What the model wrote"), h("p", { class: "said", dir: "auto", tabindex: "0" }, one.output || "nothing"),
        h("h4", {}, "What it was told"), h("p", { class: "said", dir: "auto", tabindex: "0" }, one.cue || "nothing"))));
}

// --- the graph of evidence ---
/** Layers of {key, node, from}: each node at its depth, and a place in every layer that an arrow of its passes. */
function layersOf(nodes) {
  const depth = Object.fromEntries(nodes.map((node) => [node.id, node.depth]));
  const reach = {};
  for (const node of nodes) for (const parent of node.parents) reach[parent] = Math.max(reach[parent] || 0, node.depth);
  const layers = [];
  for (let k = 0; k <= Math.max(...Object.values(depth)); k++) {
    const before = layers[k - 1] || [];
    const own = nodes.filter((node) => node.depth === k).map((node) => ({ key: node.id, node, from: node.parents }));
    const passing = before.filter(({ key }) => reach[key] > k).map(({ key }) => ({ key, node: null, from: [key] }));
    const place = ({ from }) => {
      const places = from.map((key) => before.findIndex((one) => one.key === key));
      return places.length ? places.reduce((a, b) => a + b, 0) / places.length : 0;
    };
    layers.push([...own, ...passing].map((one) => [place(one), one]).sort((a, b) => a[0] - b[0]).map(([, one]) => one));
  }
  return layers;
}
const drawings = new WeakMap(); // a graph's place -> its nodes and what stands where
function graph(nodes, name) {
  const places = new Map();
  const layers = layersOf(nodes);
  const told = nodes.map((node) => `${node.id} ${stateOf(node)}${node.parents.length ? `, rests on ${node.parents.join(" and ")}` : ""}`).join("; ");
  const box = (node) => h("div", { class: `node ${node.status || ""}`, "data-node": node.id, title: node.evidence },
    h("span", { class: "sub" }, node.seconds === null ? node.id : `${node.id} · ${node.time}`),
    h("b", {}, `${stateOf(node)}${node.label ? `: ${node.label}` : ""}`),
    h("span", { class: "what", dir: "auto" }, node.evidence));
  const place = h("div", { class: "graph", role: "img", "aria-label": `${name}: ${told}` }, svg("svg", { "aria-hidden": "true" }),
    ...layers.map((layer, k) => h("div", { class: "layer" }, ...layer.map(({ key, node }) => {
      const element = node ? box(node) : h("div", { class: "lane-through" });
      places.set(`${k} ${key}`, element);
      return element;
    }))));
  drawings.set(place, { nodes, layers: layers.length, places });
  sized.observe(place);
  return place;
}
const WIDE = 150; // px that a column takes at least
function arrows(place) {
  const { nodes, layers, places } = drawings.get(place);
  const down = place.clientWidth < layers * WIDE + (layers - 1) * 44;
  place.classList.toggle("down", down);
  const frame = place.getBoundingClientRect();
  const ends = (element) => {
    const box = element.getBoundingClientRect();
    const [left, top] = [box.left - frame.left, box.top - frame.top];
    return down ? [[left + box.width / 2, top], [left + box.width / 2, top + box.height]] : [[left, top + box.height / 2], [left + box.width, top + box.height / 2]];
  };
  const depth = Object.fromEntries(nodes.map((node) => [node.id, node.depth]));
  const drawn = nodes.flatMap((node) => node.parents.flatMap((parent) => {
    let [, [x, y]] = ends(places.get(`${depth[parent]} ${parent}`));
    let path = `M${x} ${y}`;
    for (let k = depth[parent] + 1; k <= node.depth; k++) {
      const [[a, b], out] = ends(places.get(`${k} ${k === node.depth ? node.id : parent}`));
      path += down ? `C${x} ${(y + b) / 2} ${a} ${(y + b) / 2} ${a} ${b}` : `C${(x + a) / 2} ${y} ${(x + a) / 2} ${b} ${a} ${b}`;
      if (k < node.depth) path += `L${out[0]} ${out[1]}`;
      [x, y] = k === node.depth ? [a, b] : out;
    }
    return [svg("path", { d: path }), svg("path", { class: "head", d: `M${x} ${y}${down ? "l-4 -8h8z" : "l-8 -4v8z"}` })];
  }));
  place.querySelector("svg").replaceChildren(...drawn);
}
// A print has a page's width, which no script is told: the graph has it before its arrows are drawn.
const widths = (width) => () => { for (const place of document.querySelectorAll(".graph")) { place.style.width = width; arrows(place); } };
addEventListener("beforeprint", widths("640px"));
addEventListener("afterprint", widths(""));
const sized = new ResizeObserver((entries) => { for (const { target } of entries) if (target.isConnected) arrows(target); });

result();
tables();
fill("label", data.labels); fill("stop", data.stops, STOPS); fill("locale", [...new Set(data.questions.map((question) => question.locale))].sort());
for (const id of FILTERS) at(id).addEventListener(id === "search" ? "input" : "change", () => { list(); write(id === "search"); });
addEventListener("popstate", read);
if (location.hash.includes("=")) read(); else list();
