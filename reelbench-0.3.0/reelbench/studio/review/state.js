// What the reviewer said, and keeping it: in this browser at once, in a file on demand.
const KEY = ["reelbench-review", review.page, ...(review.part ? [review.part] : [])].join("-");
const at = (id) => document.getElementById(id);
const { h } = globalThis.Elements;
// marks: item's key -> ask's name -> what was said; seconds: place's id -> time spent there.
const fresh = () => ({ reviewer: "", marks: {}, seconds: {}, place: 0 });
let state = fresh();
let handle = null; // of the file that was saved to, where the browser gives one: kept up to date from then on
let keeps = true;
let unsaved = false;

const marksOf = (item) => state.marks[item.key] || {};
function mark(item, name, value) {
  const marks = (state.marks[item.key] ||= {});
  if (value === null || value === "" || (Array.isArray(value) && !value.length)) delete marks[name];
  else marks[name] = value;
  if (!Object.keys(marks).length) delete state.marks[item.key];
  keep();
}

// --- how far ---
function fault(ask, value) {
  if (!value) return "";
  if (ask.type === "text") return textFault(ask, value);
  if (ask.type === "labels") {
    const counted = value.filter((name) => name !== ask.beside).length;
    return counted < (ask.least || 0) ? `Choose at least ${ask.least}${ask.beside ? ` beside ${ask.beside}` : ""}.` : "";
  }
  if (ask.type !== "span" || value.includes(null)) return "";
  return value[1] < value[0] ? "The end lies before the start." : "";
}
function given(ask, marks) {
  const value = marks[ask.name];
  if (ask.type === "span") return Boolean(value) && !value.includes(null) && !fault(ask, value);
  return value !== undefined && !fault(ask, value);
}
// `when` and `needed` list [ask's name, values]: once one of these was chosen the ask is there, or no longer optional.
const meets = (marks, conditions) => conditions.some(([name, values]) => values.includes(marks[name]));
const applies = (ask, marks) => !ask.when || meets(marks, ask.when);
const settled = (ask, marks) =>
  !applies(ask, marks) || given(ask, marks) || (ask.optional && !meets(marks, ask.needed || []));
const whole = (item) => {
  const marks = marksOf(item);
  return marks.verdict === "bad" || item.asks.every((ask) => settled(ask, marks));
};
const items = review.places.flatMap((place) => place.items);
for (const place of review.places)
  for (const item of place.items) for (const ask of item.asks) if (ask.times) ask.length = review.videos[place.video].duration;
let done = new Set();
function count() { done = new Set(items.filter(whole).map((item) => item.key)); }
const finished = (place) => place.items.every((item) => done.has(item.key));

// --- keeping ---
function store() {
  const text = JSON.stringify(state);
  // Chromium may lose what a page kept that is reloaded soon after the browser's start; the tab's own copy stays.
  try { sessionStorage.setItem(KEY, text); } catch { /* the browser's copy counts */ }
  try { localStorage.setItem(KEY, text); keeps = true; } catch { keeps = false; }
}
function keep() {
  unsaved = true;
  store();
  for (const item of review.places[state.place].items) {
    if (whole(item)) done.add(item.key);
    else done.delete(item.key);
  }
  label(state.place);
  tell();
  if (handle) writeTo(handle).catch(() => { handle = null; tell("The file can't be written any more (is the disk full?); save again."); });
}
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? sessionStorage.getItem(KEY));
    return found && found.marks ? Object.assign(fresh(), found) : null;
  } catch { return null; }
}
// Ratings are kept by part; what is decided on them is marks, as on all other pages.
const byPart = review.ask === "ratings" && !review.consensus;
function documentOf() {
  const document = {
    kind: review.kind, schema_version: review.schema_version, ask: review.ask, page: review.page, part: review.part,
    consensus: review.consensus, benchmark: review.benchmark, split: review.split, reviewer: state.reviewer.trim(),
    saved: new Date().toISOString(), total: items.length, seconds: state.seconds,
    items: Object.fromEntries(items.map((item) => [item.id, item.about])),
  };
  if (!byPart) return JSON.stringify({ ...document, marks: state.marks }, null, 1) + "\n";
  const ratings = { caption: {}, question: {}, answer: {} };
  const comments = {};
  for (const item of items) {
    const { comment, ...rated } = marksOf(item);
    if (Object.keys(rated).length) ratings[item.part][item.id] = rated;
    if (comment) comments[item.id] = comment;
  }
  return JSON.stringify({ ...document, ratings, comments }, null, 1) + "\n";
}
function marksIn(document) {
  if (!byPart) return document.marks || {};
  const marks = {};
  for (const [part, rated] of Object.entries(document.ratings || {}))
    for (const [id, ratings] of Object.entries(rated)) marks[`${part} ${id}`] = { ...ratings };
  for (const item of items) {
    const comment = (document.comments || {})[item.id];
    if (comment && item.asks.some((ask) => ask.name === "comment")) (marks[item.key] ||= {}).comment = comment;
  }
  return marks;
}
async function writeTo(file) {
  const stream = await file.createWritable();
  await stream.write(documentOf());
  await stream.close();
  unsaved = false;
}
function fileName() {
  const name = state.reviewer.trim().replace(/[^\p{L}\p{N}_-]+/gu, "_");
  const ask = review.ask === "ratings" ? "review" : review.ask;
  return `${ask}-${review.benchmark}-${review.page.slice(0, 6)}-${name}.json`;
}
async function save() {
  if (!state.reviewer.trim()) {
    at("reviewer").focus();
    return tell("Your name is needed before saving: it tells reviewers apart.");
  }
  if (window.showSaveFilePicker) {
    try {
      handle = await window.showSaveFilePicker({ suggestedName: fileName(), types: [{ accept: { "application/json": [".json"] } }] });
      await writeTo(handle);
      return tell("Saved; this file is kept up to date from now on.");
    } catch (error) {
      const asked = handle !== null;
      handle = null;
      if (error.name === "AbortError") return;
      if (asked) return tell(`The file can't be written (${error.message}); nothing is lost here: save it elsewhere.`);
    }
  }
  const link = h("a", { href: URL.createObjectURL(new Blob([documentOf()], { type: "application/json" })), download: fileName() });
  link.click();
  unsaved = false;
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  tell("Saved to " + link.download + ".");
}
function refusal(given) {
  if (!given || given.kind !== review.kind) return "is not a review.";
  if (given.page !== review.page) return "is a review of another page.";
  if ((given.part || null) !== (review.part || null)) return `is of rater ${given.part}'s page, and this is rater ${review.part}'s.`;
  return "";
}
async function openFile(file) {
  let document;
  try { document = JSON.parse(await file.text()); } catch { return tell(file.name + " is not a review: it is not JSON."); }
  const why = refusal(document);
  if (why) return tell(`${file.name} ${why}`);
  const known = new Set(items.map((item) => item.key));
  const marks = Object.fromEntries(Object.entries(marksIn(document)).filter(([key]) => known.has(key)));
  const here = Object.keys(state.marks).filter((key) => !(key in marks)).length;
  // What is here and not in the file stays.
  state = { ...state, reviewer: document.reviewer, marks: { ...state.marks, ...marks }, seconds: { ...state.seconds, ...document.seconds } };
  at("reviewer").value = state.reviewer;
  count();
  labels();
  show();
  keep();
  tell(`Loaded ${file.name}.` + (here ? ` ${here} more were marked here already, and stay.` : ""));
}
function tell(line = "") {
  const where = handle ? "kept in the file" : keeps ? "kept in this browser" : "NOT kept: this browser stores nothing for this page; save to a file";
  const place = review.places[state.place];
  const here = place.items.length > 1 ? ` (${place.items.filter((item) => done.has(item.key)).length} of ${place.items.length} here)` : "";
  at("state").textContent = `${done.size} of ${items.length} ${review.verb}${here}, ${where}.` + (line ? " " + line : "");
  Object.assign(at("whole"), { max: items.length || 1, value: done.size });
}
// Another tab with this page keeps under the same key: what it said is taken over, so that neither writes over the other.
addEventListener("storage", (event) => {
  const theirs = event.key === KEY ? kept() : null;
  if (!theirs) return;
  state = { ...theirs, place: state.place };
  if (document.activeElement !== at("reviewer")) at("reviewer").value = state.reviewer;
  count();
  labels();
  show();
  tell("This page is open in another tab too; both show the same. Close one of them.");
});
addEventListener("beforeunload", (event) => { if (unsaved && !keeps && !handle) event.preventDefault(); });

// --- time spent: by the second, while the page is looked at and something was done within the last minute ---
let active = Date.now();
for (const event of ["pointerdown", "keydown", "pointermove"]) addEventListener(event, () => { active = Date.now(); }, { passive: true });
setInterval(() => {
  const playing = !at("video").paused;
  if (document.visibilityState !== "visible" || (!playing && Date.now() - active > 60000)) return;
  const place = review.places[state.place];
  state.seconds[place.id] = (state.seconds[place.id] || 0) + 1;
}, 1000);
addEventListener("pagehide", store);
