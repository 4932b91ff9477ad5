/* A chain on one video: what survived, who said what, and what came through of all videos. */
"use strict";
const { h } = globalThis.Elements;
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);

// --- numbers and times in words ---
const DASH = "–";
const spaced = (code) => code.replaceAll("_", " ");
const count = (n, noun, plural = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;
const percent = (share) => `${Math.round(100 * share)}\u00a0%`;
const number = (value) => (value == null ? DASH : value.toFixed(1).replace("-", "−"));
const signed = (value) => (Math.abs(value) < 0.05 ? "0.0" : `${value > 0 ? "+" : ""}${number(value)}`);
/** mm:ss, with hours where there are any and tenths where they say something. */
function clock(seconds) {
  const tenths = Math.round(10 * seconds);
  const [minutes, rest] = [Math.floor(tenths / 600), tenths % 600];
  const two = (n) => String(n).padStart(2, "0");
  const shown = rest % 10 ? (rest / 10).toFixed(1).padStart(4, "0") : two(rest / 10);
  return minutes < 60 ? `${two(minutes)}:${shown}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${shown}`;
}

// --- what others wrote, as text ---
const sub = (text, kind = "sub") => h("span", { class: kind }, text);
const said = (text, kind = "") => h("p", { class: `said ${kind}`.trim(), dir: "auto" }, text);
const fold = (summary, ...content) => h("details", {}, h("summary", {}, summary), ...content);
/** Runs of words as [before, after]: what was taken out and what was put in, marked where it stands. */
function marked(tag, words) {
  const text = words.trimStart();
  return text ? [words.slice(0, words.length - text.length), h(tag, {}, text)] : [];
}
function changes(runs) {
  const parted = runs.some(([old]) => old.includes(" ")); // a script with spaces between its words
  return runs.flatMap(([old, put]) => {
    if (old === put) return [put];
    return [...marked("del", old), ...(parted && old.trim() && put.trim() && !/^\s/.test(put) ? [" "] : []), ...marked("ins", put)];
  });
}
const side = (runs, place, tag) => runs.flatMap((run) => (run[0] === run[1] ? [run[place]] : marked(tag, run[place])));
/** Spans, [name, [start, end]] in seconds, on one axis to `length` or the last end: a line each. */
const STEPS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600]; // seconds between an axis' marks
function strip(spans, length) {
  const end = Math.max(length, ...spans.map(([, span]) => span[1]));
  if (!spans.length || end <= 0) return null;
  const share = (seconds) => `${((100 * seconds) / end).toFixed(3)}%`;
  const step = STEPS.find((each) => end / each <= 6) || end / 6;
  const marks = Array.from({ length: Math.floor(end / step) + 1 }, (_, place) => place * step).filter((mark) => mark <= 0.9 * end);
  return h("div", { class: "lines" },
    ...spans.flatMap(([name, [start, stop]]) => [
      h("span", {}, `${name} `, sub(`${clock(start)} to ${clock(stop)}`)),
      h("span", { class: "rail", "aria-hidden": "true" }, h("i", { class: /answer/i.test(name) ? "answer" : null, style: `left:${share(start)};width:${share(stop - start)}`, "data-start": start, "data-end": stop })),
    ]),
    h("span", { class: "ruled", "aria-hidden": "true" }),
    h("span", { class: "ruler", "aria-hidden": "true" }, ...[...marks, end].map((mark) => h("i", { style: `left:${share(mark)}` }, clock(mark)))));
}

// --- the result ---
function summary() {
  const told = [`${count(data.made.length, "question")} came of ${count(data.replies, "reply", "replies")}.`];
  if (data.drafts) {
    const changed = data.drafts.filter(({ before, after, changed }) => before && after && changed.length).length;
    told.push(`The discussion changed ${changed} of ${count(data.drafts.filter(({ before }) => before).length, "draft")}.`);
  }
  const sides = data.verdicts;
  if (sides.length && sides[0] && new Set(sides).size === 1) told.push(`The judge prefers ${sides[0]}${sides.length > 1 ? ", whichever is shown first" : ""}.`);
  else if (sides.length) told.push("The judge prefers neither set in both orders.");
  return told.join(" ");
}
const written = (entry) => [said(entry.question, "asked"), said(entry.answer)];
/** The single pass beside what came of it, question by question. */
function beside({ id, before, after, changed, runs }) {
  const badge = before && after ? (changed.length ? `${changed.join(" and ")} changed` : "as drafted") : after ? "new" : "dropped";
  const column = (title, place, tag) => h("div", {}, h("p", { class: "sub" }, title),
    h("p", { class: "said asked", dir: "auto" }, ...side(runs.question, place, tag)), h("p", { class: "said", dir: "auto" }, ...side(runs.answer, place, tag)));
  const content = changed.length ? [h("div", { class: "pair" }, column("Draft (single pass)", 0, "del"), column("Refined (discussion)", 1, "ins"))] : written(after || before);
  const { short_answer: short, classification: kind } = after || {};
  const more = [...(short ? [["Short answer: ", h("span", { dir: "auto" }, short)]] : []), ...(kind ? [[`Kind: ${spaced(kind)}`]] : [])];
  return [h("dt", {}, `${id} `, sub(badge, "badge")),
    h("dd", {}, ...content, more.length ? h("p", { class: "sub" }, ...more.flatMap((part, place) => (place ? [" · ", ...part] : part))) : null)];
}
function survived(entry) {
  const spans = [["Asked about", entry.question_span], ["Answer", entry.span]].filter(([, span]) => span);
  let answer = entry.answer;
  for (const [place, mark] of entry.span ? ["<s0>", "<e0>"].entries() : []) answer = answer.replaceAll(mark, clock(entry.span[place]));
  const options = (entry.options || []).map((option, place) => {
    const letter = data.letters[place];
    const right = letter === entry.ans;
    return h("li", { class: right ? "right" : null }, sub(right ? `${letter} ✓` : letter), " ", h("span", { dir: "auto" }, option));
  });
  return [h("dt", { dir: "auto" }, entry.question, ...(entry.category ? [" ", sub(spaced(entry.category), "badge")] : [])),
    h("dd", {}, options.length ? h("ul", { class: "options" }, ...options) : null, said(answer), strip(spans, entry.duration || 0))];
}

// --- who said what ---
function questions(list) {
  return h("dl", { class: "questions" }, ...list.flatMap(({ question, answer }) => [h("dt", { dir: "auto" }, ...changes(question)), h("dd", { dir: "auto" }, ...changes(answer))]));
}
function values({ spans, pairs, facts }) {
  return [strip(spans, data.length),
    pairs.length ? h("ul", {}, ...pairs.map(([asked, answer]) => h("li", {}, h("strong", { dir: "auto" }, asked), " ", h("span", { dir: "auto" }, answer)))) : null,
    facts.length ? h("ul", { class: "facts" }, ...facts.map(([name, value]) => h("li", {}, sub(spaced(name)), ` ${value}`))) : null].filter(Boolean);
}
function reply(one) {
  const content = one.questions.length ? [questions(one.questions)]
    : one.prefers ? [h("p", {}, h("strong", {}, one.prefers), " ", sub(`(${one.shown_first} was shown first)`))] : values(one);
  const about = [one.model || "no model named", `${count(one.tokens.prompt, "token")} read, ${one.tokens.completion.toLocaleString("en")} written`,
    ...(one.attempt ? [`asked again (${one.attempt + 1})`] : [])];
  const shown = [...(one.words ? [said(one.words)] : []), ...content];
  return h("div", { class: "reply" }, one.times > 1 ? h("p", { class: "badge" }, `${one.times} times the same`) : null,
    one.material.length ? h("ul", { class: "material" }, ...one.material.map(([name, text]) => h("li", {}, sub(name), " ", h("span", { class: "said", dir: "auto" }, text)))) : null,
    ...(shown.length ? shown : [said(one.reply || "(nothing)")]),
    h("p", { class: "sub about" }, about.join(" · "), ...(one.read ? [] : [" ", sub("could not be used", "badge warn")])),
    content.length ? fold("The reply as it came", h("pre", { dir: "auto" }, one.reply)) : null,
    fold("What was asked", ...one.asked.flatMap(([role, text]) => [h("p", { class: "sub" }, spaced(role)), h("pre", { dir: "auto" }, text)])));
}
const turn = ({ role, round, replies }) =>
  h("section", { class: "card turn" }, h("h3", {}, round ? `${spaced(role)} · round ${round}` : spaced(role)), ...replies.map(reply));

// --- all videos ---
function table(name, heads, rows) {
  const head = heads.map(([text, columns]) => h("th", { scope: "col", colspan: columns }, text));
  return h("section", { class: "card scroll", tabindex: "0", "aria-label": name }, Elements.table({}, head, rows));
}
const MEASURES = {
  flesch_kincaid: "Reading grade (Flesch-Kincaid) of {}", words: "Words of {}", specificity: "Names and numbers in {}",
  parse_depth: "Depth of the parse tree of {}", bloom: "Bloom’s level (1 to 6) of {}", higher_order: "Higher-order {}s, %",
};
function measureNamed(name) {
  const [, measure, of] = /^(.*)_(question|answer)$/.exec(name) || [];
  if (!(measure in MEASURES)) return spaced(name);
  return MEASURES[measure].replace("{}", measure === "higher_order" ? of : of === "answer" ? "an answer" : "a question");
}
/** A difference with its interval on an axis of its own, as long to both sides of zero. */
function track(by, ends) {
  const reach = Math.max(...[by, ...ends].map(Math.abs)) || 1;
  return Plots.track({ value: by, ends, steps: [-reach, reach], rules: [{ at: 0, kind: "zero" }], tip: `${signed(by)}, 95 % interval ${ends.map(signed).join(" to ")}` });
}
function measured([name, { single_pass: first, discussion: last, difference: by, ci95: ends }]) {
  const cells = by == null ? [h("td", {}, DASH), h("td", { colspan: 2 }, DASH)]
    : [h("td", { class: "n" }, signed(by)), ...(ends ? [h("td", { class: "axis-cell" }, track(by, ends)), h("td", { class: "n" }, `${signed(ends[0])} to ${signed(ends[1])}`)] : [h("td", { colspan: 2 }, "no interval")])];
  return [measureNamed(name), h("td", { class: "n" }, number(first)), h("td", { class: "n" }, number(last)), ...cells];
}
function preferred(win) {
  const ends = win.ci95 ? ` (95 % interval ${Math.round(100 * win.ci95[0])} to ${percent(win.ci95[1])})` : "";
  return h("p", {}, `The judge prefers the discussion’s questions on ${percent(win.value)} of ${count(win.videos, "video")}${ends}, a tie counting half; the same in both orders on ${percent(win.same_in_both_orders)}.`);
}
const REASONS = { // in words, where their own name isn't one
  unparsable: "unreadable reply", unavailable: "no reply", none: "no event beside it", media_missing: "video missing", media_unreadable: "unreadable video",
};
function stage({ name, in: entered, out, dropped }) {
  const lost = Object.entries(dropped).map(([reason, n]) => `${spaced(REASONS[reason] || reason)} ${n.toLocaleString("en")}`).join(", ");
  const width = `${(entered ? (100 * out) / entered : 0).toFixed(2)}%`;
  return [spaced(name), h("td", { class: "wide" }, h("span", { class: "lane share" }, h("i", { class: "fill", style: `width:${width}` }))),
    h("td", { class: "n" }, `${out.toLocaleString("en")} of ${entered.toLocaleString("en")}`), lost || DASH];
}

at("name").textContent = data.name;
at("summary").textContent = summary();
if (!data.made.length) at("h-survived").textContent = "Nothing survived";
const results = data.drafts ? data.drafts.flatMap(beside) : data.made.flatMap(survived);
if (results.length) at("survived").append(h("dl", { class: "card made" }, ...results));
at("said").append(...data.turns.map(turn),
  ...(data.texts ? [h("p", { class: "note" }, `Beside these, ${count(data.texts, "reply", "replies")} on the level of a single text, in trace.jsonl.`)] : []));
if (data.compared) {
  const { win_rate: win, measures } = data.compared;
  const heads = [["Mean"], ["Single pass"], ["Discussion"], ["Difference"], ["95 % interval", 2]];
  at("compared").append(...(win ? [preferred(win)] : []), table("Both sets compared", heads, Object.entries(measures).map(measured)));
  at("compared").hidden = false;
}
at("videos").append(table("Stages", [["Stage"], ["Came through", 2], ["Dropped"]], data.stages.map(stage)));
