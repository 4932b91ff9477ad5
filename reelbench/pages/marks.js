/* The track of one number on its scale, its axis, and the tips of marks, for every page of ours. It knows numbers and
   names, no rows. A metric is {low, high}. */
"use strict";
globalThis.Plots = (() => {
  const { h } = globalThis.Elements;
  /** A mark that the pointer and the keyboard reach: its tip is its name. */
  const told = (text) => ({ role: "img", "aria-label": text, "data-tip": text, tabindex: -1 });

  // --- axes: each holds its data at both ends ---
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  /** Round steps that hold both ends: 1, 2, 2.5 or 5 times a power of ten. */
  function ticks(low, high, many = 5) {
    const span = Math.max(high - low, 1e-6);
    const power = 10 ** Math.floor(Math.log10(span / many));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((s) => span / s <= many + 1e-9);
    const first = Math.floor(low / step + 1e-9),
      last = Math.ceil(high / step - 1e-9);
    return Array.from(
      { length: Math.max(last, first + 1) - first + 1 },
      (_, i) => +((first + i) * step).toPrecision(10),
    );
  }
  /** Ticks around values, with some air, inside what the metric can be. */
  function around(values, { low, high }, many) {
    const [from, to] = [least(values), most(values)];
    const air = Math.max((to - from) * 0.06, (high - low) * 0.01);
    return ticks(Math.max(low, from - air), Math.min(high, to + air), many);
  }
  const scale = (steps, from, to) => (value) => from + ((to - from) * (value - steps[0])) / (steps.at(-1) - steps[0]);
  /** A p value in words, and what follows it: a small one is below what three digits can show, never 0. */
  const pText = (p, end) => (p == null ? "" : `p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`}${end}`);
  const minus = (number) => String(number).replace("-", "−");

  // --- one number on its scale, in a table ---
  /**
   * A track with a dot, its interval, and rules (floor, people) on an axis `steps`.
   * Options: value, ends [low, high], rules [{at, kind}], hollow (not ranked), tip (its name in words), open (a click's or
   * key's work).
   */
  function track({ value, ends, steps, rules = [], hollow, tip, open }) {
    const at = (x) => `${Math.max(0, Math.min(100, scale(steps, 0, 100)(x))).toFixed(2)}%`;
    const numbers = ends && { "data-ci-low": ends[0], "data-ci-high": ends[1] };
    return h(
      "span",
      { class: "lane", ...told(tip), ...(open ? { role: "button", onclick: open } : {}) },
      rules.map((rule) => h("i", { class: `rule ${rule.kind}`, style: `left:${at(rule.at)}` })),
      ends && h("i", { class: "ends", style: `left:${at(ends[0])};right:calc(100% - ${at(ends[1])})` }),
      h("i", { class: `dot${hollow ? " hollow" : ""}`, style: `left:${at(value)}`, "data-value": value, ...numbers }),
    );
  }
  /** The numbers of an axis as wide as a column: all where they are short, else its ends and its zero or one near the middle. */
  function axis(steps) {
    const short = steps.join("").length < (steps.every(Number.isInteger) ? 13 : 8);
    // Labels stand at even distances, or an axis would seem bent; 0 always has one.
    const gaps = steps.length - 1;
    const stride = [1, 2, 3].find((size) => gaps % size === 0 && gaps / size <= 2) || gaps;
    const inside = steps.slice(1, -1).filter((step, i) => short || (steps.includes(0) ? step === 0 : (i + 1) % stride === 0));
    const at = scale(steps, 0, 100);
    return h(
      "span",
      { class: "axis", "aria-hidden": "true" },
      [steps[0], ...inside, steps.at(-1)].map((step) => h("i", { style: `left:${at(step).toFixed(1)}%` }, minus(step))),
    );
  }

  // --- tips: of a mark under the pointer or the keyboard; the arrows go from mark to mark ---
  const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true", dir: "auto" });
  function showTip(mark) {
    document.body.append(tip);
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const box = mark.getBoundingClientRect(),
      own = tip.getBoundingClientRect();
    const left = Math.max(4, Math.min(document.documentElement.clientWidth - own.width - 4, box.left + box.width / 2 - own.width / 2));
    tip.style.left = `${left}px`;
    tip.style.top = `${box.top > own.height + 70 ? box.top - own.height - 6 : box.bottom + 6}px`;
  }
  const hide = () => {
    tip.hidden = true;
  };
  for (const [on, off] of [
    ["pointerover", "pointerout"],
    ["focusin", "focusout"],
  ]) {
    document.addEventListener(on, ({ target }) => {
      const one = target.closest?.("[data-tip]");
      if (one) showTip(one);
    });
    document.addEventListener(off, hide);
  }
  const follow = () => (document.activeElement?.matches("[data-tip]:focus-visible") ? showTip(document.activeElement) : hide());
  document.addEventListener("scroll", follow, true);
  document.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (/^(Enter| )$/.test(event.key) && event.target.matches?.("[data-tip][role=button]")) {
      event.preventDefault();
      event.target.click();
    }
    if (!by || !event.target.matches?.("[data-marks] [data-tip]")) return;
    const marks = [...event.target.closest("[data-marks]").querySelectorAll("[data-tip]")];
    const next = marks[marks.indexOf(event.target) + by];
    event.preventDefault();
    if (!next) return;
    event.target.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });

  return { told, ticks, around, scale, minus, pText, track, axis, least, most };
})();
