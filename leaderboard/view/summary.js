/* What the runs came to: metrics with intervals, differences, breakdowns, settings, what is unscored and why. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num } = R;
  const { runs, apart, differences } = data;
  const [benchmark] = data.benchmarks;
  const several = runs.length > 1;

  const scroll = (label, ...children) =>
    h("section", { class: "scroll", tabindex: 0, "aria-label": `${label}, scrolls sideways` }, ...children);
  const fold = (title, ...children) =>
    h("details", { class: "fold" }, h("summary", { text: title }), h("div", { class: "more" }, ...children));
  const signed = (value, unit) => `${value > 0 ? "+" : ""}${num(value, unit)}`;

  /** A run's letter, in its colour. */
  R.letter = (i) => h("span", { class: `letter c${i % 6}` }, runs[i].letter);

  /** What a run is called: its letter, its model, and what tells it from the others. */
  function nameOf(run) {
    return [
      several && R.letter(runs.indexOf(run)),
      several && " ",
      bdi(run.model, { class: "name" }),
      run.heading && h("div", { class: "sub" }, bdi(run.heading)),
    ];
  }

  // --- metrics ---
  function metricRow(metric) {
    const cells = runs.flatMap((run) => [
      h("td", {}, R.meter(run.metrics[metric.name], metric)),
      h("td", { class: "num" }, run.n[metric.name] == null ? "" : run.n[metric.name].toLocaleString("en")),
    ]);
    const apart = differences.map((pair) =>
      h("td", { class: "num nowrap" }, difference(pair.metrics[metric.name], metric)),
    );
    return h("tr", {}, h("th", { scope: "row", title: R.metricTip(metric) }, metric.title), cells, apart);
  }
  function difference(found, metric) {
    if (!found)
      return R.none("No paired difference: only the answers together have this metric, or nobody scored them.");
    const ends = found.ci95 && ` (${found.ci95.map((end) => signed(end, metric.unit)).join(" to ")})`;
    const p = found.p == null ? "" : `p ${found.p < 0.001 ? "< 0.001" : `= ${found.p.toFixed(3)}`}, `;
    const about = `${p}${found.n} questions on ${found.videos} videos, paired`;
    return h(
      "div",
      { title: about },
      h("b", {}, signed(found.difference, metric.unit)),
      ends,
      h("div", { class: "sub" }, about),
    );
  }
  function metrics() {
    const there = benchmark.metrics.filter((metric) => runs.some((run) => run.metrics[metric.name]));
    if (!there.length)
      return h("p", { class: "note", text: "No score: the answers are hidden, or nobody judged them yet." });
    const heads = runs.flatMap((run) => [
      h("th", { scope: "col" }, nameOf(run)),
      h("th", { scope: "col", class: "num", title: "Questions behind the number" }, "n"),
    ]);
    const pairs = runs
      .slice(1)
      .map((run) => h("th", { scope: "col", class: "num" }, `${runs[0].letter} − ${run.letter}`));
    return h(
      "div",
      { class: "card table-card" },
      scroll(
        "Metrics",
        h(
          "table",
          { "aria-label": "Metrics" },
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Metric"), heads, pairs)),
          h("tbody", {}, there.map(metricRow)),
        ),
      ),
    );
  }

  // --- what else there is to know ---
  function unscored() {
    const reasons = [...new Set(runs.flatMap((run) => Object.keys(run.result.counts.unscored)))];
    const flags = ["parse_failed", "empty", "extra", "duplicate"].filter((name) =>
      runs.some((run) => run.result.counts[name]),
    );
    if (!reasons.length && !flags.length) return null;
    const row = (title, get) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, bdi(title)),
        runs.map((run) => h("td", { class: "num" }, get(run) || 0)),
      );
    return h(
      "div",
      { class: "breakdown" },
      h("h3", { text: "Unscored, and scored as wrong unread" }),
      scroll(
        "Unscored",
        h(
          "table",
          { "aria-label": "Unscored" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "why"),
              runs.map((run) => h("th", { scope: "col", class: "num" }, several ? run.letter : "questions")),
            ),
          ),
          h(
            "tbody",
            {},
            reasons.map((name) => row(`unscored: ${name}`, (run) => run.result.counts.unscored[name])),
            flags.map((name) => row(name, (run) => run.result.counts[name])),
          ),
        ),
      ),
    );
  }
  const shown = (value) =>
    value == null ? R.none("absent") : bdi(typeof value === "object" ? JSON.stringify(value) : String(value));
  function differ() {
    const names = Object.keys(apart);
    if (!several) return null;
    if (!names.length) return h("p", { class: "note", text: "The runs were made with the same settings." });
    return h(
      "div",
      { class: "breakdown" },
      h("h3", { text: "What tells the runs apart" }),
      scroll(
        "Settings that differ",
        h(
          "table",
          { "aria-label": "Settings that differ" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "setting"),
              runs.map((run) => h("th", { scope: "col" }, run.letter)),
            ),
          ),
          h(
            "tbody",
            {},
            names.map((name) =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, name),
                apart[name].map((value) => h("td", { class: "wide" }, shown(value))),
              ),
            ),
          ),
        ),
      ),
    );
  }
  const perRun = (make) =>
    runs.map((run) => h("div", {}, several && h("div", { class: "whose" }, nameOf(run)), ...[make(run)].flat()));
  function settings(run) {
    const { settings: asked, provenance } = run.result;
    return R.facts(
      { frames: asked.frames, citation: provenance.citation, url: provenance.url },
      { result: run.result, key: null },
    );
  }

  R.nameOf = nameOf;
  R.summary = (place) => {
    const facets = runs.some((run) => Object.keys(run.breakdowns).length);
    place.append(
      ...[
        metrics(),
        ...differences.map(
          (pair, i) =>
            pair.why && h("p", { class: "note" }, `${runs[0].letter} and ${runs[i + 1].letter}: ${pair.why}`),
        ),
        differ(),
        unscored(),
        facets &&
          fold(
            "Breakdowns",
            h(
              "div",
              { class: several ? "pair" : "" },
              perRun((run) => R.breakdowns(benchmark, run, several ? ` of ${run.letter}` : "")),
            ),
          ),
        fold("Settings and provenance", h("div", { class: several ? "pair" : "" }, perRun(settings))),
      ].filter(Boolean),
    );
  };
})();
