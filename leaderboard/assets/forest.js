/* The table as a plot: a lane for each score with its interval, the range of ranks as a bracket, differences in place. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num, signed, count, asked, ask } = R;
  const { track, axis, around, ticks, most } = globalThis.Plots;

  // --- what is ticked ---
  const picked = () => asked("pick").split(",").filter(Boolean);
  function pickBox(id, name) {
    const box = h("input", { type: "checkbox", class: "pick", "data-id": id, "aria-label": `Compare ${name}` });
    box.checked = picked().includes(id);
    return box;
  }
  /** Call `changed` when a row is ticked or not; the address keeps the ticks in their order. */
  function ticking(holder, changed) {
    holder.addEventListener("change", ({ target }) => {
      if (!target.classList.contains("pick")) return;
      const rest = picked().filter((id) => id !== target.dataset.id);
      ask({ pick: (target.checked ? [...rest, target.dataset.id] : rest).join(",") });
      changed();
    });
  }
  /** A row's best and worst rank; its rank twice where it has no range. */
  const rangeOf = (row) => {
    const [best, worst] = row.ranks || (row.rank_range ? row.rank_range.split("–").map(Number) : []);
    return best ? [best, worst || best] : [row.rank ?? Infinity, row.rank ?? Infinity];
  };
  /** The rank's column: the tick, the rank, and its 95 % range among `of` as a bracket. */
  function rankColumn({ about, of, id, name }) {
    const bracket = (row) => {
      if (!(row.ranks || row.rank_range) || of < 2) return null;
      const [best, worst] = rangeOf(row);
      const at = (rank) => `${((100 * (rank - 1)) / of).toFixed(1)}%`;
      const range = worst > best ? `${best}–${worst}` : String(best);
      return h(
        "span",
        { class: "bracket", title: `95 % rank range ${range}` },
        h("i", { "aria-hidden": "true", style: `left:${at(best)};right:calc(100% - ${at((worst || best) + 1)})` }),
        h("small", { style: `left:${at(best)}` }, h("span", { class: "sr" }, "95 % rank range "), range),
      );
    };
    return {
      ...R.RANK,
      id: "rank",
      title: "Rank",
      about,
      cls: "num rank-cell",
      node: (row) => h("span", { class: "ranked" }, pickBox(id(row), name(row)), R.rankCell(row.rank), bracket(row)),
    };
  }

  // --- a lane ---
  /** What a lane's axis must hold, and the best floor and people among the reference points. */
  function scaleOf(rows, refs, i, metric) {
    const values = [...rows, ...refs].flatMap((row) => row.v[i] || []);
    const best = (source) => refs.filter((row) => row.source === source && row.v[i]).sort((p, q) => q.v[i][0] - p.v[i][0])[0];
    const rules = ["baseline", "human"]
      .map((source) => [source, best(source)])
      .filter(([, row]) => row)
      .map(([kind, row]) => ({ kind, at: row.v[i][0], text: `${R.KINDS[kind].toLowerCase()}: ${row.model}, ${num(row.v[i][0], metric.unit)}` }));
    return { steps: values.length ? around(values, metric, 4) : [metric.low, metric.high], rules };
  }
  /**
   * A column with a dot on its own scale for each row, and paired differences for those that are compared.
   * Options: id, title, g (its group, or null of several), metric, i (its place), rows and refs (of the benchmark), at
   * (what stands in the table -> the benchmark's row, or nothing), again() when differences have come.
   */
  function laneColumn({ id, title, g, metric, i, rows, refs, at, again, ...more }) {
    const { steps, rules } = scaleOf(rows, refs, i, metric);
    const unit = data.units[metric.unit].label;
    let pairs = null; // (row, other) -> difference, once it is here
    const get = () => {
      if (!pairs) {
        pairs = () => undefined;
        R.loadPairs(g).then((found) => {
          pairs = found;
          again();
        }, () => {});
      }
      return pairs;
    };
    const cell = (row, note) => {
      const numbers = row?.v[i];
      if (!numbers) return R.none("Not run");
      const value = R.shown(row, i, metric),
        hollow = R.unranked(row);
      const tip = [`${row.model}: ${value} ${unit}`, R.interval(numbers, metric.unit), hollow && "not ranked"].filter(Boolean);
      const ends = numbers.length > 1 ? numbers.slice(1) : null;
      return [
        h("span", { class: "forest" }, h("b", { text: value }), track({ value: numbers[0], ends, steps, rules, hollow, tip: tip.join(", ") })),
        row.unscored && h("span", { class: "sub" }, ` ${row.unscored} unscored`),
        hollow && more.reason && h("span", { class: "sub" }, " ", R.badge("not ranked", "warn", row.partial || "Not ranked"), ` ${R.words(row.partial)}`),
        note && h("span", { class: "sub", text: note }),
      ].filter(Boolean);
    };
    const difference = (row, base) => {
      if (!row?.v[i] || !base?.v[i]) return null;
      const known = g && row !== base && row.rank != null && base.rank != null ? get()(row, base) : null;
      return known || [row.v[i][0] - base.v[i][0], null];
    };
    /** A row that is compared: its value, and under it by how much it is above the first one ticked. */
    function compare(item, items) {
      const base = at(items[0]),
        row = at(item),
        found = difference(row, base);
      if (!found) return cell(row);
      if (row === base) return cell(row, "compared with this");
      const [by, p, low, high] = found;
      const why = [row, base].some(R.unranked) ? "not ranked" : [row, base].some((one) => one.source === "published") ? "a published number" : "not compared by pairs";
      if (low == null) return cell(row, `${signed(by, metric.unit)}, no interval: ${why}`);
      const all = items.flatMap((one) => (one === items[0] ? [] : difference(at(one), base)?.filter((_, k) => k !== 1) || []));
      const sure = p != null && p <= 0.05,
        range = R.ends(low, high, metric.unit);
      const chance = p == null ? "" : `, p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`} (Holm)`;
      const tip = `${row.model} minus ${base.model}: ${signed(by, metric.unit)}, 95 % interval ${range}${chance}`;
      const steps = ticks(Math.min(0, ...all), Math.max(0, ...all), 4);
      return [
        ...cell(row),
        h(
          "span",
          { class: `forest difference ${sure ? (by > 0 ? "above" : "under") : "level"}` },
          h("b", { text: signed(by, metric.unit) }),
          track({ value: by, ends: [low, high], steps, rules: [{ kind: "zero", at: 0 }], tip }),
        ),
        h("span", { class: "sub difference", text: `${range}${sure ? "" : "; can’t be told apart"}` }),
      ];
    }
    return {
      id,
      title,
      about: [R.metricTip(metric), ...rules.map((rule) => rule.text)].join(". "),
      cls: "lane-cell",
      lane: true,
      get: (item) => at(item)?.v[i]?.[0] ?? null,
      node: (item) => cell(at(item)),
      compare,
      head: () => {
        const what = R.short(metric.title);
        return [h("span", { class: "unit", text: what === title ? unit : `${what}, ${unit}` }), axis(steps)];
      },
      rules,
      intervals: rows.some((row) => row.v[i]?.length > 1),
      ...more,
    };
  }
  /** The ticked ones among what the table lists, where there are two or more: the first is what others are compared with. */
  const compared = (items, id) => {
    const known = picked().map((one) => items.find((item) => id(item) === one)).filter(Boolean);
    return known.length > 1 ? known : [];
  };

  // --- what stands above a table ---
  /** Words and names in turn. */
  const headline = (parts) =>
    h("p", { class: "headline" }, parts.map((part, i) => (i % 2 ? h("a", { href: R.modelHref(part) }, bdi(part)) : part.replaceAll(" %", "\u00a0%"))));
  /** What makes the table credible: runs, judges, videos, the newest date. */
  function trust(rows, groups) {
    const runs = rows.filter((row) => row.source === "run"),
      published = rows.filter((row) => row.source === "published");
    const ran = groups.filter((g) => runs.some((row) => row.group === g.i));
    const title = (g) => R.benchmarks.get(g.benchmark).title.replace(/ \(.*/, "");
    const judged = Map.groupBy(ran, (g) => R.judgeName(g.judge, g.benchmark));
    const judges = [...judged].map(([judge, of]) => `${[...new Set(of.map(title))].join(", ")} ${judge ? `judged by ${judge}` : "scored by rule"}`);
    const videos = ran.reduce((sum, g) => sum + g.videos, 0);
    const newest = most(runs.filter((row) => row.date).map((row) => Date.parse(row.date)));
    const day = Number.isFinite(newest) && new Date(newest).toLocaleDateString("en-GB", { dateStyle: "medium", timeZone: "UTC" });
    const s = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
    const doubts = R.doubts(runs);
    return h(
      "ul",
      { class: "trust" },
      [
        runs.length > 0 && `${s(runs.length, "run")} recomputed from every answer${doubts.length ? ` (${doubts.join("; ")})` : ""}`,
        ...judges,
        videos > 0 && s(videos, "video"),
        published.length > 0 && `${s(published.length, "published number")} quoted`,
        day && `Newest run ${day}`,
      ]
        .filter(Boolean)
        .map((text) => h("li", { text })),
    );
  }
  /** How to read the plot, with what is in it. */
  function key(lanes, bracket) {
    const has = (kind) => lanes.some((lane) => lane.rules.some((rule) => rule.kind === kind));
    const sign = (cls) => h("span", { class: "lane", "aria-hidden": "true" }, cls.map((one) => h("i", { class: one })));
    return h(
      "p",
      { class: "key" },
      lanes.some((lane) => lane.intervals)
        ? h("span", {}, sign(["ends", "dot"]), "score, 95 % interval over videos")
        : h("span", {}, sign(["dot"]), "score"),
      has("baseline") && h("span", {}, sign(["rule baseline"]), "floor (no looking)"),
      has("human") && h("span", {}, sign(["rule human"]), "people"),
      bracket && h("span", {}, h("span", { class: "bracket", "aria-hidden": "true" }, h("i")), "95 % rank range"),
      bracket && h("span", {}, h("span", { class: "swatch", "aria-hidden": "true" }), "one band: rank ranges overlap"),
      h("span", {}, "Tick two or more to compare."),
    );
  }

  Object.assign(R, { picked, scaleOf, ticking, rangeOf, rankColumn, laneColumn, compared, headline, trust, key });
})();
