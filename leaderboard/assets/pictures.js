/* Forms of pictures, as SVG in the page's own colours: lanes, a heat map, points. They know numbers and names, no rows. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { h, svg, num } = R;
  const LABELLED = 30; // points that are named
  const FONT = "11px system-ui, sans-serif";
  const LINE = 22;

  const pen = document.createElement("canvas").getContext("2d");
  const wide = (text) => {
    pen.font = FONT;
    return pen.measureText(text).width * 1.06;
  };
  /** Text cut to a width. */
  function cut(text, width) {
    let end = text.length;
    while (end > 4 && wide(text.slice(0, end)) > width) end -= Math.ceil((end - 4) / 8);
    return end < text.length ? `${text.slice(0, end - 1).trimEnd()}…` : text;
  }
  // Writing directions that a name may switch on end with it.
  const put = (x, y, text, attributes) =>
    svg("text", { x: x.toFixed(1), y: y.toFixed(1), style: "unicode-bidi: isolate", ...attributes }, text);
  const line = (x1, y1, x2, y2, kind) =>
    svg("line", { x1: x1.toFixed(1), y1: y1.toFixed(1), x2: x2.toFixed(1), y2: y2.toFixed(1), class: kind });
  const tip = (text) => svg("title", {}, text);
  const canvas = (width, height, ...parts) =>
    svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", style: `font: ${FONT}` },
      ...parts,
    );

  /** Round steps that hold both ends: 1, 2, 2.5 or 5 times a power of ten. */
  function ticks(low, high, most = 5) {
    const span = Math.max(high - low, 1e-6);
    const power = 10 ** Math.floor(Math.log10(span / most));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((s) => span / s <= most + 1e-9);
    const first = Math.floor(low / step + 1e-9),
      last = Math.ceil(high / step - 1e-9);
    return Array.from(
      { length: Math.max(last, first + 1) - first + 1 },
      (_, i) => +((first + i) * step).toPrecision(10),
    );
  }
  /** Ticks around values, with some air, inside what the metric can be. */
  function around(values, { low, high }, many) {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const air = Math.max((most - least) * 0.06, (high - low) * 0.01);
    return ticks(Math.max(low, least - air), Math.min(high, most + air), many);
  }
  const scale = (steps, from, to) => (value) => from + ((to - from) * (value - steps[0])) / (steps.at(-1) - steps[0]);
  // A mark has a form as well as a colour, for eyes that can't tell the colours apart.
  const FORMS = [
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
    "M-4.5 -4.5h9v9h-9z",
    "M0 -6L5.5 4.5H-5.5z",
    "M0 -6L6 0L0 6L-6 0z",
    "M0 6L5.5 -4.5H-5.5z",
    "M-6 -2h4v-4h4v4h4v4h-4v4h-4v-4h-4z",
  ];
  const mark = (x, y, i, text) =>
    svg(
      "path",
      {
        d: FORMS[i % FORMS.length],
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        class: `mark c${i % FORMS.length}`,
      },
      tip(text),
    );
  const legend = (names) =>
    h(
      "ul",
      { class: "legend" },
      names.map((text, i) =>
        h(
          "li",
          {},
          svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, mark(0, 0, i, text)),
          R.bdi(text),
        ),
      ),
    );

  // --- forms of pictures ---

  /** A line per label with marks on it: {label, marks: [{at, ends, i, text}]}. */
  function lanes(width, lines, metric, names) {
    const left = Math.min(width * 0.4, Math.max(...lines.map(({ label }) => wide(label))) + 14);
    const values = lines.flatMap(({ marks }) => marks.flatMap(({ at, ends }) => [at, ...(ends || [])]));
    const steps = around(values, metric, width > 560 ? 9 : 5);
    const x = scale(steps, left + 8, width - 18),
      bottom = lines.length * LINE + 6;
    const parts = steps.map((step) => [
      line(x(step), 2, x(step), bottom, "gridline"),
      put(x(step), bottom + 15, String(step), { "text-anchor": "middle", class: "soft" }),
    ]);
    lines.forEach(({ label, marks }, i) => {
      const y = i * LINE + LINE / 2 + 2,
        at = marks.map((m) => x(m.at));
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
    const cell = Math.max(40, (width - left) / labels.length),
      whole = left + cell * labels.length;
    const top = Math.max(...labels.map(wide)) > cell - 4 ? 64 : 22;
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
        parts.push(
          svg(
            "rect",
            {
              x: (left + k * cell + 1).toFixed(1),
              y: y + 1,
              width: (cell - 2).toFixed(1),
              height: LINE - 2,
              rx: 3,
              class: "heat",
              "fill-opacity": (0.06 + 0.6 * share).toFixed(3),
            },
            tip(`${label}, ${labels[k]}: ${num(value, metric.unit)}`),
          ),
        );
        parts.push(
          put(left + (k + 0.5) * cell, y + 15, num(value, metric.unit), { "text-anchor": "middle", class: "over" }),
        );
      });
    });
    return [canvas(Math.ceil(whole), top + lines.length * LINE + 8, ...parts)];
  }
  /**
   * Who is above whom: a line and a column for each name, `cell(i, k)` is {by, sure} for the line's difference from the
   * column's, or null. Sign and ground say who is above; a difference that is noise has no ground.
   */
  function matrix(width, names, cell, metric) {
    const left = Math.min(width * 0.42, Math.max(...names.map(wide)) + 34);
    const side = Math.max(34, Math.min(72, (width - left - 4) / names.length));
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
        const sign = one.by > 0 ? "+" : one.by < 0 ? "−" : "";
        const text = `${sign}${num(Math.abs(one.by), metric.unit)}`;
        const kind = one.sure ? (one.by > 0 ? "win" : "loss") : "level";
        parts.push(
          svg(
            "rect",
            { x: left + k * side + 1, y: y + 1, width: side - 2, height: LINE - 2, rx: 3, class: kind },
            tip(`${name} against ${other}: ${text}, ${one.sure ? "told apart" : "could be noise"}`),
          ),
          put(left + (k + 0.5) * side, y + 15, text, {
            "text-anchor": "middle",
            class: one.sure ? "over" : "over soft",
          }),
        );
      });
    });
    return [canvas(Math.ceil(left + side * names.length + 4), 22 + names.length * LINE + 6, ...parts)];
  }
  /** Points with names where there is room for them. `frontier` are those that a line joins. Axes: {title, steps, place, show}. */
  function points(width, dots, x, y, { joined = [], rules = [], frontier = [] } = {}) {
    const height = Math.min(420, Math.max(300, width * 0.6)),
      left = 46,
      bottom = height - 40;
    const X = (value) => scale([x.place(x.steps[0]), x.place(x.steps.at(-1))], left, width - 16)(x.place(value));
    const Y = scale(y.steps, bottom, 14);
    // The last one may not stand out over the edge.
    const under = (text, at) =>
      put(Math.min(at, width - wide(text) / 2 - 1), bottom + 15, text, { "text-anchor": "middle", class: "soft" });
    const parts = [
      ...x.steps.flatMap((step) => [
        line(X(step), 14, X(step), bottom, "gridline"),
        under((x.show || String)(step), X(step)),
      ]),
      ...y.steps.flatMap((step) => [
        line(left, Y(step), width - 16, Y(step), "gridline"),
        put(left - 6, Y(step) + 4, String(step), { "text-anchor": "end", class: "soft" }),
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
      taken.push([X(at) - 1, 14, X(at) + 1, bottom]); // no name across the line
    });
    for (const path of [...joined, frontier])
      parts.push(
        svg("polyline", {
          class: path === frontier ? "frontier" : "path",
          points: path.map((dot) => `${X(dot.x).toFixed(1)},${Y(dot.y).toFixed(1)}`).join(" "),
        }),
      );
    for (const dot of dots) parts.push(mark(X(dot.x), Y(dot.y), 0, dot.text));
    for (const dot of dots.slice(0, LABELLED)) {
      const text = cut(dot.name, 170),
        w = wide(text);
      const places = [
        [9, 4, "start"],
        [-9, 4, "end"],
        [0, -10, "middle"],
        [0, 17, "middle"],
      ];
      for (const [dx, dy, anchor] of places) {
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
              other === taken[dots.indexOf(dot)],
          );
        if (!free) continue;
        taken.push(box);
        parts.push(put(X(dot.x) + dx, to, text, { "text-anchor": anchor }));
        break;
      }
    }
    return [canvas(width, height, ...parts)];
  }

  R.pictures = { around, lanes, heat, matrix, points };
})();
