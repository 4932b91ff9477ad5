/* What the runs came to: metrics with intervals, differences, breakdowns, settings, what is unscored and why. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num } = R;
  const { runs, apart, differences } = data;
  const [benchmark] = data.benchmarks;
  const [primary] = benchmark.metrics;
  const several = runs.length > 1;
  const Plots = globalThis.Plots;

  const { table, scroll } = globalThis.Elements;
  const fold = (title, ...children) =>
    h("details", { class: "fold" }, h("summary", { text: title }), h("div", { class: "more" }, ...children));
  const { signed } = R;

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

  /** Who is who: letter, model, what tells it from the others, and what it came to. */
  R.legend = () => {
    const judges = runs.map(({ result: { judge } }) => (judge ? `judge: ${Object.keys(judge.returned).map((name) => R.judgeName(name, benchmark.id)).join(", ") || judge.requested}` : "scored by rule"));
    const one = new Set(judges).size === 1;
    const lines = runs.map((run, i) => {
      const numbers = run.metrics[primary.name];
      const range = numbers && R.interval(numbers, primary.unit);
      return h(
        "li",
        { title: range || null },
        several && R.letter(runs.indexOf(run)),
        several && bdi(run.model, { class: "name" }),
        !several && numbers && h("span", {}, R.short(primary.title)),
        h("b", {}, numbers ? num(numbers[0], primary.unit) : "not scored"),
        range && h("span", { class: "sub" }, R.ends(...numbers.slice(1), primary.unit)),
        numbers && !one && h("span", {}, bdi(judges[i])),
        run.heading && h("span", { class: "sub" }, bdi(run.heading)),
      );
    });
    return [...lines, one && h("li", {}, bdi(judges[0]))].filter(Boolean);
  };

  // --- differences ---
  const MOST = 9; // lines on the first screen
  /** What the first run is ahead by, over all questions and by label, on one axis; a label shows its questions. */
  R.apart = () => {
    const each = Math.max(0, Math.floor(MOST / differences.length) - 1);
    const lines = differences.flatMap(({ metrics, labels = [] }, i) => [
      { ...metrics[primary.name], name: `${runs[0].letter} − ${runs[i + 1].letter}, all`, pair: [runs[0].letter, runs[i + 1].letter] },
      ...labels.toSorted((p, q) => q.n - p.n).slice(0, each).map((one) => ({ ...one, name: one.label.replaceAll("_", " ") })),
    ]).filter((one) => one.ci95);
    if (!lines.length) return [];
    const ends = lines.flatMap((one) => one.ci95);
    const steps = Plots.ticks(Math.min(0, ...ends), Math.max(0, ...ends), 4);
    const rules = [{ at: 0, kind: "zero" }];
    const line = (one) => {
      const value = signed(one.difference, primary.unit);
      const hollow = one.ci95[0] <= 0 && one.ci95[1] >= 0;
      const tip = `${one.name}: ${value}, 95 % interval ${one.ci95.map((end) => signed(end, primary.unit)).join(" to ")}, ${one.n} questions on ${one.videos} videos`;
      const name = one.label ? R.link(bdi(one.name), `#${new URLSearchParams({ [one.facet]: one.label })}`, { title: "Show these questions" }) : h("b", {}, `${one.name}: ${hollow ? "no clear difference" : `${one.pair[one.difference > 0 ? 0 : 1]} is better`}`);
      return h("li", { class: one.label ? null : "all" }, name, Plots.track({ value: one.difference, ends: one.ci95, steps, rules, hollow, tip }), h("b", {}, value));
    };
    const said = `${R.short(primary.title)}, paired differences with their own 95 % intervals (not adjusted for each other; hollow: the interval includes 0, so no clear difference); the axis goes from ${num(steps[0], primary.unit)} to ${num(steps.at(-1), primary.unit)}, with a line at 0`;
    const list = h("ul", { class: "apart", "data-marks": true, "aria-label": said }, lines.map(line));
    list.querySelector("[data-tip]").setAttribute("tabindex", 0);
    return [list, h("p", { class: "note" }, `${said}.`)];
  };
  /** The main metric's paired differences, each a line with its interval, on one axis around zero. */
  function strip() {
    const pairs = differences
      .map((pair, i) => ({ name: `${runs[0].letter} − ${runs[i + 1].letter}`, ...pair.metrics[primary.name] }))
      .filter((pair) => pair.difference != null);
    if (!pairs.length) return null;
    // Where no two runs differ, the axis still is one: a hundredth of the scale.
    const ends = pairs.flatMap(({ difference, ci95 }) => [difference, ...(ci95 || [])]);
    const reach = Math.max((primary.high - primary.low) / 100, ...ends.map(Math.abs));
    const steps = Plots.ticks(-reach, reach, 4);
    const line = (pair) => {
      const value = signed(pair.difference, primary.unit);
      const range = pair.ci95 ? `${pair.ci95.map((end) => signed(end, primary.unit)).join(" to ")}` : "no interval";
      const rules = [{ at: 0, kind: "zero" }];
      const hollow = pair.ci95?.[0] <= 0 && pair.ci95[1] >= 0;
      const tip = `${pair.name}: ${value}, ${pair.ci95 ? `95 % interval ${range}` : range}`;
      return h(
        "li",
        {},
        h("b", {}, pair.name),
        Plots.track({ value: pair.difference, ends: pair.ci95, steps, rules, hollow, tip }),
        h("span", {}, h("b", {}, value), ` (${range})`, h("span", { class: "sub" }, ` ${about(pair)}`)),
      );
    };
    const list = h("ul", { class: "differences", "data-marks": true }, pairs.map(line));
    list.querySelector("[data-tip]").setAttribute("tabindex", 0);
    list.append(h("li", { "aria-hidden": "true" }, h("span", {}), Plots.axis(steps), h("span", {})));
    const title = `Paired differences in ${R.short(primary.title)} with their own 95 % intervals (${data.units[primary.unit].label})`;
    return h("div", { class: "card chart" }, h("h3", { text: title }), list);
  }
  function about({ p, n, videos }) {
    return `${Plots.pText(p, ", ")}${n} questions on ${videos} videos`;
  }

  // --- metrics ---
  function metricRow(metric) {
    const n = (run) => run.n[metric.name] != null && `${R.count(run.n[metric.name])} questions`;
    return [
      h("th", { scope: "row", title: R.metricTip(metric) }, metric.title),
      ...runs.map((run) => [R.meter(run.metrics[metric.name], metric), h("div", { class: "sub" }, n(run))]),
      ...differences.map((pair) => h("td", { class: "num nowrap" }, difference(pair.metrics[metric.name], metric))),
    ];
  }
  function difference(found, metric) {
    if (!found)
      return R.none("No paired difference: only the answers together have this metric, or nobody scored them.");
    const ends = found.ci95?.map((end) => signed(end, metric.unit)).join(" to ");
    return h(
      "div",
      { title: `${about(found)}, paired` },
      h("b", {}, signed(found.difference, metric.unit)),
      h("div", { class: "sub" }, ends),
    );
  }
  function metrics() {
    const there = benchmark.metrics.filter((metric) => runs.some((run) => run.metrics[metric.name]));
    if (!there.length)
      return R.note("No score: the answers are hidden, or nobody judged them yet.");
    const right = (text) => h("th", { scope: "col", class: "num" }, text);
    const heads = ["Metric", ...runs.map(nameOf), ...runs.slice(1).map((run) => right(`${runs[0].letter} − ${run.letter}`))];
    return h("div", { class: "card table-card" }, scroll("Metrics", table({ "aria-label": "Metrics" }, heads, there.map(metricRow))));
  }

  // --- what else there is to know ---
  function unscored() {
    const reasons = [...new Set(runs.flatMap((run) => Object.keys(run.result.counts.unscored)))];
    const flags = ["parse_failed", "empty", "extra", "duplicate"].filter((name) =>
      runs.some((run) => run.result.counts[name]),
    );
    if (!reasons.length && !flags.length) return null;
    const number = (tag, of) => h(tag, { class: "num", scope: tag === "th" ? "col" : null }, of);
    const row = (title, get) => [bdi(title), ...runs.map((run) => number("td", get(run) || 0))];
    const rows = [
      ...reasons.map((name) => row(`not scored: ${R.stateName(name)}`, (run) => run.result.counts.unscored[name])),
      ...flags.map((name) => row(R.stateName(name), (run) => run.result.counts[name])),
    ];
    const heads = ["Why", ...runs.map((run) => number("th", several ? run.letter : "questions"))];
    return block("Not scored, or unreadable and so wrong", "Unscored", heads, rows);
  }
  const block = (title, label, heads, rows) => h("div", { class: "breakdown" }, h("h3", { text: title }), scroll(label, table({ "aria-label": label }, heads, rows)));
  /** A setting's value as one reads it: numbers with their commas, sizes in billions, hashes cut. */
  function shown(name, value) {
    if (value == null) return R.none("absent");
    if (typeof value === "number")
      return value >= 1e8 && name.endsWith("parameters") ? `${+(value / 1e9).toPrecision(4)} B` : value.toLocaleString("en");
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const cut = text.replace(/\b([0-9a-f]{12})[0-9a-f]{28,}\b/g, "$1…");
    return bdi(cut, { title: cut === text ? null : text });
  }
  function differ() {
    const names = Object.keys(apart);
    if (!several) return null;
    if (!names.length) return R.note("The runs were made with the same settings.");
    const rows = names.map((name) => [
      [R.titled(name.split(".").at(-1)), h("div", { class: "sub" }, name)],
      ...apart[name].map((value) => h("td", { class: "wide" }, shown(name, value))),
    ]);
    return block("Differences between runs", "Settings that differ", ["Setting", ...runs.map((run) => run.letter)], rows);
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

  /** A run's breakdowns, of which each label shows its questions in the list. */
  function breakdowns(run) {
    const facets = benchmark.facets.filter((facet) => run.breakdowns[facet.name]);
    const tables = R.breakdowns(benchmark, run, several ? ` of ${run.letter}` : "");
    for (const [i, table] of tables.entries())
      for (const row of table.querySelectorAll("tbody tr")) {
        const head = row.querySelector("th");
        const query = new URLSearchParams({ [facets[i].name]: head.textContent });
        const link = R.link(bdi(head.textContent), `#${query}`, { title: "Show these questions" });
        head.replaceChildren(link);
        row.classList.add("filters");
        row.addEventListener("click", (event) => link.contains(event.target) || link.click());
      }
    return tables;
  }

  R.summary = (place) => {
    const facets = runs.some((run) => Object.keys(run.breakdowns).length);
    place.append(
      ...[
        strip(),
        metrics(),
        ...runs
          .filter((run) => run.result.provenance.note)
          .map((run) => h("p", { class: "note" }, several && `${run.letter}: `, bdi(run.result.provenance.note))),
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
              perRun(breakdowns),
            ),
          ),
        fold("Settings and provenance", h("div", { class: several ? "pair" : "" }, perRun(settings))),
      ].filter(Boolean),
    );
  };
})();
