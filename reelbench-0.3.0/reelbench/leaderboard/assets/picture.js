/* The table as a picture for a slide or a post: what is in view, light, with where it is from and of when. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { svg } = R;
  const { wide, wrapped } = globalThis.Plots;
  const MOST = 25; // rows
  const [ROW, LEFT, LANE, EDGE] = [32, 74, 210, 24];
  const NARROWEST = 330; // of the names' column, so that a headline has room
  const VALUE = 62; // from a lane's left to its track
  const RATE = 96; // of the win rates' column
  const INK = { ink: "#17181c", soft: "#5b6070", line: "#e6e7ee", dot: "#4f46e5", above: "#047857", under: "#b45309", level: "#5b6070", rule: "#b45309", human: "#047857", zero: "#5b6070" };
  const put = (x, y, text, size, attributes) => svg("text", { x, y, fill: INK.ink, style: `font: ${size} system-ui, sans-serif; unicode-bidi: isolate`, ...attributes }, text);
  const rule = (x1, y1, x2, y2, stroke, width = 1, dashes) => svg("line", { x1, y1, x2, y2, stroke, "stroke-width": width, "stroke-dasharray": dashes });

  /** One lane's track, from `x` on and `wide`, at the height `y`. */
  function track(one, x, y, wide) {
    const { steps } = one;
    const at = (value) => x + Math.max(0, Math.min(wide, (wide * (value - steps[0])) / (steps.at(-1) - steps[0])));
    const colour = INK[one.kind] || INK.dot;
    const ends = one.ends?.map(at);
    return [
      rule(x, y, x + wide, y, INK.line),
      ...one.rules.map((mark) => rule(at(mark.at), y - 12, at(mark.at), y + 12, mark.kind === "baseline" ? INK.rule : INK[mark.kind] || INK.soft, 1.2, mark.kind === "baseline" ? "3 3" : null)),
      ...(ends ? [rule(ends[0], y, ends[1], y, colour, 2), rule(ends[0], y - 5, ends[0], y + 5, colour, 1.5), rule(ends[1], y - 5, ends[1], y + 5, colour, 1.5)] : []),
      svg("circle", { cx: at(one.value), cy: y, r: 3.6, fill: one.hollow ? "#fff" : colour, stroke: colour, "stroke-width": 1.6 }),
    ];
  }
  /**
   * The picture as SVG text: {title, words (the headline), rows, lanes, ticked, g, of}; `of` gives a row's {rank, range,
   * model, setting, rate}, of which the last two may be missing.
   */
  function drawn({ title, words, rows, lanes, ticked, of, g }) {
    const [base] = ticked;
    const shown = [...(base ? [base] : []), ...rows.filter((row) => row !== base)].slice(0, MOST);
    const names = shown.map((row) => wide([of(row).model, of(row).setting].filter(Boolean).join("  "), "600 13px system-ui, sans-serif"));
    const rated = shown.some((row) => of(row).rate);
    const name = Math.ceil(Math.max(NARROWEST, ...names) + 30);
    const width = LEFT + name + lanes.length * LANE + (rated ? RATE : 0) + EDGE;
    const titles = wrapped(title, width - 2 * EDGE, 20, 700);
    const headline = wrapped(words, width - 2 * EDGE, 13);
    const unitOf = (lane) => (base && shown.some((row) => lane.drawn(row, ticked)) ? "minus the first row" : lane.unit());
    const heads = lanes.map((lane) => [...wrapped(lane.title, LANE - 12, 12.5, 600).map((text) => [text, "600 12.5px", INK.ink]), ...wrapped(unitOf(lane), LANE - 12, 10.5).map((text) => [text, "10.5px", INK.soft])]);
    const tallest = Math.max(1, ...heads.map((lines) => lines.length));
    const said = [...titles.map((text, i) => put(EDGE, 36 + i * 24, text, "700 20px")), ...headline.map((text, i) => put(EDGE, 34 + titles.length * 24 + i * 18, text, "13px", { fill: INK.soft }))];
    const top = 34 + titles.length * 24 + headline.length * 18 + 18 + tallest * 15 + 4;
    const bounded = shown.some((row) => lanes.some((lane) => lane.drawn(row, ticked)?.bound));
    const how = wrapped(
      `Whiskers: ${base ? "adjusted 95 % intervals over videos (Holm, all pairs); hollow: can’t be told apart" : "each score’s own 95 % interval over videos; small numbers: range of ranks, adjusted 95 % (Holm, all pairs)"}.${bounded ? " ≥ or † lower bound: some questions have no score." : ""}`,
      width - 2 * EDGE,
    );
    const from = wrapped(R.sourceLine([], g), width - 2 * EDGE);
    const foot = top + shown.length * ROW + 26;
    const height = foot + (how.length + from.length) * 16 + 6;
    const parts = [svg("rect", { width, height, fill: "#fff" }), ...said];
    lanes.forEach((lane, k) => {
      const x = LEFT + name + k * LANE + VALUE,
        across = LANE - 84;
      const one = shown.map((row) => lane.drawn(row, ticked)).find(Boolean);
      parts.push(...heads[k].map(([text, font, fill], i) => put(x - VALUE + 6, top - 15 - (heads[k].length - 1 - i) * 15, text, font, { fill })));
      const steps = one ? [one.steps[0], ...(one.steps.includes(0) && one.steps[0] < 0 ? [0] : []), one.steps.at(-1)] : [];
      for (const step of new Set(steps))
        parts.push(put(x + (across * (step - one.steps[0])) / (one.steps.at(-1) - one.steps[0]), top - 2, String(step).replace("-", "−"), "10px", { fill: INK.soft, "text-anchor": "middle" }));
    });
    const right = width - EDGE - 6;
    if (rated) parts.push(put(right, top - 30, "Mean win rate", "600 12.5px", { "text-anchor": "end" }), put(right, top - 15, "%", "10.5px", { fill: INK.soft, "text-anchor": "end" }));
    shown.forEach((row, i) => {
      const y = top + i * ROW + ROW / 2 + 4,
        { rank, range, model, setting, rate } = of(row);
      const [org, ...rest] = model.includes("/") ? model.split("/") : ["", model];
      parts.push(rule(24, y - ROW / 2, width - 24, y - ROW / 2, INK.line), put(44, y + 4, rank ?? "–", "650 13px", { "text-anchor": "end" }), put(50, y + 4, range || "", "10px", { fill: INK.soft }));
      const called = put(LEFT + 14, y + 4, "", "13px");
      called.append(svg("tspan", { fill: INK.soft }, org ? `${org}/` : ""), svg("tspan", { "font-weight": 600 }, rest.join("/")));
      if (setting) called.append(svg("tspan", { fill: INK.soft, dx: 8 }, setting));
      parts.push(called);
      if (rate) parts.push(put(right, y + 4, rate, "650 12.5px", { "text-anchor": "end" }));
      lanes.forEach((lane, k) => {
        const one = lane.drawn(row, ticked),
          x = LEFT + name + k * LANE;
        parts.push(put(x + VALUE - 10, y + 4, one ? `${one.text}${one.bound && !one.text.startsWith("≥") ? "†" : ""}` : "–", one ? "650 12.5px" : "12px", { "text-anchor": "end" }));
        if (one) parts.push(...track(one, x + VALUE, y, LANE - 84));
      });
    });
    const lines = [...how, ...from];
    parts.push(...lines.map((text, i) => put(EDGE, foot + i * 16, text, "11px", { fill: INK.soft })));
    const root = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }, parts);
    return new XMLSerializer().serializeToString(root);
  }
  /** Copy it at the press of a button; where a browser won't, it is saved. `given` says what is in view. */
  R.takePicture = async (button, name, given) => {
    const label = (text) => {
      button.textContent = text;
      R.say(text);
      setTimeout(() => {
        button.textContent = "Copy as picture";
      }, 1800);
    };
    const blob = globalThis.Plots.pngOf(drawn(given));
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      label("Picture copied");
    } catch {
      globalThis.Plots.save(await blob, "image/png", `${name}.png`);
      label("Picture saved");
    }
  };
})();
