/* The table as a picture for a slide or a post: what is in view, light, with where it is from and of when. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { minus, file, pngOf, save } = globalThis.Plots;
  // Rows.
  const MOST = 25;
  // Pixels of a lane's track.
  const LANE = 190;

  /** A lane of the rows in view as a chart's parts: the numbers, and what is drawn. */
  function laneParts(lane, shown, ticked) {
    const cells = shown.map((row) => lane.drawn(row, ticked));
    const known = cells.find(Boolean);
    if (!known) return [];
    const { steps } = known;
    const text = (one) => (one ? `${one.text}${one.bound && !one.text.startsWith("≥") ? "†" : ""}` : "–");
    const marks = cells.flatMap((one, i) => (one ? { x: one.value, y: i + 0.5, ends: one.ends, open: one.hollow, kind: one.kind, text: one.tip } : []));
    const about = ticked.length ? "minus the first row" : lane.unit();
    const ticks = steps.map((step) => [step, minus(step)]);
    return [
      { texts: cells.map(text), align: "end", strong: true, of: true },
      { title: lane.title, about, x: { ticks, least: LANE }, y: {}, marks, rules: known.rules.map(({ at, kind }) => ({ at, kind })) },
    ];
  }
  /**
   * The table as a chart's description, from {title, words (the headline), rows, lanes, ticked, g, of}; `of` gives a row's
   * {rank, range, model, setting, rate}, of which the last two may be missing.
   */
  function described({ title, words, rows, lanes, ticked, of, g }) {
    const [base] = ticked;
    const shown = [...(base ? [base] : []), ...rows.filter((row) => row !== base)].slice(0, MOST);
    const texts = (name, more) => ({ texts: shown.map((row) => String(of(row)[name] ?? "")), ...more });
    const has = (name) => shown.some((row) => of(row)[name]);
    const bounded = shown.some((row) => lanes.some((lane) => lane.drawn(row, ticked)?.bound));
    const ranks = has("range") ? "; behind a rank its range, adjusted 95 % (Holm, all pairs)" : "";
    const compared = shown.some((row) => row !== base && lanes.some((lane) => lane.drawn(row, ticked)?.ends));
    const hollow = shown.some((row) => lanes.some((lane) => lane.drawn(row, ticked)?.hollow));
    const uncompared = shown.some((row) => row !== base && lanes.some((lane) => lane.drawn(row, ticked)?.uncompared));
    const told = [compared && "hollow with an interval: can’t be told apart", uncompared && "without one: not compared"].filter(Boolean).join("; ");
    const how = base ? `adjusted 95 % intervals over videos (Holm, all pairs)${told && `; ${told}`}` : `each score’s own 95 % interval over videos${ranks}${hollow ? "; hollow: not ranked" : ""}`;
    const cut = rows.length > shown.length ? `The first ${shown.length} of ${R.count(rows.length)} rows. ` : "";
    return {
      title,
      about: words,
      source: `${cut}Whiskers: ${how}.${bounded ? ` ${base ? "≥ or †" : "≥"} lower bound: some questions have no score.` : ""} ${R.sourceLine([], g)}`,
      lined: true, row: 30, rows: shown.length,
      across: [
        { ...texts("rank", { align: "end", strong: true }), texts: shown.map((row) => String(of(row).rank ?? "–")) },
        texts("range", { soft: true }),
        texts("model", { strong: true }),
        ...(has("setting") ? [texts("setting", { soft: true })] : []),
        ...lanes.flatMap((lane) => laneParts(lane, shown, ticked)),
        ...(has("rate") ? [texts("rate", { title: "Mean win rate, %", align: "end", strong: true })] : []),
      ],
    };
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
    const blob = pngOf(file(described(given)));
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
      label("Picture copied");
    } catch {
      save(await blob, "image/png", `${name}.png`);
      label("Picture saved");
    }
  };
})();
