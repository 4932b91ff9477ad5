/* The one drawer of charts on our pages: a description (JSON) becomes an SVG of the page, a file, a picture. Its keys
   stand in chart.py; drawing.py draws the same in Python. */
"use strict";
(() => {
  const { svg } = globalThis.Elements;
  const { told, most } = globalThis.Plots;
  const FAMILY = "system-ui, Helvetica, Arial, sans-serif";
  // Pixels from one line of words to the next.
  const LINE = 15;
  // The least width of a radar.
  const SQUARE = 300;
  // Pixels of an interval whose mark is small.
  const NARROW = 26;
  // So many marks may all have names that stand further off.
  const FEW = 24;
  // Marks that are named.
  const LABELLED = 30;
  // A file's width, whatever the screen's.
  const PAPER = 720;
  // Around a file.
  const EDGE = 14;

  // --- words ---
  // A canvas takes its time.
  let pen = null;
  /** How wide a text is in pixels, with a little to spare for other fonts. */
  const wide = (text, size = 11, weight = 400) => {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = `${weight} ${size}px ${FAMILY}`;
    return pen.measureText(text).width * 1.06;
  };
  const widest = (texts, weight) => most([0, ...texts.map((text) => wide(text, 11, weight))]);
  /** Text in lines of at most `width` pixels, broken between words. */
  function wrapped(text, width, size = 11, weight = 400) {
    const lines = [];
    for (const word of (text || "").split(" ").filter(Boolean)) {
      const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
      if (lines.length && wide(longer, size, weight) <= width) lines[lines.length - 1] = longer;
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

  // --- elements; a class says how one looks, on the page by a style sheet, in a file by LOOKS ---
  const at = (number) => number.toFixed(1);
  /** Writing directions that a name may switch on end with it. */
  const put = (x, y, text, kind, anchor = "start", more = {}) =>
    svg("text", { x: at(x), y: at(y), class: kind, "text-anchor": anchor, style: "unicode-bidi: isolate", ...more }, text);
  const line = (x1, y1, x2, y2, kind) => svg("line", { x1: at(x1), y1: at(y1), x2: at(x2), y2: at(y2), class: kind });
  const named = (tag, attributes, text) => svg(tag, { ...attributes, ...told(text) }, svg("title", {}, text));
  // A mark has a form as well as a colour, for eyes that can't tell the colours apart.
  const FORMS = [
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
    "M-4.5 -4.5h9v9h-9z",
    "M0 -6L5.5 4.5H-5.5z",
    "M0 -6L6 0L0 6L-6 0z",
    "M0 6L5.5 -4.5H-5.5z",
    "M-6 -2h4v-4h4v4h4v4h-4v4h-4v-4h-4z",
  ];
  const colour = (i) => `c${i % FORMS.length}`;
  const form = (i, open) => ({ d: FORMS[i % FORMS.length], class: `mark ${colour(i)}${open || i >= FORMS.length ? " open" : ""}` });

  const PLACES = { log: Math.log10, doubling: (n) => Math.log2(n + 1) };
  /** The ends of an axis: those that it states, or its first and last tick. */
  const span = ({ ticks, from = ticks[0][0], to = ticks.at(-1)[0] }) => [from, to];
  /** The function from a number of an axis to its pixel. */
  function pixels(axis, start, end) {
    const place = PLACES[axis.scale] || Number;
    const [low, high] = span(axis).map(place);
    return (value) => start + ((end - start) * (place(value) - low)) / (high - low || 1);
  }
  /** Those labels of an axis that don't stand on one another: [middle, text]; the last has precedence. */
  function apart(labels, right) {
    const kept = [];
    for (const [middle, text] of labels) {
      const half = wide(text) / 2;
      const from = Math.min(middle, right - half) - half;
      const last = middle === labels.at(-1)[0];
      while (last && kept.length && kept.at(-1).to > from) kept.pop();
      if (!kept.length || kept.at(-1).to <= from) kept.push({ at: from + half, to: from + 2 * half + 4, text });
    }
    return kept;
  }

  // --- one panel ---
  /**
   * The names of points, each where it covers no mark and no other name; those that come first have the choice. Of few
   * points those without room have numbers, and `listed` gets their names.
   */
  function names(marks, X, Y, [left, top, right, bottom], lanes, listed) {
    const boxes = marks.map((mark) => [X(mark.x) - 6, Y(mark.y) - 6, X(mark.x) + 6, Y(mark.y) + 6]);
    const taken = [...boxes, ...lanes];
    const leaders = [...marks].sort((p, q) => q.y - p.y).slice(0, 5);
    const beside = [[9, 4, "start"], [-9, 4, "end"], [0, -10, "middle"], [0, 17, "middle"], [7, -7, "start"], [7, 15, "start"]];
    // Where marks lie close together a name stands further off, on a line to its mark.
    const further = [2, 3, 4.5, 6].flatMap((far) => [[7, -10], [7, 14], [-7, -10], [-7, 14]].map(([dx, dy]) => [dx * far, dy * far, dx > 0 ? "start" : "end"]));
    const few = marks.length <= FEW;
    const parts = [];
    /** Put words at the first free place of a mark; whether there is one. */
    const place = (mark, text, offsets) =>
      offsets.some(([dx, dy, anchor]) => {
        const w = wide(text),
          own = boxes[marks.indexOf(mark)],
          from = X(mark.x) + dx - (anchor === "end" ? w : anchor === "middle" ? w / 2 : 0),
          to = Y(mark.y) + dy,
          box = [from, to - 10, from + w, to + 3];
        const inside = box[0] > left && box[2] < right && box[1] > top && box[3] < bottom;
        const free = taken.every((other) => other === own || (other[4] && Math.abs(dx) > 9) || other[2] < box[0] || other[0] > box[2] || other[3] < box[1] || other[1] > box[3]);
        if (!inside || !free) return false;
        taken.push(box);
        if (Math.abs(dx) > 9) parts.push(line(X(mark.x), Y(mark.y), X(mark.x) + dx, to - 4, "ends faint"));
        parts.push(put(X(mark.x) + dx, to, text, "", anchor));
        return true;
      });
    const named = [...new Set([...leaders, ...marks])].filter((one) => one.name).slice(0, LABELLED);
    const crowded = named.filter((mark) => !place(mark, cut(mark.name, 340), few || leaders.includes(mark) ? [...beside, ...further] : beside));
    let n = 0;
    if (few) for (const mark of crowded) listed.push(place(mark, String(n + 1), [...beside, ...further]) ? `${++n} ${mark.name}` : mark.name);
    return parts;
  }
  /** An interval with its caps, along x or y. */
  function whiskers([low, high], across, flat, kind, half) {
    const one = (a, b, c, d) => (flat ? line(a, b, c, d, kind) : line(b, a, d, c, kind));
    return [one(low, across, high, across), one(low, across - half, low, across + half), one(high, across - half, high, across + half)];
  }
  /**
   * A panel's parts between its axes, `box` [left, top, right, bottom]; `Y` gives the pixel of a height, `row` is that of
   * a row, 0 where there are none, `spans` the heights between which lines go up; `listed` gets the names without room.
   */
  function inside(panel, box, Y, row, spans, listed) {
    // Intervals lie along x.
    const flat = row > 0;
    const [left, top, right, bottom] = box;
    const X = pixels(panel.x, left, right);
    const { marks = [], boxes = [], paths = [], rules = [], words = [] } = panel;
    const parts = [],
      taken = [];
    const grid = panel.x.grid === false ? [] : panel.x.ticks;
    const upright = (x, kind) => spans.map(([from, to]) => line(x, from, x, to, kind));
    parts.push(grid.map(([value]) => upright(X(value), "gridline")));
    parts.push((panel.y.ticks || []).map(([value]) => line(left, Y(value), right, Y(value), "gridline")));
    for (const { points, kind, i, closed } of paths) {
      const places = points.map(([x, y]) => [X(x), Y(y)]);
      const look = `${kind}${i == null ? "" : ` s${i % FORMS.length} dash${i % 4}`}`;
      parts.push(svg(closed ? "polygon" : "polyline", { points: places.map((place) => place.map(at).join(",")).join(" "), class: look }));
      // No name across a step.
      if (kind === "frontier") places.slice(1).forEach(([x, y], k) => taken.push([Math.min(x, places[k][0]), Math.min(y, places[k][1]), Math.max(x, places[k][0]), Math.max(y, places[k][1])]));
    }
    for (const { x: [from, to], y: [low, high], kind, strength, text, show, ends } of boxes) {
      const [x, w, tall] = [Math.min(X(from), X(to)), Math.abs(X(to) - X(from)), flat ? (high - low) * row : Y(low) - Y(high)];
      const y = flat ? Y(low) : Y(high);
      const middle = y + tall / 2,
        gap = flat ? 1 : 0;
      parts.push(named("rect", { x: at(x + (show ? 1 : 0)), y: at(y + gap), width: at(Math.max(0, w - (show ? 2 : 0))), height: at(tall - 2 * gap), rx: show ? 3 : null, class: `${kind} mark`, "fill-opacity": strength?.toFixed(3) }, text));
      if (ends) parts.push(whiskers(ends.map(X), middle, true, "ends", tall / 2 - 2));
      if (show) parts.push(put(x + w / 2, middle + 4, show, kind === "level" ? "over soft" : "over", "middle"));
    }
    rules.forEach(({ at: value, text = "", kind = "baseline" }, i) => {
      const x = X(value),
        label = cut(text, 170),
        end = x + 6 + wide(label) > right;
      parts.push(upright(x, `rule ${kind}`));
      if (text) parts.push(put(x + (end ? -6 : 6), top + 10 + LINE * i, label, "floor", end ? "end" : "start"));
      taken.push([x - (end ? wide(label) + 6 : 0), top - 2 + LINE * i, x + (end ? 0 : wide(label) + 6), top + 14 + LINE * i], [x - 1, top, x + 1, bottom, true]);
    });
    const crowd = most(marks.map((mark) => mark.i || 0)) > 0;
    for (const mark of marks)
      if (mark.ends) {
        const places = mark.ends.map(flat ? X : Y);
        const kind = `ends ${mark.kind || (crowd ? `s${mark.i % FORMS.length}` : "")}${flat ? "" : " faint"}`;
        parts.push(whiskers(places, flat ? Y(mark.y) : X(mark.x), flat, kind, crowd || !flat ? 3 : 6));
        // No name across an interval.
        if (!flat) taken.push([X(mark.x) - 3, Math.min(...places), X(mark.x) + 3, Math.max(...places)]);
      }
    // Or marks would hide their intervals.
    const narrow = marks.some(({ ends }) => ends && Math.abs((flat ? X : Y)(ends[1]) - (flat ? X : Y)(ends[0])) < NARROW);
    const size = narrow ? " scale(.6)" : "";
    for (const mark of marks) {
      const look = form(mark.i || 0, mark.open);
      parts.push(named("path", { ...look, class: `${look.class} ${mark.kind || ""}`.trim(), transform: `translate(${at(X(mark.x))} ${at(Y(mark.y))})${size}` }, mark.text));
    }
    parts.push(words.map(({ x, y, text, anchor, strong }) => put(X(x), Y(y) + 4, text, strong ? "strong" : "", anchor)));
    return [...parts, names(marks, X, Y, [left, 0, right + 14, bottom], taken, listed)];
  }

  // --- a whole chart ---
  /** The places of a chart's texts and panels at a width: {whole, parts: [{part, left, width}], above, wraps}. */
  function places({ across, rows, lined }, width) {
    const natural = across.map((part) => (part.texts ? Math.max(widest(part.texts, part.strong && 600), widest([part.title || ""], 600)) + 14 : 0));
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    // Where names would take the room of what is drawn, they stand above it, whole.
    let above = -1;
    if (rows && !lined && sum(natural) > 0.5 * width) {
      above = natural.indexOf(most(natural));
      natural[above] = 0;
    }
    const panels = across.filter((part) => part.x);
    // Panels with rows share these; others stand under one another, radars where there is no room.
    const wraps = panels[0].square ? Math.max(1, Math.min(panels.length, Math.floor(width / SQUARE))) : rows ? panels.length : 1;
    const least = most(panels.map((panel) => panel.x.least || 60));
    const each = Math.max(least, (width - sum(natural)) / wraps);
    let left = 0;
    const parts = across.map((part, i) => {
      const own = part.x ? each : natural[i];
      if (!rows && i % wraps === 0) left = 0;
      const place = { part, left, width: own };
      left += own;
      return place;
    });
    return { whole: Math.ceil(most([width, ...parts.map((place) => place.left + place.width)])), parts, above, wraps, each };
  }
  /** The lines above a panel: its title and what it is in. */
  const heads = ({ title, about }, width) => [...wrapped(title, width, 11, 600).map((text) => [text, "strong"]), ...wrapped(about, width).map((text) => [text, "soft"])];
  /** Draw a chart's description at a width: {width, height, parts}. */
  function draw(chart, width) {
    const { rows, row = 22, across, lined } = chart;
    const { whole, parts: placed, above, wraps, each } = places(chart, width);
    const panels = across.filter((part) => part.x);
    const [first] = panels;
    // Above each row.
    const lead = above < 0 ? 0 : LINE;
    const under = (panel) => panel.x.ticks.length > 0 && !panel.x.top;
    // Of columns whose labels are wide these stand aslant.
    const slant = panels.some((panel) => panel.x.top && widest(panel.x.ticks.map(([, text]) => text)) > each / panel.x.ticks.length - 4);
    /** A heading may stand over the numbers before its panel, too. */
    const headed = (i) => (placed[i - 1]?.part.texts && placed[i - 1].part.of ? placed[i - 1].left : placed[i].left + 8);
    const headOf = across.map((part, i) => (part.x ? heads(part, placed[i].left + placed[i].width - headed(i) - 8) : part.title ? [[part.title, "strong"]] : []));
    const head = most([0, ...headOf.map((one) => one.length)]) * LINE + (first.x.top ? (slant ? 66 : 22) : 6);
    const tall = rows ? rows * (row + lead) : first.square ? each * ((first.y.to - first.y.from) / (first.x.to - first.x.from)) : panels.length > 1 ? 120 : Math.min(420, Math.max(300, width * 0.6)) - 54;
    const foot = (panels.some(under) ? 20 : 6) + (panels.some((panel) => panel.x.title) ? LINE + 3 : 0);
    const parts = [],
      listed = [];
    if (lined) for (let i = 0; i <= rows; i++) parts.push(line(0, head + i * (row + lead), whole, head + i * (row + lead), "gridline"));
    const ofRow = (value, top) => top + Math.floor(value) * (row + lead) + lead + (value % 1) * row;
    let number = -1;
    placed.forEach(({ part, left, width: own }, i) => {
      if (part.texts) {
        const [x, anchor] = part.align === "end" && i !== above ? [left + own - 8, "end"] : [left, "start"];
        headOf[i].forEach(([text, kind]) => parts.push(put(x, head - 6, text, kind, anchor)));
        const kind = [part.strong && "strong", part.soft && "soft", "over"].filter(Boolean).join(" ");
        part.texts.forEach((text, k) => {
          const y = i === above ? head + k * (row + lead) + 12 : ofRow(k + 0.5, head) + 4;
          // A name that is too long is smaller.
          const fit = i === above ? whole / wide(text, 11, part.strong && 600) : 1;
          if (text) parts.push(put(x, y, text, kind, anchor, fit < 1 ? { "font-size": at(11 * fit) } : {}));
        });
        return;
      }
      number++;
      const top = head + Math.floor(number / wraps) * (tall + head + foot);
      parts.push(headOf[i].map(([text, kind], k) => put(headed(i), top - head + 12 + k * LINE, text, kind)));
      const labels = part.y.ticks?.length ? widest(part.y.ticks.map(([, text]) => text)) + 8 : part.square ? 0 : 6;
      const box = [left + labels + (part.y.title ? 18 : 0), top, left + own - (part.square || part.x.grid === false ? 2 : 14), top + tall];
      const X = pixels(part.x, box[0], box[2]);
      const Y = rows ? (value) => ofRow(value, top) : pixels(part.y, box[3], box[1]);
      // Names above their rows stand on no line.
      const spans = lead ? Array.from({ length: rows }, (_, k) => [ofRow(k, top), ofRow(k, top) + row]) : [[top, box[3]]];
      parts.push(inside(part, box, Y, rows ? row : 0, spans, listed));
      const ticks = part.x.ticks.map(([value, text]) => [X(value), text]);
      if (part.x.top && slant) parts.push(ticks.map(([x, text]) => put(x, top - 8, cut(text, 70), "soft", "start", { transform: `rotate(-40 ${at(x)} ${at(top - 8)})` })));
      else parts.push(apart(ticks, left + own).map((label) => put(label.at, part.x.top ? top - 6 : box[3] + 15, label.text, "soft", "middle")));
      parts.push((part.y.ticks || []).map(([value, text]) => put(box[0] - 6, Y(value) + 4, text, "soft", "end")));
      if (part.x.title) parts.push(put((box[0] + box[2]) / 2, box[3] + 33, part.x.title, "soft", "middle"));
      const middle = (top + box[3]) / 2;
      if (part.y.title) parts.push(put(left + 12, middle, part.y.title, "soft", "middle", { transform: `rotate(-90 ${at(left + 12)} ${at(middle)})` }));
    });
    const body = (head + tall + foot) * Math.ceil(panels.length / wraps);
    const below = wrapped(listed.join(" · "), whole);
    parts.push(below.map((text, i) => put(0, body + 12 + i * LINE, text, "soft")));
    return { width: whole, height: body + below.length * LINE, parts: parts.flat(3) };
  }
  const canvas = ({ width, height, parts }, more) => svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, ...more }, ...parts);

  // --- a chart as a file: on white, with all that it is of ---
  const COLOURS = ["#4f46e5", "#c2410c", "#0f766e", "#be185d", "#0369a1", "#4d7c0f"];
  const [INK, SOFT, GRID, FLOOR, HUMAN] = ["#17181c", "#5b6070", "#e6e7ee", "#b45309", "#047857"];
  const LOOKS = {
    soft: { fill: SOFT }, floor: { fill: FLOOR }, strong: { "font-weight": 600 }, title: { "font-size": 16, "font-weight": 700 },
    gridline: { stroke: GRID, fill: "none" }, path: { stroke: COLOURS[0], "stroke-width": 1.5, "stroke-opacity": 0.55, fill: "none" }, joined: { stroke: GRID, "stroke-width": 3, fill: "none" }, area: { "stroke-width": 2, "fill-opacity": 0.1 },
    ends: { stroke: COLOURS[0], "stroke-width": 1.5 }, faint: { "stroke-opacity": 0.5 },
    rule: { stroke: FLOOR, "stroke-width": 1.5, "stroke-dasharray": "3 4" }, human: { stroke: HUMAN, "stroke-dasharray": "none" }, zero: { stroke: SOFT, "stroke-dasharray": "none" },
    frontier: { fill: "none", stroke: FLOOR, "stroke-width": 1.5, "stroke-dasharray": "5 3" },
    win: { fill: "#e5f6ef", stroke: HUMAN }, loss: { fill: "#fef3e2", stroke: FLOOR }, heat: { fill: COLOURS[0] },
    dash1: { "stroke-dasharray": "6 3" }, dash2: { "stroke-dasharray": "2 3" }, dash3: { "stroke-dasharray": "8 3 2 3" },
    mark: { stroke: "#fff" }, open: { "fill-opacity": 0.15, stroke: COLOURS[0], "stroke-width": 1.5 }, level: { fill: "none" },
  };
  COLOURS.forEach((one, i) => {
    LOOKS[`c${i}`] = { fill: one };
    LOOKS[`s${i}`] = { stroke: one, fill: one };
  });
  const KINDS = { above: HUMAN, under: FLOOR, level: SOFT };
  /** An element as a file has it: its looks as attributes, in the order of LOOKS, without what a page alone needs. */
  function plain(element) {
    const kinds = (element.getAttribute("class") || "").split(" ");
    const box = element.tagName === "rect";
    for (const [kind, looks] of Object.entries(LOOKS))
      if (kinds.includes(kind)) for (const [name, value] of Object.entries(looks)) if (!(box && kind === "mark")) element.setAttribute(name, value);
    for (const [kind, value] of Object.entries(KINDS))
      if (kinds.includes(kind) && !box) for (const name of kinds.includes("ends") ? ["stroke"] : kinds.includes("open") ? ["stroke", "fill"] : ["fill"]) element.setAttribute(name, value);
    for (const name of ["class", "data-tip", "tabindex"]) element.removeAttribute(name);
    return element;
  }
  /** A chart as an SVG of its own: {title, about, source, key} beside what is drawn. */
  function file(chart, width = PAPER) {
    const drawn = draw(chart, (chart.width || width) - 2 * EDGE);
    const room = drawn.width;
    const parts = [];
    let y = EDGE + 8;
    const say = (texts, kind, step) => {
      for (const text of texts) {
        parts.push(put(0, y, text, kind));
        y += step;
      }
    };
    say(wrapped(chart.title, room, 16, 700), "title", 20);
    say(wrapped(chart.about, room), "soft", LINE);
    let x = 0;
    for (const [i, text] of (chart.key || []).entries()) {
      const own = 16 + wide(text) + 16;
      if (x > 0 && x + own > room) [x, y] = [0, y + 17];
      parts.push(svg("path", { ...form(i), transform: `translate(${at(x + 6)} ${at(y)})` }), put(x + 16, y + 4, text));
      x += own;
    }
    y += chart.key ? 22 : 4;
    const top = y - EDGE;
    y += drawn.height + 16;
    say(wrapped(chart.source, room), "soft", LINE);
    const [whole, tall] = [room + 2 * EDGE, Math.ceil(y)];
    const root = svg(
      "svg",
      { xmlns: "http://www.w3.org/2000/svg", width: whole, height: tall, viewBox: `0 0 ${whole} ${tall}`, "font-family": FAMILY, "font-size": 11, fill: INK, role: "img" },
      svg("title", {}, chart.title),
      svg("rect", { width: whole, height: tall, fill: "#fff" }),
      svg("g", { transform: `translate(${EDGE} 0)` }, ...parts, svg("g", { transform: `translate(0 ${at(top + EDGE)})` }, ...drawn.parts)),
    );
    for (const element of root.querySelectorAll("*")) plain(element);
    return new XMLSerializer().serializeToString(root);
  }
  /** An SVG's text as PNG, at twice its size. */
  async function pngOf(text) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const sheet = document.createElement("canvas");
    [sheet.width, sheet.height] = [2 * image.width, 2 * image.height];
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    return new Promise((give) => sheet.toBlob(give));
  }

  Object.assign(globalThis.Plots, { form, draw, canvas, file, pngOf });
})();
