/* The pictures, as SVG in the page's own colours. Each is drawn when it comes into view, as wide as its place. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { h, svg, num } = R;
  const MOST = 24; // rows of a picture with a line each
  const COMPARED = 6; // models of a picture with a mark each
  const LABELLED = 30; // points that are named
  const FONT = "11px system-ui, sans-serif";
  const LINE = 22;

  const pen = document.createElement("canvas").getContext("2d");
  const wide = (text) => { pen.font = FONT; return pen.measureText(text).width * 1.06; };
  const name = (row) => (row.setting === "fine-tuned" ? `${row.model}, fine-tuned` : row.model);
  /** Text cut to a width. */
  function cut(text, width) {
    let end = text.length;
    while (end > 4 && wide(text.slice(0, end)) > width) end -= Math.ceil((end - 4) / 8);
    return end < text.length ? `${text.slice(0, end - 1).trimEnd()}…` : text;
  }
  // Writing directions that a name may switch on end with it.
  const put = (x, y, text, attributes) => svg("text", { x: x.toFixed(1), y: y.toFixed(1), style: "unicode-bidi: isolate", ...attributes }, text);
  const line = (x1, y1, x2, y2, kind) => svg("line", { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1), class: kind });
  const tip = (text) => svg("title", {}, text);
  const canvas = (width, height, ...parts) => svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", style: `font: ${FONT}` }, ...parts);

  /** Round steps that hold both ends: 1, 2, 2.5 or 5 times a power of ten. */
  function ticks(low, high, most = 5) {
    const span = Math.max(high - low, 1e-6);
    const power = 10 ** Math.floor(Math.log10(span / most));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((s) => span / s <= most + 1e-9);
    const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
    return Array.from({ length: Math.max(last, first + 1) - first + 1 }, (_, i) => +((first + i) * step).toPrecision(10));
  }
  /** Ticks around values, with some air, inside what the metric can be. */
  function around(values, { low, high }, many) {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const air = Math.max((most - least) * 0.06, (high - low) * 0.01);
    return ticks(Math.max(low, least - air), Math.min(high, most + air), many);
  }
  const scale = (steps, from, to) => (value) => from + ((to - from) * (value - steps[0])) / (steps.at(-1) - steps[0]);
  // A mark has a form as well as a colour, for eyes that can't tell the colours apart.
  const FORMS = ["M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", "M-4.5 -4.5h9v9h-9z", "M0 -6L5.5 4.5H-5.5z", "M0 -6L6 0L0 6L-6 0z", "M0 6L5.5 -4.5H-5.5z", "M-6 -2h4v-4h4v4h4v4h-4v4h-4v-4h-4z"];
  const mark = (x, y, i, text) => svg("path", { d: FORMS[i % FORMS.length], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, class: `mark c${i % FORMS.length}` }, tip(text));
  const legend = (names) => h("ul", { class: "legend" }, names.map((text, i) => h("li", {}, svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, mark(0, 0, i, text)), R.bdi(text))));

  // --- forms of pictures ---

  /** A line per label with marks on it: {label, marks: [{at, ends, i, text}]}. */
  function lanes(width, lines, metric, names) {
    const left = Math.min(width * 0.4, Math.max(...lines.map(({ label }) => wide(label))) + 14);
    const values = lines.flatMap(({ marks }) => marks.flatMap(({ at, ends }) => [at, ...(ends || [])]));
    const steps = around(values, metric, width > 560 ? 9 : 5);
    const x = scale(steps, left + 8, width - 18), bottom = lines.length * LINE + 6;
    const parts = steps.map((step) => [line(x(step), 2, x(step), bottom, "gridline"), put(x(step), bottom + 15, String(step), { "text-anchor": "middle", class: "soft" })]);
    lines.forEach(({ label, marks }, i) => {
      const y = i * LINE + LINE / 2 + 2, at = marks.map((m) => x(m.at));
      parts.push(put(left - 4, y + 4, cut(label, left - 10), { "text-anchor": "end" }));
      if (marks.length > 1) parts.push(line(Math.min(...at), y, Math.max(...at), y, "joined"));
      for (const m of marks) {
        if (m.ends) parts.push(line(x(m.ends[0]), y, x(m.ends[1]), y, "ends"));
        parts.push(mark(x(m.at), y, m.i, m.text));
      }
    });
    return [names && legend(names), canvas(width, bottom + 22, ...parts.flat())];
  }
  /** Lines and columns of numbers on a ground whose strength is the number. */
  function heat(width, labels, lines, metric) {
    const left = Math.min(220, Math.max(...lines.map(({ label }) => wide(label))) + 12);
    const cell = Math.max(40, (width - left) / labels.length), whole = left + cell * labels.length;
    const top = Math.max(...labels.map(wide)) > cell - 4 ? 64 : 22;
    const parts = labels.map((label, i) => {
      const x = left + (i + 0.5) * cell;
      return top > 22 ? put(x, top - 8, cut(label, 70), { transform: `rotate(-40 ${x} ${top - 8})`, class: "soft" }) : put(x, 14, label, { "text-anchor": "middle", class: "soft" });
    });
    lines.forEach(({ label, values }, i) => {
      const y = top + i * LINE;
      parts.push(put(left - 8, y + 15, cut(label, left - 12), { "text-anchor": "end" }));
      values.forEach((value, k) => {
        if (value == null) return;
        const share = Math.max(0, Math.min(1, (value - metric.low) / (metric.high - metric.low)));
        parts.push(svg("rect", { x: (left + k * cell + 1).toFixed(1), y: y + 1, width: (cell - 2).toFixed(1), height: LINE - 2, rx: 3, class: "heat", "fill-opacity": (0.06 + 0.6 * share).toFixed(3) }, tip(`${label}, ${labels[k]}: ${num(value, metric.unit)}`)));
        parts.push(put(left + (k + 0.5) * cell, y + 15, num(value, metric.unit), { "text-anchor": "middle", class: "over" }));
      });
    });
    return [canvas(Math.ceil(whole), top + lines.length * LINE + 8, ...parts)];
  }
  /** Points with names where there is room for them. Axes: {title, steps, place(value), show(step)}. */
  function points(width, dots, x, y, { joined = [], rules = [] } = {}) {
    const height = Math.min(420, Math.max(300, width * 0.6)), left = 46, bottom = height - 40;
    const X = (value) => scale([x.place(x.steps[0]), x.place(x.steps.at(-1))], left, width - 16)(x.place(value));
    const Y = scale(y.steps, bottom, 14);
    const parts = [
      ...x.steps.flatMap((step) => [line(X(step), 14, X(step), bottom, "gridline"), put(X(step), bottom + 15, String(step), { "text-anchor": "middle", class: "soft" })]),
      ...y.steps.flatMap((step) => [line(left, Y(step), width - 16, Y(step), "gridline"), put(left - 6, Y(step) + 4, String(step), { "text-anchor": "end", class: "soft" })]),
      put((left + width) / 2, height - 6, x.title, { "text-anchor": "middle", class: "soft" }),
      put(12, (bottom + 14) / 2, y.title, { "text-anchor": "middle", class: "soft", transform: `rotate(-90 12 ${(bottom + 14) / 2})` })];
    const taken = dots.map((dot) => [X(dot.x) - 6, Y(dot.y) - 6, X(dot.x) + 6, Y(dot.y) + 6]);
    rules.forEach(({ at, text }, i) => {
      const label = cut(text, 170), end = X(at) + 6 + wide(label) > width;
      parts.push(line(X(at), 14, X(at), bottom, "rule"), put(X(at) + (end ? -6 : 6), 24 + 15 * i, label, { class: "floor", "text-anchor": end ? "end" : "start" }));
      taken.push([X(at) - (end ? wide(label) + 6 : 0), 12 + 15 * i, X(at) + (end ? 0 : wide(label) + 6), 28 + 15 * i]);
    });
    for (const path of joined) parts.push(svg("polyline", { class: "path", points: path.map((dot) => `${X(dot.x).toFixed(1)},${Y(dot.y).toFixed(1)}`).join(" ") }));
    for (const dot of dots) parts.push(mark(X(dot.x), Y(dot.y), 0, dot.text));
    for (const dot of dots.slice(0, LABELLED)) {
      const text = cut(dot.name, 170), w = wide(text);
      const places = [[9, 4, "start"], [-9, 4, "end"], [0, -10, "middle"], [0, 17, "middle"]];
      for (const [dx, dy, anchor] of places) {
        const from = X(dot.x) + dx - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0), to = Y(dot.y) + dy;
        const box = [from, to - 10, from + w, to + 3];
        const free = box[0] > left && box[2] < width && box[1] > 0 && box[3] < bottom
          && taken.every((other) => other[2] < box[0] || other[0] > box[2] || other[3] < box[1] || other[1] > box[3] || other === taken[dots.indexOf(dot)]);
        if (!free) continue;
        taken.push(box);
        parts.push(put(X(dot.x) + dx, to, text, { "text-anchor": anchor }));
        break;
      }
    }
    return [canvas(width, height, ...parts)];
  }

  // --- what there is to draw: [id, title, line of explanation, draw(width), whether wide] ---

  const at = (b, id) => b.metrics.findIndex((metric) => metric.name === id);
  const marks = (rows, numbers, unit) => rows.map((row, i) => [row, numbers(row), i]).filter(([, n]) => n)
    .map(([row, n, i]) => ({ at: n[0], i, text: `${name(row)}: ${num(n[0], unit)}` }));

  function parts({ b, chosen }) {
    const metric = b.metrics[0], indexes = metric.parts.map((id) => at(b, id));
    const rows = chosen.filter((row) => indexes.some((i) => row.v[i])).slice(0, COMPARED);
    if (!indexes.length || !rows.length) return null;
    const lines = indexes.map((i) => ({ label: R.short(b.metrics[i].title), marks: marks(rows, (row) => row.v[i], metric.unit) }));
    return ["parts", `What ${R.short(metric.title).replace(/ \(.*/, "").toLowerCase()} is the mean of`, `Each from ${R.data.units[metric.unit].range}; the axis shows the part that is used.`, (width) => lanes(width, lines.filter((l) => l.marks.length), metric, rows.map(name))];
  }
  /** A facet's labels: a line each for a few models, or a heat map where there are many labels. */
  function facet({ b, chosen, rows, known }, declared) {
    if (!known.has(declared.name)) return null;
    const metrics = [...declared.metrics, ...b.metrics];
    const draw = async (width) => {
      const wanted = [...new Set([...chosen, ...rows])].slice(0, MOST);
      const found = (await Promise.all(wanted.map(async (row) => [row, (await R.loadRun(row)).breakdowns[declared.name]]))).filter(([, labels]) => labels);
      const metric = metrics.find(({ name: id }) => found.some(([, labels]) => Object.values(labels).some((label) => label[id])));
      if (!metric) return [h("p", { class: "note" }, "None of these rows has it.")];
      const own = [...new Set(found.flatMap(([, labels]) => Object.keys(labels)))];
      const labels = declared.labels.length ? declared.labels.filter((label) => own.includes(label)) : own.sort();
      const get = (group, label) => metrics.map(({ name: id }) => group[label]?.[id]).find(Boolean);
      if (labels.length > 9) return heat(width, labels, found.map(([row, group]) => ({ label: name(row), values: labels.map((label) => get(group, label)?.[0] ?? null) })), metric);
      const few = found.slice(0, COMPARED);
      const lines = labels.map((label) => ({ label, marks: marks(few.map(([row]) => row), (row) => get(few.find(([r]) => r === row)[1], label), metric.unit) }));
      return lanes(width, lines.filter((l) => l.marks.length), metric, few.map(([row]) => name(row)));
    };
    const metric = declared.metrics[0] || b.metrics[0];
    return [`facet-${declared.name}`, declared.title, `${R.short(metric.title)}, ${R.data.units[metric.unit].range}. A gap is a label that was not run or not printed.`, draw, declared.labels.length === 0];
  }
  function grounding({ b, rows, refs }) {
    const [x, y] = [at(b, "miou"), at(b, "accuracy")];
    if (x < 0 || y < 0) return null;
    const dots = rows.filter((row) => row.v[x] && row.v[y]).slice(0, 400).map((row) => ({ x: row.v[x][0], y: row.v[y][0], name: name(row), text: `${name(row)}: mIoU ${num(row.v[x][0], "percent")}, accuracy ${num(row.v[y][0], "percent")}` }));
    const rules = refs.filter((row) => row.source === "baseline" && row.v[x]).slice(0, 2).map((row) => ({ at: row.v[x][0], text: `floor: ${row.model}` }));
    if (dots.length < 2) return null;
    const axis = (title, values, metric) => ({ title, place: (value) => value, steps: around(values, metric) });
    return ["grounding", "Answering against grounding", rules.length ? "The dotted line is what the whole video as the answer gets." : "Whether the option is right, and how well the span fits.", (width) => points(width, dots, axis("mIoU", [...dots.map((dot) => dot.x), ...rules.map((rule) => rule.at)], b.metrics[x]), axis("Accuracy", dots.map((dot) => dot.y), b.metrics[y]), { rules })];
  }
  function intervals({ b, rows }) {
    const metric = b.metrics[0], found = rows.filter((row) => row.v[0]?.length > 1).slice(0, MOST);
    if (!found.length) return null;
    const lines = found.map((row) => ({ label: name(row), marks: [{ at: row.v[0][0], ends: row.v[0].slice(1), i: 0, text: `${name(row)}: ${num(row.v[0][0], metric.unit)}, ${R.interval(row.v[0], metric.unit)}` }] }));
    return ["intervals", "Scores with their intervals", `${R.short(metric.title)}, 95 % intervals over videos; the axis shows the part that is used.`, (width) => lanes(width, lines, metric)];
  }
  function frames({ b, rows }) {
    const found = rows.filter((row) => row.n != null && row.v[0]).slice(0, 400);
    const counts = [...new Set(found.map((row) => row.n))].sort((p, q) => p - q), metric = b.metrics[0];
    if (counts.length < 2) return null;
    const dots = found.map((row) => ({ x: row.n, y: row.v[0][0], name: name(row), text: `${name(row)}, ${row.n} frames: ${num(row.v[0][0], metric.unit)}` }));
    const joined = Object.values(Object.groupBy(dots, (dot) => dot.name)).filter((path) => path.length > 1).map((path) => path.sort((p, q) => p.x - q.x));
    // 0 has a place and each doubling takes the same step.
    const steps = counts.length <= 8 ? counts : counts.filter((_, i) => i % Math.ceil(counts.length / 8) === 0 || i === counts.length - 1);
    return ["frames", "Score against frames", "Rows that say how many frames the model saw; lines join runs of one model.", (width) => points(width, dots, { title: "Frames (log scale)", place: (n) => Math.log2(n + 1), steps }, { title: R.short(metric.title), steps: around(dots.map((dot) => dot.y), metric) }, { joined })];
  }

  // --- drawing ---
  let drawn = new Map(); // place -> draw
  async function paint(place) {
    const draw = drawn.get(place);
    const width = place.clientWidth;
    if (!draw || !width) return;
    place.dataset.width = width;
    try {
      const pictures = await draw(width);
      place.replaceChildren(...pictures.filter(Boolean));
      if (place.scrollWidth > place.clientWidth) place.tabIndex = 0; // what scrolls can be reached by the keyboard
    } catch (error) { place.replaceChildren(h("p", { class: "note" }, error.message)); }
    place.dataset.drawn = "true";
  }
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); paint(entry.target); }
  }, { rootMargin: "300px" });
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.dataset.drawn && +target.dataset.width !== target.clientWidth) paint(target);
  });

  function clear() {
    seen.disconnect();
    sized.disconnect();
    drawn = new Map();
  }
  R.charts = {
    clear,
    /** Draw what these rows allow. Context: {b, rows, chosen, refs, known}. */
    draw(holder, context) {
      clear();
      const pictures = [parts, grounding, ...context.b.facets.map((declared) => (given) => facet(given, declared)), intervals, frames].map((make) => make(context)).filter(Boolean);
      holder.replaceChildren(...pictures.map(([id, title, about, draw, whole]) => {
        const place = h("div", { class: "plot", id: `chart-${id}`, role: "img", "aria-label": `${title}; the numbers are in the table` });
        drawn.set(place, draw);
        return h("section", { class: `card chart${whole ? " wide" : ""}` }, h("h3", { text: title }), h("p", { text: about }), place);
      }));
      for (const place of drawn.keys()) { seen.observe(place); sized.observe(place); }
      return pictures.length;
    },
  };
})();
