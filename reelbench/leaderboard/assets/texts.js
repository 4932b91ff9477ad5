/* The text pages: how to submit, how it works. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h } = R;
  const { table, scroll } = globalThis.Elements;

  /** A rule's drawn example, of heads and rows, or of marks on one scale: [name, value, its ends, in words, more of `track`]. */
  function example(title) {
    const { ends: steps, rules, lines = [], heads = null, rows } = data.examples[title];
    const drawn = ([name, value, ends, words, { kind = "", ...more } = {}]) => [name, h("td", { class: "lane-cell" }, h("span", { class: kind }, globalThis.Plots.track({ value, ends, steps, rules, tip: `${name}: ${words}`, ...more }))), words];
    return h("figure", { class: "example" }, table({ "aria-label": `Example: ${title}` }, heads, rows || lines.map(drawn)));
  }
  /** A block of Markdown: a heading with its example, code, or a paragraph. */
  function block(text) {
    if (text.startsWith("    ")) return h("pre", { tabindex: 0, text: text.replace(/^ {4}/gm, "") });
    const line = text.replace(/\s+/g, " ").replaceAll(" %", "\u00a0%");
    if (line.startsWith("## ")) return [h("h2", { text: line.slice(3) }), data.examples[line.slice(3)] && example(line.slice(3))];
    const part = (words) => (words.startsWith("`") ? h("code", { text: words.slice(1, -1) }) : words);
    return h("p", {}, line.split(/(`[^`]+`)/).map(part));
  }
  const blocks = (text) => text.split(/\n\s*\n/).flatMap(block);
  function submitPage(main) {
    main.replaceChildren(h("h1", { text: "Submit in four commands" }), h("div", {}, blocks(data.submit)));
  }
  function aboutPage(main) {
    const explained = { intervals: true, bounded: true, rules: [{ kind: "baseline" }, { kind: "human" }] };
    main.replaceChildren(
      h("h1", { text: "How it works" }),
      h("div", { class: "card" }, R.key([explained], true)),
      h(
        "div",
        { class: "prose rules" },
        blocks(data.rules),
      ),
      h(
        "details",
        { class: "explained" },
        h("summary", { text: "What each metric measures" }),
        data.benchmarks.map(metricTable),
      ),
    );
  }
  function metricTable(b) {
    const rows = b.metrics.map((metric) => [metric.title, h("td", { class: "nowrap", text: data.units[metric.unit].range }), metric.about || "–", h("td", { class: "sub", text: metric.cite || "–" })]);
    return h("div", {}, h("h3", { text: b.title }), scroll(`Metrics of ${b.title}`, table({}, ["Metric", "Scale", "What it measures", "Source"], rows)));
  }

  R.addPage("submit", submitPage);
  R.addPage("about", aboutPage);
})();
