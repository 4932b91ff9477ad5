// Places, one after the other, and keys.
function label(place) {
  const option = at("jump").options[place];
  if (option) option.textContent = (finished(review.places[place]) ? "✓ " : "") + `${place + 1} of ${review.places.length}: ${review.places[place].label}`;
}
function labels() { review.places.forEach((_, place) => label(place)); }
let boxes = [];
function section(item) {
  const box = h("section", { "aria-label": `${item.part || "item"} ${item.id}` });
  Object.assign(box.dataset, { part: item.part, id: item.id });
  const shown = (list) => (list || []).flatMap((one) => shows[one.type](one, item));
  const settle = () => {
    const marks = marksOf(item);
    item.asks.forEach((ask, place) => {
      frames[place].hidden = !applies(ask, marks);
      frames[place].toggleAttribute("data-open", !whole(item) && !settled(ask, marks));
      // What was said before something was revealed stays as it was said.
      if (ask.locked) for (const input of frames[place].querySelectorAll("input, textarea, button")) input.disabled = marks[ask.locked] !== undefined;
      if (warnings[place]) warnings[place].textContent = fault(ask, marks[ask.name]);
      if (parts[place].settle) parts[place].settle(marks);
    });
    box.classList.toggle("done", whole(item));
    if (box.isConnected) { sketch(); point(); }
  };
  const parts = item.asks.map((ask) => asks[ask.type](ask, item, (value) => { mark(item, ask.name, value); settle(); }));
  const checked = (ask) => ask.scripts || ask.least;
  const warnings = item.asks.map((ask) => (checked(ask) ? h("p", { class: "fault", role: "alert" }) : null));
  const frames = item.asks.map((ask, place) => h("div", {}, ...shown(ask.shows), parts[place], ...(warnings[place] ? [warnings[place]] : [])));
  box.append(...shown(item.shows));
  let scales = null; // scales that follow each other stand side by side where there is room
  frames.forEach((frame, place) => {
    if (item.asks[place].type !== "scale") { scales = null; box.append(frame); return; }
    if (!scales) box.append((scales = h("div", { class: "scales" })));
    scales.append(frame);
  });
  box.draw = () => parts.forEach((part) => part.draw && part.draw());
  settle();
  return box;
}
function show() {
  const place = review.places[state.place];
  at("jump").value = String(state.place);
  at("previous").disabled = state.place === 0;
  at("next").disabled = state.place === review.places.length - 1;
  player.load(place.video);
  // The keys for start and end are the first span's.
  for (const item of place.items) item.active = item.asks.find((ask) => ask.type === "span");
  boxes = place.items.map(section);
  at("items").replaceChildren(...boxes);
  latest = null;
  stand(Math.max(0, groups().findIndex((pairs) => !pairs.every(([item]) => done.has(item.key)))));
  point();
  player.tick();
  tell();
}
function go(place) {
  if (place < 0 || place >= review.places.length || place === state.place) return;
  state.place = place;
  video.pause();
  player.looped = null;
  store();
  show();
  scrollTo(0, 0);
}
// What is still open: first on this page, behind where one is, then in the next place.
function unfinished() {
  if (boxes.length > 1) {
    const here = document.activeElement.closest("#items *") || latest || (phone.matches && groups()[standing][0][1]);
    const next = openAsks().find((box) => !here || here.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (next) return reach(next);
  }
  const order = review.places.map((_, place) => (state.place + 1 + place) % review.places.length);
  const next = order.find((place) => !finished(review.places[place]));
  if (next !== undefined) {
    go(next);
    if (boxes.length > 1 && openAsks()[0]) reach(openAsks()[0]);
  } else if (openAsks()[0]) reach(openAsks()[0]);
  else tell("All done: save to a file.");
}
const openAsks = () => [...at("items").querySelectorAll("[data-open]:not([hidden])")];
function reach(box) {
  latest = null;
  stand(groups().findIndex((pairs) => pairs.some(([, section]) => section.contains(box))));
  const target = box.querySelector("input:enabled, textarea:enabled, [tabindex='0'], button:enabled");
  if (target) target.focus({ preventScroll: true });
  box.scrollIntoView({ block: "center" });
}
// --- the questions of this place, each with how far it is ---
const groups = () => {
  const byId = new Map();
  review.places[state.place].items.forEach((item, number) => {
    if (!byId.has(item.id)) byId.set(item.id, []);
    byId.get(item.id).push([item, boxes[number]]);
  });
  return [...byId.values()];
};
// On a phone one question at a time, as the whole page would be a dozen screens long.
const phone = matchMedia("(max-width: 40rem)");
let standing = 0; // the number of the question that one is at
function stand(number) {
  standing = number;
  const entries = groups();
  entries.forEach((pairs, place) => pairs.forEach(([, box]) => { box.hidden = phone.matches && place !== number; }));
  const last = number === entries.length - 1;
  at("onward").hidden = !phone.matches || entries.length < 2 || (last && state.place === review.places.length - 1);
  at("onward").textContent = last ? `Next ${review.unit.toLowerCase()}` : "Next question";
  sketch();
}
function sketch() {
  const entries = groups();
  at("outline").hidden = entries.length < 2;
  if (entries.length < 2) return;
  at("outline").firstElementChild.replaceChildren(...entries.map((pairs, number) => {
    const needed = pairs.flatMap(([item]) => item.asks.filter((ask) => !ask.optional && applies(ask, marksOf(item))).map((ask) => settled(ask, marksOf(item))));
    const all = pairs.every(([item]) => done.has(item.key));
    const first = pairs[0][0];
    const words = first.shows.find((one) => one.text);
    const text = first.part === "caption" || !words ? (words || { heading: first.id }).heading : words.text;
    const entry = h("a", { href: "#items", "aria-current": phone.matches && number === standing ? "true" : null }, h("span", { text: all ? "✓" : String(number + 1) }), h("span", { text, dir: "auto" }), h("span", { text: all ? "done" : `${needed.filter(Boolean).length} of ${needed.length}` }));
    entry.addEventListener("click", (event) => { event.preventDefault(); leap(pairs); });
    return h("li", {}, entry);
  }));
}
function leap(pairs) {
  stand(groups().findIndex(([[, box]]) => box === pairs[0][1]));
  const parts = pairs.map(([, box]) => box);
  const part = parts.find((box) => box.querySelector("[data-open]:not([hidden])")) || parts[0];
  latest = null;
  part.scrollIntoView({ block: "start" });
  const target = part.querySelector("[data-open]:not([hidden]) input:enabled") || part.querySelector("input:enabled, textarea, button");
  if (target) target.focus({ preventScroll: true });
  point();
}
function neighbour(step) {
  const entries = groups();
  const here = document.activeElement.closest("section") || latest?.closest("section");
  const place = entries.findIndex((pairs) => pairs.some(([, box]) => box === here));
  const next = entries[here ? place + step : 0];
  if (next) leap(next);
}
// Where the next digit goes.
let latest = null; // the last that a digit went to
function awaited() {
  const open = [...at("items").querySelectorAll("fieldset")].filter((box) => !box.closest("[hidden]") && box.querySelector("input[type=radio]:enabled"));
  const empty = open.filter((box) => !box.querySelector("input:checked"));
  return open.find((box) => box.contains(document.activeElement))
    || empty.find((box) => latest && latest.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING) || empty[0] || open[0];
}
function point() {
  const next = awaited();
  const open = next && (next.contains(document.activeElement) || !next.querySelector("input:checked"));
  for (const box of at("items").querySelectorAll("fieldset")) box.classList.toggle("awaited", Boolean(open) && box === next);
  return next;
}
const press = (key) => { const target = at("items").querySelector(`[data-key="${key}"]`); if (target) target.click(); };
function digit(number) {
  const box = awaited();
  if (!box) return;
  const radios = [...box.querySelectorAll("input[type=radio]")];
  const wanted = box.querySelector(".scale") ? radios.find((radio) => radio.value === String(number)) : radios[number - 1];
  if (!wanted) return;
  latest = box;
  wanted.click();
  if (box.contains(document.activeElement)) document.activeElement.blur(); // the next digit goes to the next question
  const next = point();
  const seen = next && next.getBoundingClientRect();
  if (seen && (seen.bottom > innerHeight || seen.top < 0)) next.scrollIntoView({ block: "center" });
}
function spanEnd(end) {
  const item = review.places[state.place].items.find((one) => one.active);
  const span = item && marksOf(item)[item.active.name];
  if (span && span[end] !== null) player.seek(span[end]);
}
const KEYS = [
  ["Space K", "play, pause"],
  ["← →", "1 second back, on (with Shift 0.1 s)"],
  [", .", "1 frame back, on"],
  ["- +", "play slower, faster"],
  ["I O", "start, end here", "span"],
  ["[ ]", "go to the start, the end", "span"],
  ["L", "play the span; loop over it", "span"],
  ["B", "bad, or not", "verdict"],
  ["0–9", "choose, or rate", "choice"],
  ["P N", "previous, next"],
  ["J H", "next, previous question of this page", "several"],
  ["U", "next that is open"],
  ["S", "save to a file"],
];
const actions = {
  " ": () => player.toggle(), k: () => player.toggle(),
  arrowleft: (event) => player.seek(player.time - (event.shiftKey ? .1 : 1)), arrowright: (event) => player.seek(player.time + (event.shiftKey ? .1 : 1)),
  ",": () => player.step(-1), ".": () => player.step(1),
  "-": () => player.pace(-1), "+": () => player.pace(1),
  i: () => press("start"), o: () => press("end"), "[": () => spanEnd(0), "]": () => spanEnd(1),
  l: () => {
    const item = review.places[state.place].items.find((one) => one.active);
    if (item) playSpan(marksOf(item)[item.active.name] || [null, null]);
  },
  j: () => neighbour(1), h: () => neighbour(-1), b: () => press("bad"), p: () => go(state.place - 1), n: () => go(state.place + 1), u: unfinished, s: save,
};
addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches("textarea, select, input[type=text], input[type=file]")) return;
  const key = event.key.toLowerCase();
  const own = target.matches("button, input, summary, video") && [" ", "arrowleft", "arrowright"].includes(key);
  if (own) return;
  if (/^\d$/.test(key)) digit(Number(key));
  else if (Object.hasOwn(actions, key)) actions[key](event);
  else return;
  event.preventDefault();
});

state = kept() || state;
state.place = Math.min(Math.max(0, state.place | 0), review.places.length - 1);
document.title = at("title").textContent = review.heading;
Shell.theme(at("theme"));
const types = new Set(items.flatMap((item) => item.asks.map((ask) => (ask.type === "scale" ? "choice" : ask.type))));
if (review.places.some((place) => new Set(place.items.map((item) => item.id)).size > 1)) types.add("several");
at("shortcuts").append(...KEYS.filter(([, , type]) => !type || types.has(type)).flatMap(([keys, what]) =>
  [h("dt", {}, ...keys.split(" ").flatMap((key) => [h("kbd", { text: key }), " "])), h("dd", { text: what })]));
at("terms").textContent = review.terms || "";
at("terms").hidden = !review.terms;
at("clock").querySelector(".loop").hidden = !types.has("span");
at("advice").append(...review.advice.map((line) => h("li", { text: line })));
at("jump").setAttribute("aria-label", review.unit);
at("jump").append(...review.places.map((_, place) => h("option", { value: String(place) })));
at("reviewer").value = state.reviewer;
at("reviewer").addEventListener("input", () => { state.reviewer = at("reviewer").value; keep(); });
at("save").addEventListener("click", save);
at("open").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", () => { if (at("file").files[0]) openFile(at("file").files[0]); at("file").value = ""; });
at("previous").addEventListener("click", () => go(state.place - 1));
at("next").addEventListener("click", () => go(state.place + 1));
at("unfinished").addEventListener("click", unfinished);
at("items").addEventListener("focusin", point);
at("onward").addEventListener("click", () => {
  const next = groups()[standing + 1];
  if (next) leap(next);
  else go(state.place + 1);
});
phone.addEventListener("change", () => stand(standing));
at("jump").addEventListener("change", () => go(Number(at("jump").value)));
at("loop").addEventListener("change", () => boxes.forEach((box) => box.draw()));
document.addEventListener("length", () => { player.tick(); boxes.forEach((box) => box.draw()); });
if (matchMedia("(max-width: 60rem)").matches) at("guide").open = false;
count();
labels();
show();
