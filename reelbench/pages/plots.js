/* Charts for every page of ours: numbers and names become descriptions, which drawing.js draws, and cards with them. It
   knows no rows. A metric is {low, high}, `show` prints a value. */
"use strict";
(() => {
  const { h, svg } = globalThis.Elements;
  const { ticks, around, minus, most, form, draw, canvas, file, pngOf } = globalThis.Plots;

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
  // So many points all have a name, or a number and a name below.
  const FEW = 24;
  const labelled = (steps, show = minus) => steps.map((step) => [step, show(step)]);
  // The y axis of lines: its marks stand in rows.
  const ROWS = {};
  const SERIES = ["label", "series", "value", "low", "high"];

  // --- forms of charts: each gives a description, with the same as a table ---

  /** A line per label with marks on it: {label, marks: [{at, ends, i, text}]}. `names` are those of the marks' forms. */
  function lanes(lines, metric, names) {
    const values = lines.flatMap(({ marks }) => marks.flatMap(({ at, ends }) => [at, ...(ends || [])]));
    // Marks with intervals stand apart, or one would hide another's.
    const spread = lines.some(({ marks }) => marks.some((m) => m.ends)) ? 7 : 0;
    const row = Math.max(22, spread * most(lines.map(({ marks }) => marks.length)) + 8);
    const high = (i, k, n) => i + 0.5 + ((k - (n - 1) / 2) * spread) / row;
    const marks = lines.flatMap(({ marks: own }, i) => own.map(({ at, ...more }, k) => ({ ...more, x: at, y: high(i, k, own.length) })));
    const joined = lines.flatMap(({ marks: own }, i) => (own.length > 1 && !spread ? { kind: "joined", points: own.map(({ at }) => [at, i + 0.5]) } : []));
    return {
      key: names, row, rows: lines.length,
      across: [{ texts: lines.map(({ label }) => label), align: "end" }, { x: { ticks: labelled(around(values, metric, 7)) }, y: ROWS, marks, paths: joined }],
      table: [SERIES, ...lines.flatMap(({ label, marks: own }) => own.map((m) => [label, names?.[m.i] ?? "", m.at, ...(m.ends || ["", ""])]))],
    };
  }
  /** Radars: a panel for each {title, labels, series} (a value or null for each label), a polygon for each of `names`. */
  function radars(panels, metric, names, show) {
    const [x, y] = [1.7, 1.3].map((reach) => ({ from: -reach, to: reach, ticks: [] }));
    const table = [["group", "label", "series", "value"]];
    const share = (value) => Math.max(0, Math.min(1, (value - metric.low) / (metric.high - metric.low)));
    const across = panels.map(({ title, labels, series }) => {
      const place = (i, far) => [far * Math.sin((2 * Math.PI * i) / labels.length), far * Math.cos((2 * Math.PI * i) / labels.length)];
      const paths = [0.25, 0.5, 0.75, 1].map((far) => ({ kind: "gridline", closed: true, points: labels.map((_, i) => place(i, far)) }));
      paths.push(...labels.map((_, i) => ({ kind: "gridline", points: [[0, 0], place(i, 1)] })));
      const words = labels.map((text, i) => {
        const [across, up] = place(i, 1.14);
        return { x: across, y: up, text, anchor: Math.abs(across) < 0.1 ? "middle" : across > 0 ? "start" : "end" };
      });
      const marks = [];
      series.forEach((values, k) => {
        const known = values.flatMap((value, i) => (value == null ? [] : [{ value, i, place: place(i, share(value)) }]));
        paths.push({ kind: "area", closed: true, i: k, points: known.map((one) => one.place) });
        for (const { value, i, place: [across, up] } of known) {
          table.push([title, labels[i], names[k], value]);
          marks.push({ x: across, y: up, i: k, text: `${labels[i]}, ${names[k]}: ${show(value)}` });
        }
      });
      return { title, square: true, x, y, marks, paths, words };
    });
    return { key: names, width: 340 * panels.length + 28, across, table };
  }
  const column = (n) => ({ from: 0, to: n, grid: false, top: true });
  /** Lines and columns of numbers on a ground whose strength is the number. */
  function heat(labels, lines, metric, show) {
    const boxes = lines.flatMap(({ label, values }, i) =>
      values.flatMap((value, k) => {
        if (value == null) return [];
        const share = Math.max(0, Math.min(1, (value - metric.low) / (metric.high - metric.low)));
        return { x: [k, k + 1], y: [i, i + 1], kind: "heat", strength: 0.06 + 0.6 * share, show: show(value), text: `${label}, ${labels[k]}: ${show(value)}` };
      }),
    );
    return {
      rows: lines.length,
      across: [{ texts: lines.map(({ label }) => label), align: "end" }, { x: { ...column(labels.length), ticks: labels.map((label, k) => [k + 0.5, label]), least: 40 * labels.length }, y: ROWS, boxes }],
      table: [["", ...labels], ...lines.map(({ label, values }) => [label, ...values])],
    };
  }
  /**
   * Differences: a line and a column for each name, `cell(i, k)` is {by, sure, about} for the line's value minus the
   * column's, or null. Sign and ground say who is above; a difference that may be noise has no ground.
   */
  function matrix(names, cell, show) {
    const table = [["of", "minus", "difference", "told apart"]];
    const boxes = names.flatMap((name, i) =>
      names.flatMap((other, k) => {
        const one = cell(i, k);
        if (!one) return [];
        table.push([name, other, one.by, one.sure ? "yes" : "no"]);
        const kind = one.sure ? (one.by > 0 ? "win" : "loss") : "level";
        return { x: [k, k + 1], y: [i, i + 1], kind, show: show(one.by), text: `${name} against ${other}: ${show(one.by)}, ${one.about}` };
      }),
    );
    const number = (i) => String(i + 1);
    return {
      rows: names.length,
      across: [
        { texts: names.map((_, i) => number(i)), align: "end", soft: true },
        { texts: names, align: "end" },
        { x: { ...column(names.length), ticks: names.map((_, k) => [k + 0.5, number(k)]), least: 44 * names.length }, y: ROWS, boxes },
      ],
      table,
    };
  }
  /**
   * Points with names where there is room for them, hollow where `open`: {x, y, ends, name, text}. `joined` are lists of
   * points, `frontier` those that steps join. Axes: {title, steps, scale, show}.
   */
  function points(dots, x, y, { joined = [], rules = [], frontier = [] } = {}) {
    const axis = ({ title, steps, scale, show }) => ({ title, scale, ticks: labelled(steps, show) });
    const at = (dot) => [dot.x, dot.y];
    const paths = joined.map((path) => ({ kind: "path", points: path.map(at) }));
    // Nothing lies between two points of the front: it goes in steps.
    if (frontier.length) paths.push({ kind: "frontier", points: frontier.flatMap((dot, i) => [...(i ? [[dot.x, frontier[i - 1].y]] : []), at(dot)]) });
    const marks = dots.map((dot) => ({ x: dot.x, y: dot.y, ends: dot.ends?.length ? dot.ends : null, open: dot.open, name: dot.name, text: dot.text }));
    return {
      n: `n = ${dots.length} row${dots.length === 1 ? "" : "s"}${dots.length > FEW ? ", named where there is room" : ""}.`,
      across: [{ x: axis(x), y: axis(y), marks, paths, rules }],
      table: [["name", x.title, y.title, "low", "high"], ...dots.map((dot) => [dot.name, dot.shown ?? dot.x, dot.y, ...(dot.ends?.length ? dot.ends : ["", ""])])],
    };
  }

  // --- a chart on the page: as wide as its place, the first in view first, to be taken along ---
  // A page's width between its margins.
  const PAPER = 680;
  // Place -> {draw, about, source, title, words, made (its description)}.
  const charts = new Map();
  const legend = (names) =>
    h("ul", { class: "legend" }, names.map((text, i) => h("li", {}, svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", form(i))), h("bdi", { text }))));
  async function paint(place, width = place.clientWidth) {
    const chart = charts.get(place);
    if (!chart || !width) return;
    place.dataset.width = width;
    try {
      const { n = "", ...made } = await (chart.making ??= chart.draw());
      const whisked = made.across.some((part) => part.marks?.some((one) => one.ends));
      const about = [chart.about, whisked && "Whiskers: each score’s own 95 % interval.", n].filter(Boolean).join(" ");
      chart.made = { title: chart.title, about, source: chart.source, ...made };
      chart.words.textContent = about;
      const drawn = canvas(draw(chart.made, width), { role: "group", "data-marks": true });
      place.replaceChildren(...[made.key && legend(made.key), drawn].filter(Boolean));
      drawn.querySelector("[data-tip]")?.setAttribute("tabindex", 0);
      // What scrolls can be reached by the keyboard.
      if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
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
    for (let place; (place = [...charts.keys()].find((one) => !one.dataset.drawn && one.clientWidth)); ) {
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
    for (const place of charts.keys()) paint(place, PAPER);
  });
  addEventListener("afterprint", () => {
    for (const place of charts.keys()) paint(place);
  });
  function clear() {
    sized.disconnect();
    charts.clear();
  }
  /**
   * A card with a chart: {id, title, about, draw() -> description and `n`, whole (as wide as the page), of, source}; `n`
   * is what of `about` is known only once it is drawn, `of` and `source` what a file says of where it is from.
   */
  function figure({ id, title, about, draw: make, whole, of, source = "" }) {
    const place = h("div", { class: "plot", id: `chart-${id}`, role: "group", "aria-label": title });
    const words = h("p", { text: about });
    const chart = { title: of ? `${of}: ${title}` : title, about, source, draw: make, words };
    charts.set(place, chart);
    const take = (kind, type, content) =>
      h("button", { type: "button", class: "link", "aria-label": `${title} as ${kind}`, onclick: async () => chart.made && save(await content(chart.made), type, `${id}.${kind.toLowerCase()}`) }, kind);
    const card = h(
      "section",
      { class: `card chart${whole ? " wide" : ""}` },
      h("h3", { text: title }),
      words,
      place,
      h(
        "p",
        { class: "take" },
        take("SVG", "image/svg+xml", file),
        take("PNG", "image/png", (made) => pngOf(file(made))),
        take("CSV", "text/csv;charset=utf-8", ({ table }) => csv(table)),
        take("JSON", "application/json", (made) => JSON.stringify(made)),
      ),
    );
    sized.observe(place);
    return card;
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

  Object.assign(globalThis.Plots, { powers, months, lanes, radars, heat, matrix, points, figure, clear, csv, save });
})();
