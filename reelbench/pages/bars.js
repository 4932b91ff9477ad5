/* Shares and bars, after plots.js: of a number a bar in a table, of several a description, which drawing.js draws. */
"use strict";
(() => {
  const { h } = globalThis.Elements;
  const { told, ticks, minus, most } = globalThis.Plots;

  /** A share (0 to 1) as a bar from 0, with its interval where it has one; `tip` says it in words. */
  globalThis.Plots.share = ({ value, ends, tip }) => {
    const at = (x) => `${(100 * x).toFixed(2)}%`;
    return h(
      "span",
      { class: "lane share", ...told(tip) },
      h("i", { class: "fill", style: `width:${at(value)}`, "data-value": value }),
      ends && h("i", {
        class: "ends", style: `left:${at(ends[0])};right:calc(100% - ${at(ends[1])})`, "data-ci-low": ends[0], "data-ci-high": ends[1],
      }),
    );
  };
  /**
   * Bars from 0: a line per label, a bar in it per series: {label, bars: [{at, ends, i, show, text}]}. `names` are the
   * series', `axis` prints a number of the axis.
   */
  globalThis.Plots.bars = (lines, names, axis = minus) => {
    const all = lines.flatMap((one) => one.bars);
    const steps = ticks(0, most(all.flatMap(({ at, ends }) => [at, ...(ends || [])])) || 1, 4);
    // Each bar is a row, and the first of a line has its label; a line ends with an empty row where there are several.
    const rows = lines.flatMap(({ label, bars: own }) => [...own.map((bar, k) => ({ ...bar, label: k ? "" : label })), ...(names.length > 1 ? [{}] : [])]);
    const boxes = rows.flatMap(({ at, i, text, ends }, k) => (text ? { x: [0, at], y: [k, k + 1], kind: `c${i % 6}`, strength: ends ? 0.55 : 0.8, text, ends } : []));
    return {
      key: names.length > 1 ? names : null, row: 16, rows: rows.length,
      across: [{ texts: rows.map(({ label }) => label || ""), align: "end" }, { x: { ticks: steps.map((step) => [step, axis(step)]) }, y: {}, boxes }, { texts: rows.map(({ show }) => show || ""), align: "end" }],
      table: [["label", "series", "value", "low", "high"], ...lines.flatMap(({ label, bars: own }) => own.map((bar) => [label, names[bar.i] ?? "", bar.at, ...(bar.ends || ["", ""])]))],
    };
  };
})();
