/* The one kit of charts for every page of ours: lanes, a heat map, a matrix, points, as SVG in the page's colours. It
   knows numbers and names, no rows. A metric is {low, high}, `show` prints a value. */
"use strict";
(() => {
  const { h, svg } = globalThis.Elements;
  const { told, ticks, around, scale, minus, most } = globalThis.Plots;
  const LABELLED = 30; // points that are named
  const FONT = "11px system-ui, sans-serif";
  const LINE = 22;

  const ISOLATED = "unicode-bidi: isolate"; // writing directions that a name may switch on end with it

  let pen = null; // a canvas takes its time
  /** How wide a text is in pixels, with a little to spare for other fonts. */
  const wide = (text, font = FONT) => {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = font;
    return pen.measureText(text).width * 1.06;
  };
  /** Text in lines of at most `width` pixels, broken between words. */
  function wrapped(text, width, size = 11, weight = 400) {
    const font = `${weight} ${size}px system-ui, sans-serif`;
    const lines = [];
    for (const word of text.split(" ").filter(Boolean)) {
      const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
      if (lines.length && wide(longer, font) <= width) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }
  /** Text cut to a width. */
  function cut(text, width) {
    let end = text.length;
    while (end > 4 && wide(text.slice(0, end)) > width) end -= Math.ceil((end - 4) / 8);
    return end < text.length ? `${text.slice(0, end - 1).trimEnd()}…` : text;
  }
  const put = (x, y, text, attributes) =>
    svg("text", { x: x.toFixed(1), y: y.toFixed(1), style: ISOLATED, ...attributes }, text);
  const line = (x1, y1, x2, y2, kind) =>
    svg("line", { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1), class: kind });
  const canvas = (width, height, ...parts) =>
    svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", style: `font: ${FONT}`, "data-marks": true },
      ...parts,
    );

  /** Round steps of a logarithmic axis that hold both ends: 1, 2 or 5 times a power of ten, inside powers where many. */
  function powers(low, high) {
    const steps = [];
    for (let power = 10 ** Math.floor(Math.log10(low)); power <= high * 10; power *= 10)
      for (const factor of [1, 2, 5]) steps.push(+(factor * power).toPrecision(6));
    const first = steps.findLastIndex((step) => step <= low),
      last = steps.findIndex((step) => step >= Math.max(high, low * 1.01));
    const held = steps.slice(first, last + 1);
    return held.length > 7 ? held.filter((step, i) => !i || i === held.length - 1 || /^1e/.test(step.toExponential())) : held;
  }
  /** Steps in months that hold both ends. */
  function months(low, high) {
    const every = [1, 2, 3, 6, 12, 24, 60].find((step) => (high - low) / step <= 5) || 120;
    const first = Math.floor(low / every) * every;
    return Array.from({ length: Math.max(2, Math.ceil((high - first) / every) + 1) }, (_, i) => first + i * every);
  }

  // --- marks ---
  // A mark has a form as well as a colour, for eyes that can't tell the colours apart.
  const FORMS = [
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
    "M-4.5 -4.5h9v9h-9z",
    "M0 -6L5.5 4.5H-5.5z",
    "M0 -6L6 0L0 6L-6 0z",
    "M0 6L5.5 -4.5H-5.5z",
    "M-6 -2h4v-4h4v4h4v4h-4v4h-4v-4h-4z",
  ];
  const form = (i) => ({ d: FORMS[i % FORMS.length], class: `mark c${i % FORMS.length}${i < FORMS.length ? "" : " open"}` });
  const mark = (x, y, i, text) =>
    svg("path", { ...form(i), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, ...told(text) }, svg("title", {}, text));
  const legend = (names) =>
    h(
      "ul",
      { class: "legend" },
      names.map((text, i) =>
        h(
          "li",
          {},
          svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", form(i))),
          h("bdi", { text }),
        ),
      ),
    );
  /** An interval with caps that stand out behind its dot. */
  const whiskers = (from, to, y, kind, half = 6) => [
    line(from, y, to, y, kind),
    line(from, y - half, from, y + half, kind),
    line(to, y - half, to, y + half, kind),
  ];

  // --- forms of pictures: each gives {nodes, rows}, what is drawn and the same as a table ---

  /** A line per label with marks on it: {label, marks: [{at, ends, i, text}]}. `names` are those of the marks' forms. */
  function lanes(width, lines, metric, names) {
    const left = Math.min(width * 0.4, most(lines.map(({ label }) => wide(label))) + 14);
    const values = lines.flatMap(({ marks }) => marks.flatMap(({ at, ends }) => [at, ...(ends || [])]));
    const steps = around(values, metric, width > 560 ? 9 : 5);
    // Marks with intervals stand apart, or one would hide another's.
    const spread = lines.some(({ marks }) => marks.some((m) => m.ends)) ? 7 : 0;
    const tall = Math.max(LINE, spread * most(lines.map(({ marks }) => marks.length)) + 8);
    const x = scale(steps, left + 8, width - 18),
      bottom = lines.length * tall + 6;
    const parts = steps.map((step) => [
      line(x(step), 2, x(step), bottom, "gridline"),
      put(x(step), bottom + 15, minus(step), { "text-anchor": "middle", class: "soft" }),
    ]);
    lines.forEach(({ label, marks }, i) => {
      const y = i * tall + tall / 2 + 2,
        at = marks.map((m) => x(m.at));
      parts.push(put(left - 4, y + 4, cut(label, left - 10), { "text-anchor": "end" }));
      if (marks.length > 1 && !spread) parts.push(line(Math.min(...at), y, Math.max(...at), y, "joined"));
      marks.forEach((m, k) => {
        const own = y + (k - (marks.length - 1) / 2) * spread;
        const drawn = m.ends ? whiskers(x(m.ends[0]), x(m.ends[1]), own, "ends", marks.length > 1 ? 3 : 6) : [];
        for (const one of drawn) one.style.stroke = `var(--c${m.i % FORMS.length})`;
        parts.push(...drawn);
        parts.push(mark(x(m.at), own, m.i, m.text));
      });
    });
    const rows = lines.flatMap(({ label, marks }) => marks.map((m) => [label, names?.[m.i] ?? "", m.at, ...(m.ends || ["", ""])]));
    return {
      nodes: [names && legend(names), canvas(width, bottom + 22, ...parts.flat())],
      rows: [["label", "series", "value", "low", "high"], ...rows],
    };
  }
  /**
   * Bars from 0: a line per label, a bar in it per series: {label, bars: [{at, ends, i, show, text}]}. `names` are the
   * series', `axis` prints a number of the axis.
   */
  function bars(width, lines, names, axis = minus) {
    const left = Math.min(width * 0.42, most(lines.map(({ label }) => wide(label))) + 14);
    const steps = ticks(0, most(lines.flatMap((one) => one.bars.flatMap(({ at, ends }) => [at, ...(ends || [])]))) || 1, 4);
    const room = most(lines.flatMap((one) => one.bars.map(({ show }) => wide(show)))) + 8;
    const x = scale(steps, left, width - Math.max(18, room));
    const thick = names.length > 1 ? 12 : 15;
    const parts = [];
    const whisked = lines.some((one) => one.bars.some(({ ends }) => ends)); // numbers at a whisker's end would be read as its
    let y = 4;
    for (const { label, bars } of lines) {
      const middle = y + (bars.length * thick) / 2;
      parts.push(put(left - 6, middle + 4, cut(label, left - 10), { "text-anchor": "end" }));
      bars.forEach((bar, k) => {
        const top = y + k * thick,
          centre = top + thick / 2;
        const box = { x: left, y: top + 1, width: Math.max(0, x(bar.at) - left), height: thick - 2, ...told(bar.text) };
        parts.push(
          svg("rect", { ...box, class: `mark c${bar.i % FORMS.length}`, "fill-opacity": bar.ends ? 0.55 : 0.8 }, svg("title", {}, bar.text)),
          ...(bar.ends ? whiskers(x(bar.ends[0]), x(bar.ends[1]), centre, "ends", thick / 2 - 2) : []),
          put(whisked ? width - 2 : x(bar.at) + 5, centre + 4, bar.show, { class: "over", "text-anchor": whisked ? "end" : null }),
        );
      });
      y += bars.length * thick + 8;
    }
    const grid = steps.flatMap((step) => [
      line(x(step), 0, x(step), y, "gridline"),
      put(x(step), y + 14, axis(step), { "text-anchor": "middle", class: "soft" }),
    ]);
    const rows = lines.flatMap(({ label, bars }) => bars.map((bar) => [label, names[bar.i] ?? "", bar.at, ...(bar.ends || ["", ""])]));
    return {
      nodes: [names.length > 1 && legend(names), canvas(width, y + 20, ...grid, ...parts)],
      rows: [["label", "series", "value", "low", "high"], ...rows],
    };
  }
  /** Radars: a panel for each {title, labels, series} (a value or null for each label), a polygon for each of `names`. */
  function radars(width, panels, metric, names, show) {
    const across = Math.max(1, Math.min(panels.length, Math.floor(width / 320)));
    const side = width / across,
      radius = Math.min(110, side / 2 - 74),
      tall = 2 * radius + 90;
    const rows = [];
    const parts = panels.flatMap(({ title, labels, series }, panel) => {
      const x = ((panel % across) + 0.5) * side,
        y = (Math.floor(panel / across) + 0.5) * tall + 8;
      const at = (i, share) => {
        const angle = (2 * Math.PI * i) / labels.length;
        return [x + radius * share * Math.sin(angle), y - radius * share * Math.cos(angle)];
      };
      const ring = (share) => labels.map((_, i) => at(i, share).map((n) => n.toFixed(1)).join(",")).join(" ");
      const share = (value) => Math.max(0, Math.min(1, (value - metric.low) / (metric.high - metric.low)));
      const drawn = [0.25, 0.5, 0.75, 1].map((of) => svg("polygon", { points: ring(of), class: "gridline", fill: "none" }));
      drawn.push(put(x, y - radius - 34, title, { "text-anchor": "middle", "font-weight": 600 }));
      labels.forEach((label, i) => {
        const [lx, ly] = at(i, 1 + 12 / radius),
          off = lx - x;
        drawn.push(line(x, y, ...at(i, 1), "gridline"));
        drawn.push(
          put(lx, ly + (ly > y ? 8 : 0), cut(label, 90), { "text-anchor": Math.abs(off) < 9 ? "middle" : off > 0 ? "start" : "end" }),
        );
      });
      series.forEach((values, k) => {
        const known = values.flatMap((value, i) => (value == null ? [] : [[value, i]]));
        const points = known.map(([value, i]) => at(i, share(value)).map((n) => n.toFixed(1)).join(",")).join(" ");
        const dashes = ["none", "6 3", "2 3", "8 3 2 3"][k % 4];
        const style = `stroke: var(--c${k % FORMS.length}); stroke-dasharray: ${dashes}`;
        drawn.push(svg("polygon", { points, class: `c${k % FORMS.length}`, "fill-opacity": 0.1, "stroke-width": 2, style }));
        for (const [value, i] of known) {
          rows.push([title, labels[i], names[k], value]);
          drawn.push(mark(...at(i, share(value)), k, `${labels[i]}, ${names[k]}: ${show(value)}`));
        }
      });
      return drawn;
    });
    return {
      nodes: [legend(names), canvas(width, tall * Math.ceil(panels.length / across), ...parts)],
      rows: [["group", "label", "series", "value"], ...rows],
    };
  }
  /** Lines and columns of numbers on a ground whose strength is the number. */
  function heat(width, labels, lines, metric, show) {
    const left = Math.min(220, most(lines.map(({ label }) => wide(label))) + 12);
    const cell = Math.max(40, (width - left) / labels.length),
      whole = left + cell * labels.length;
    const top = most(labels.map(wide)) > cell - 4 ? 64 : 22;
    const parts = labels.map((label, i) => {
      const x = left + (i + 0.5) * cell;
      return top > 22
        ? put(x, top - 8, cut(label, 70), { transform: `rotate(-40 ${x} ${top - 8})`, class: "soft" })
        : put(x, 14, label, { "text-anchor": "middle", class: "soft" });
    });
    lines.forEach(({ label, values }, i) => {
      const y = top + i * LINE;
      parts.push(put(left - 8, y + 15, cut(label, left - 12), { "text-anchor": "end" }));
      values.forEach((value, k) => {
        if (value == null) return;
        const share = Math.max(0, Math.min(1, (value - metric.low) / (metric.high - metric.low)));
        const text = `${label}, ${labels[k]}: ${show(value)}`;
        const [x, w] = [(left + k * cell + 1).toFixed(1), (cell - 2).toFixed(1)];
        const looks = { class: "heat mark", "fill-opacity": (0.06 + 0.6 * share).toFixed(3) };
        parts.push(
          svg("rect", { x, y: y + 1, width: w, height: LINE - 2, rx: 3, ...looks, ...told(text) }, svg("title", {}, text)),
          put(left + (k + 0.5) * cell, y + 15, show(value), { "text-anchor": "middle", class: "over" }),
        );
      });
    });
    return {
      nodes: [canvas(Math.ceil(whole), top + lines.length * LINE + 8, ...parts)],
      rows: [["", ...labels], ...lines.map(({ label, values }) => [label, ...values])],
    };
  }
  /**
   * Differences: a line and a column for each name, `cell(i, k)` is {by, sure, about} for the line's value minus the
   * column's, or null. Sign and ground say who is above; a difference that may be noise has no ground.
   */
  function matrix(width, names, cell, show) {
    const left = Math.min(width * 0.42, most(names.map(wide)) + 34);
    const side = Math.max(42, Math.min(72, (width - left - 4) / names.length));
    const rows = [];
    const parts = names.map((_, k) =>
      put(left + (k + 0.5) * side, 14, String(k + 1), { "text-anchor": "middle", class: "soft" }),
    );
    names.forEach((name, i) => {
      const y = 22 + i * LINE;
      parts.push(
        put(12, y + 15, String(i + 1), { "text-anchor": "middle", class: "soft" }),
        put(left - 8, y + 15, cut(name, left - 34), { "text-anchor": "end" }),
      );
      names.forEach((other, k) => {
        const one = cell(i, k);
        if (!one) return;
        const kind = one.sure ? (one.by > 0 ? "win" : "loss") : "level";
        const text = `${name} against ${other}: ${show(one.by)}, ${one.about}`;
        const box = { x: left + k * side + 1, y: y + 1, width: side - 2, height: LINE - 2, rx: 3 };
        rows.push([name, other, one.by, one.sure ? "yes" : "no"]);
        parts.push(
          svg("rect", { ...box, class: `${kind} mark`, ...told(text) }, svg("title", {}, text)),
          put(left + (k + 0.5) * side, y + 15, show(one.by), {
            "text-anchor": "middle",
            class: one.sure ? "over" : "over soft",
          }),
        );
      });
    });
    return {
      nodes: [canvas(Math.ceil(left + side * names.length + 4), 22 + names.length * LINE + 6, ...parts)],
      rows: [["of", "minus", "difference", "told apart"], ...rows],
    };
  }
  /**
   * Points with names where there is room for them, hollow where `open`. `frontier` are those that a line joins.
   * Axes: {title, steps, place, show}.
   */
  function points(width, dots, x, y, { joined = [], rules = [], frontier = [] } = {}) {
    const height = Math.min(420, Math.max(300, width * 0.6)),
      left = 46,
      bottom = height - 40;
    const X = (value) => scale([x.place(x.steps[0]), x.place(x.steps.at(-1))], left, width - 16)(x.place(value));
    const Y = scale(y.steps, bottom, 14);
    // The last one may not stand out over the edge, and none on the one before.
    let edge = Number.NEGATIVE_INFINITY;
    const under = (text, at) => {
      const half = wide(text) / 2,
        middle = Math.min(at, width - half - 1);
      if (middle - half < edge) return [];
      edge = middle + half + 4;
      return [put(middle, bottom + 15, text, { "text-anchor": "middle", class: "soft" })];
    };
    const parts = [
      ...x.steps.flatMap((step) => [
        line(X(step), 14, X(step), bottom, "gridline"),
        ...under((x.show || String)(step), X(step)),
      ]),
      ...y.steps.flatMap((step) => [
        line(left, Y(step), width - 16, Y(step), "gridline"),
        put(left - 6, Y(step) + 4, minus(step), { "text-anchor": "end", class: "soft" }),
      ]),
      put((left + width) / 2, height - 6, x.title, { "text-anchor": "middle", class: "soft" }),
      put(12, (bottom + 14) / 2, y.title, {
        "text-anchor": "middle",
        class: "soft",
        transform: `rotate(-90 12 ${(bottom + 14) / 2})`,
      }),
    ];
    const taken = dots.map((dot) => [X(dot.x) - 6, Y(dot.y) - 6, X(dot.x) + 6, Y(dot.y) + 6]);
    rules.forEach(({ at, text }, i) => {
      const label = cut(text, 170),
        end = X(at) + 6 + wide(label) > width;
      parts.push(
        line(X(at), 14, X(at), bottom, "rule"),
        put(X(at) + (end ? -6 : 6), 24 + 15 * i, label, { class: "floor", "text-anchor": end ? "end" : "start" }),
      );
      taken.push([X(at) - (end ? wide(label) + 6 : 0), 12 + 15 * i, X(at) + (end ? 0 : wide(label) + 6), 28 + 15 * i]);
      taken.push([X(at) - 1, 14, X(at) + 1, bottom, true]); // no name across the line, but one that stands further off
    });
    const at = (across, up) => `${X(across).toFixed(1)},${Y(up).toFixed(1)}`;
    for (const path of joined) parts.push(svg("polyline", { class: "path", points: path.map((dot) => at(dot.x, dot.y)).join(" ") }));
    // Nothing lies between two points of the front: it goes in steps.
    const front = frontier.flatMap((dot, i) => [...(i ? [at(dot.x, frontier[i - 1].y)] : []), at(dot.x, dot.y)]);
    parts.push(svg("polyline", { class: "frontier", points: front.join(" ") }));
    frontier.slice(1).forEach((dot, i) => taken.push([X(frontier[i].x) + 7, Y(frontier[i].y) - 1, X(dot.x), Y(frontier[i].y) + 1])); // no name across a step
    frontier.slice(1).forEach((dot, i) => taken.push([X(dot.x) - 1, Y(dot.y) + 7, X(dot.x) + 1, Y(frontier[i].y)]));
    for (const { x: across, ends } of dots) if (ends?.length) parts.push(line(X(across), Y(ends[0]), X(across), Y(ends[1]), "ends faint"));
    for (const dot of dots) parts.push(mark(X(dot.x), Y(dot.y), dot.open ? FORMS.length : 0, dot.text));
    // The leaders get their names first.
    const leaders = [...dots].sort((p, q) => q.y - p.y).slice(0, 5),
      few = dots.length <= 16;
    for (const dot of [...new Set([...leaders, ...dots])].slice(0, LABELLED)) {
      const text = cut(dot.name, 260),
        w = wide(text);
      const beside = [[9, 4, "start"], [-9, 4, "end"], [0, -10, "middle"], [0, 17, "middle"], [7, -7, "start"], [7, 15, "start"]];
      // Where dots lie close together a name stands further off, on a line to its dot.
      const away = few || leaders.includes(dot) ? [2, 3, 4.5, 6].flatMap((far) => [[7, -10], [7, 14], [-7, -10], [-7, 14]].map(([dx, dy]) => [dx * far, dy * far, dx > 0 ? "start" : "end"])) : [];
      for (const [dx, dy, anchor] of [...beside, ...away]) {
        const from = X(dot.x) + dx - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0),
          to = Y(dot.y) + dy;
        const box = [from, to - 10, from + w, to + 3];
        const free =
          box[0] > left &&
          box[2] < width &&
          box[1] > 0 &&
          box[3] < bottom &&
          taken.every(
            (other) =>
              other[2] < box[0] ||
              other[0] > box[2] ||
              other[3] < box[1] ||
              other[1] > box[3] ||
              (other[4] && Math.abs(dx) > 9) ||
              other === taken[dots.indexOf(dot)],
          );
        if (!free) continue;
        taken.push(box);
        if (Math.abs(dx) > 9) parts.push(line(X(dot.x), Y(dot.y), X(dot.x) + dx, to - 4, "ends faint"));
        parts.push(put(X(dot.x) + dx, to, text, { "text-anchor": anchor }));
        break;
      }
    }
    const rows = dots.map((dot) => [dot.name, dot.x, dot.y, ...(dot.ends?.length ? dot.ends : ["", ""])]);
    return { nodes: [canvas(width, height, ...parts)], rows: [["name", x.title, y.title, "low", "high"], ...rows] };
  }

  // --- a chart on the page: as wide as its place, the first in view first, to be taken along ---
  const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity"];
  const PAPER = 680; // a page's width between its margins
  const drawn = new Map(); // place -> {draw, rows}
  async function paint(place, width = place.clientWidth) {
    const chart = drawn.get(place);
    if (!chart || !width) return;
    place.dataset.width = width;
    try {
      const { nodes, rows, n = "" } = await chart.draw(width);
      chart.rows = rows;
      chart.words.textContent = `${chart.about} ${n}`.trim();
      place.replaceChildren(...nodes.filter(Boolean));
      place.querySelector("svg[data-marks] [data-tip]")?.setAttribute("tabindex", 0);
      if (place.scrollWidth > place.clientWidth) place.tabIndex = 0; // what scrolls can be reached by the keyboard
    } catch (error) {
      place.replaceChildren(h("p", { class: "note" }, error.message));
    }
    place.dataset.drawn = "true";
  }
  // One after the other, between what the reader does, so that a picture of the whole page has them all.
  let drawing = false;
  async function rest() {
    if (drawing) return;
    drawing = true;
    for (let place; (place = [...drawn.keys()].find((one) => !one.dataset.drawn && one.clientWidth)); ) {
      await new Promise((go) => (globalThis.requestIdleCallback || setTimeout)(go, { timeout: 500 }));
      await paint(place);
    }
    drawing = false;
  }
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries)
      if (target.dataset.drawn && +target.dataset.width !== target.clientWidth) paint(target);
    rest();
  });
  // A page's width is known to nobody before it is printed; what is drawn in a step is there in time.
  addEventListener("beforeprint", () => {
    for (const place of drawn.keys()) paint(place, PAPER);
  });
  addEventListener("afterprint", () => {
    for (const place of drawn.keys()) paint(place);
  });
  function clear() {
    sized.disconnect();
    drawn.clear();
  }
  /**
   * A card with a chart: {id, title, about, draw(width) -> {nodes, rows, n}, whole (as wide as the page), source}; `n` is
   * what of `about` is known only once it is drawn, `source` what stands under the chart in a file alone.
   */
  function figure({ id, title, about, draw, whole, source = "" }) {
    const place = h("div", { class: "plot", id: `chart-${id}`, role: "group", "aria-label": title });
    const words = h("p", { text: about });
    drawn.set(place, { draw, about, words });
    const file = () => standalone(place, { title, about: words.textContent, source });
    const take = (kind, work) =>
      h("button", { type: "button", class: "link", "aria-label": `${title} as ${kind}`, onclick: work }, kind);
    const card = h(
      "section",
      { class: `card chart${whole ? " wide" : ""}` },
      h("h3", { text: title }),
      words,
      place,
      h(
        "p",
        { class: "take" },
        take("SVG", () => save(file(), "image/svg+xml", `${id}.svg`)),
        take("PNG", async () => save(await pngOf(file()), "image/png", `${id}.png`)),
        take("CSV", () => save(csv(drawn.get(place).rows), "text/csv;charset=utf-8", `${id}.csv`)),
      ),
    );
    sized.observe(place);
    return card;
  }
  /** A chart as an SVG of its own, for paper: title, what it says, the legend, and its colours on a light page. */
  function standalone(...chart) {
    const page = document.documentElement.dataset,
      theme = page.theme;
    page.theme = "light";
    try {
      return copied(...chart);
    } finally {
      page.theme = theme;
    }
  }
  function copied(place, { title, about, source }) {
    const live = place.querySelector("svg[data-marks]"),
      copy = live.cloneNode(true);
    const [all, copies] = [live, copy].map((root) => [...root.querySelectorAll("*")]);
    all.forEach((element, i) => {
      const style = getComputedStyle(element);
      for (const name of LOOKS) copies[i].setAttribute(name, style.getPropertyValue(name));
      // A file has none of the page's variables, which a style may name.
      for (const name of ["tabindex", "data-tip", "class", "style"]) copies[i].removeAttribute(name);
      if (element.tagName === "text") copies[i].style.cssText = ISOLATED;
    });
    const { width, height } = live.viewBox.baseVal,
      ink = getComputedStyle(place).color;
    const lines = (text, from, size = 11) =>
      wrapped(text, width - 16, size).map((one, i) =>
        put(8, from + i * 16, one, { fill: ink, opacity: 0.75, style: `font: ${size}px system-ui, sans-serif; ${ISOLATED}` }),
      );
    const said = lines(about, 38);
    let y = 26 + said.length * 16;
    const key = [...place.querySelectorAll(".legend li")].map((item) => {
      const shape = item.querySelector("path"),
        style = getComputedStyle(shape);
      y += 18;
      const path = svg("path", { d: shape.getAttribute("d"), fill: style.fill, stroke: style.stroke, transform: `translate(16 ${y - 4})` });
      return [path, put(28, y, item.textContent, { fill: ink })];
    });
    const top = y + 14;
    const from = lines(source, top + height + 16, 10);
    const tall = top + height + (from.length ? from.length * 16 + 10 : 0);
    const root = svg(
      "svg",
      { xmlns: "http://www.w3.org/2000/svg", width, height: tall, viewBox: `0 0 ${width} ${tall}`, style: `font: ${FONT}` },
      svg("rect", { width, height: tall, fill: getComputedStyle(place.closest(".card")).backgroundColor }),
      put(8, 20, title, { fill: ink, style: "font: 600 14px system-ui, sans-serif" }),
      said,
      key.flat(),
      from,
    );
    copy.setAttribute("y", top);
    root.append(copy);
    return new XMLSerializer().serializeToString(root);
  }
  /** An SVG's text as PNG, at twice its size. */
  async function pngOf(text) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const sheet = h("canvas", { width: 2 * image.width, height: 2 * image.height });
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    return new Promise((give) => sheet.toBlob(give));
  }
  /** Rows as CSV. Text that a spreadsheet would run begins with an apostrophe. */
  function csv(rows) {
    const quote = (content) => {
      if (content == null) return "";
      const runs = typeof content !== "number" && /^[=+\-@\t\r\n＝＋－＠]/.test(content);
      const plain = runs ? `'${content}` : String(content);
      return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
    };
    return rows.map((row) => row.map(quote).join(",")).join("\r\n");
  }
  function save(content, type, name) {
    const mark = type.startsWith("text/csv") ? "\ufeff" : ""; // or a spreadsheet misreads "≥" and "–"
    const url = URL.createObjectURL(new Blob([mark, content], { type }));
    const a = h("a", { href: url, download: name });
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  Object.assign(globalThis.Plots, { powers, months, bars, lanes, radars, heat, matrix, points, figure, clear, csv, save, pngOf, wide, wrapped });
})();
