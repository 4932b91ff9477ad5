/* The table as a plot: a lane for each score with its interval, the range of ranks as a bracket, differences in place. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num, signed, count, asked, ask } = R;
  const { track, axis, around, ticks, most, pText } = globalThis.Plots;

  // --- what is ticked ---
  const picked = () => asked("pick").split(",").filter(Boolean);
  function pickBox(id, name) {
    const box = h("input", { type: "checkbox", class: "pick", "data-id": id, "aria-label": `Compare ${name}` });
    box.checked = picked().includes(id);
    return box;
  }
  /**
   * Call `changed` when a row is ticked or not, by its box or anywhere on it; the address keeps the ticks in their order,
   * each a step that Back undoes.
   */
  function ticking(holder, changed) {
    const tick = (id, on) => {
      const rest = picked().filter((one) => one !== id);
      ask({ pick: (on ? [...rest, id] : rest).join(",") });
      changed();
    };
    holder.addEventListener("change", ({ target }) => {
      if (target.classList.contains("pick")) tick(target.dataset.id, target.checked);
    });
    holder.addEventListener("click", ({ target }) => {
      const row = target.closest("tr[data-row]");
      if (!row || target.closest("a, button, input, label, [role=button]") || String(getSelection())) return;
      tick(row.dataset.row, !picked().includes(row.dataset.row));
    });
  }
  /** A row's range of ranks, null where it has none. */
  const rangeEnds = (row) => {
    if (row.ranks) return row.ranks;
    if (!row.rank_range) return null;
    const [best, worst = best] = row.rank_range.split("–").map(Number);
    return [best, worst];
  };
  /** A row's best and worst rank; its rank twice where it has no range. */
  const rangeOf = (row) => rangeEnds(row) ?? [row.rank ?? Infinity, row.rank ?? Infinity];
  /** The rank's column: the tick, the rank, and its 95 % range among `of` as a bracket; `under` stands under its title. */
  function rankColumn({ about, of, id, name, under = "" }) {
    const bracket = (row) => {
      if (!(row.ranks || row.rank_range) || of < 2) return null;
      const [best, worst] = rangeOf(row);
      const at = (rank) => `${((100 * (rank - 1)) / of).toFixed(1)}%`;
      const range = worst > best ? `${best}–${worst}` : String(best);
      return h(
        "span",
        { class: "bracket", title: `95 % rank range ${range}` },
        h("i", { "aria-hidden": "true", style: `left:${at(best)};right:calc(100% - ${at((worst || best) + 1)})` }),
        h("small", { style: best > of / 2 ? `right:calc(100% - ${at((worst || best) + 1)})` : `left:${at(best)}` }, h("span", { class: "sr" }, "95 % rank range "), range),
      );
    };
    return {
      ...R.RANK,
      id: "rank",
      title: "Rank",
      about,
      cls: "num rank-cell",
      head: () => under && h("span", { class: "unit", text: under }),
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
      .map(([kind, row]) => ({ kind, at: row.v[i][0], text: `${R.kindName(kind).toLowerCase()}: ${row.model}, ${num(row.v[i][0], metric.unit)}` }));
    // Never without an interval.
    const zoomed = new Set(values).size > 1 && rows.some((row) => row.v[i]?.length > 1);
    return { steps: zoomed ? around(values, metric, 4) : ticks(metric.low, metric.high, 5), rules };
  }
  /**
   * A column with a dot on its own scale for each row, and paired differences for those that are compared.
   * Options: id, title, g (its group, or null of several), metric, i (its place), rows and refs (of the benchmark), at
   * (what stands in the table -> the benchmark's row, or nothing), again() when differences have come, open(row, base,
   * metric) for the questions that make a difference.
   */
  function laneColumn({ id, title, g, metric, i, rows, refs, at, again, open, ...more }) {
    const { steps, rules } = scaleOf(rows, refs, i, metric);
    const unit = data.units[metric.unit].label;
    // (row, other) -> difference, once it is here.
    let pairs = null;
    const get = () => {
      if (!pairs) {
        pairs = () => undefined;
        fetched().then((found) => {
          pairs = found;
          again();
        }, () => {});
      }
      return pairs;
    };
    let asked = null;
    const fetched = () => (asked ??= R.loadPairs(g));
    /** Fetch the differences before they are asked for: a pin then draws once. */
    const prepare = () => g && !pairs && fetched().then((found) => (pairs ??= found), () => {});
    const difference = (row, base) => {
      if (!row?.v[i] || !base?.v[i]) return null;
      const known = g && row !== base && row.rank != null && base.rank != null ? get()(row, base) : null;
      return known || [row.v[i][0] - base.v[i][0], null];
    };
    /** The row that others are compared with, if it was run here. */
    const pinned = (ticked) => {
      const base = ticked?.length ? at(ticked[0]) : null;
      return base?.v[i] ? base : null;
    };
    const zero = [{ kind: "zero", at: 0 }];
    // Base -> the axis of all differences from it, made again once they have come.
    const axes = new Map();
    function axisFrom(base) {
      const known = axes.get(base);
      if (known?.of === pairs) return known.steps;
      const ends = rows.flatMap((row) => (row === base ? [0] : difference(row, base)?.filter((value, k) => [0, 2, 3].includes(k) && value != null) || []));
      const made = ticks(Math.min(0, ...ends), Math.max(0, ...ends), 4);
      axes.set(base, { of: pairs, steps: made });
      return made;
    }
    /** What a row's cell says and draws: its score on the table's axis, or its difference from the one that is pinned. */
    function drawn(item, ticked) {
      const row = at(item),
        numbers = row?.v[i];
      if (!numbers) return null;
      const base = pinned(ticked),
        value = R.shown(row, i, metric),
        hollow = R.unranked(row);
      if (!base) {
        const tip = [`${row.model}: ${value} ${unit}`, R.interval(numbers, metric.unit), row.unscored && `${row.unscored} unscored`, hollow && "not ranked"];
        const under = hollow && more.reason ? "not ranked" : "";
        return { text: value, bound: row.unscored, under, value: numbers[0], ends: numbers.length > 1 ? numbers.slice(1) : null, steps, rules, hollow, tip: tip.filter(Boolean).join(", ") };
      }
      const scale = { steps: axisFrom(base), rules: zero };
      if (row === base) return { ...scale, text: value, under: "pinned", value: 0, kind: "level", tip: `${row.model}: ${value} ${unit}, what the others are compared with` };
      const [by, p, low, high] = difference(row, base);
      const why = [row, base].some(R.unranked) ? "not ranked" : [row, base].some((one) => one.source === "published") ? "a published number" : "not compared by pairs";
      const sure = p != null && p <= 0.05,
        said = low == null ? `no interval: ${why}` : sure ? "" : "can’t be told apart";
      return {
        ...scale, text: signed(by, metric.unit), bound: row.unscored, under: value, value: by, ends: low == null ? null : [low, high], hollow: !sure, uncompared: low == null, said, sure, by,
        kind: sure ? (by > 0 ? "above" : "under") : "level",
        tip: [`${row.model} minus ${base.model}: ${signed(by, metric.unit)}`, low == null ? "" : `adjusted 95 % interval ${R.ends(low, high, metric.unit)}`, pText(p, " (Holm)"), said].filter(Boolean).join(", "),
      };
    }
    /** Of a difference only the sign says that a lower bound is in it: a score has its "≥". */
    const bare = (one) => one.bound > 0 && !one.text.startsWith("≥");
    function node(item, ticked) {
      const one = drawn(item, ticked);
      if (!one) return R.none("Not run");
      return h(
        "span",
        { class: `forest ${one.kind ? `difference ${one.kind}` : ""}`.trim() },
        h("b", {}, one.text, bare(one) && h("sup", { "aria-hidden": "true" }, "†"), one.under && h("small", {}, ` ${one.under}`)),
        track({ ...one, open: open && one.ends && one.by != null ? () => open(at(item), pinned(ticked), metric) : null }),
        one.bound > 0 && h("span", { class: "sr" }, ` ${one.bound} unscored`),
        one.said && h("span", { class: "sr" }, ` ${one.said}`),
      );
    }
    /** What the pin says of the rows that are in view: how many it is better than, worse than, and not told apart from. */
    function verdict(items, ticked) {
      if (!pinned(ticked)) return "";
      const found = items.filter((item) => item !== ticked[0]).map((item) => drawn(item, ticked)).filter(Boolean);
      const n = (kind) => found.filter((one) => one.ends && one.kind === kind).length;
      const parts = [[n("under"), "better than"], [n("level"), "not told apart from"], [n("above"), "worse than"], [found.filter((one) => !one.ends).length, "not compared with"]];
      return parts.filter(([many]) => many).map(([many, how], i) => `${how} ${count(many)}${i ? "" : many === 1 ? " model" : " models"}`).join(", ");
    }
    return {
      id,
      title,
      about: [R.metricTip(metric), ...rules.map((rule) => rule.text)].join(". "),
      cls: "lane-cell",
      lane: true,
      get: (item) => at(item)?.v[i]?.[0] ?? null,
      node,
      prepare,
      drawn,
      verdict,
      /** What a file must say beside the number: [name, value]. */
      beside(item, ticked) {
        const row = at(item),
          numbers = row?.v[i] || [],
          g = row && R.group(row);
        const one = pinned(ticked) && drawn(item, ticked);
        const minus = one?.by == null ? [null, null, null, null] : [one.by, ...(one.ends || [null, null]), one.ends ? (one.sure ? "yes" : "no") : null];
        return [
          ...[["low", numbers[1]], ["high", numbers[2]], ["lower bound", row && (row.unscored ? "yes" : "no")], ["unscored", row && (row.unscored ?? 0)]],
          ...[["rank", row?.rank], ["rank range", row?.rank_range], ["source", row?.source], ["setting", row?.setting], ["frames", row?.frames]],
          ...[["split", g && [g.split, g.subset].filter(Boolean).join(", ")], ["judge", g?.judge], ["judge prompts", g?.judge_prompts]],
          ...(pinned(ticked) ? ["difference", "difference low", "difference high", "told apart"].map((name, k) => [name, minus[k]]) : []),
        ];
      },
      unit: () => [R.short(metric.title) === title ? unit : `${R.short(metric.title)}, ${unit}`, g && R.scoredBy(g)].filter(Boolean).join("; "),
      head(ticked) {
        const base = pinned(ticked);
        const text = base ? `minus the pinned, ${metric.unit === "percent" ? "points" : unit}` : this.unit();
        return [h("span", { class: "unit", text }), axis(base ? axisFrom(base) : steps)];
      },
      metric,
      rules,
      intervals: rows.some((row) => row.v[i]?.length > 1),
      bounded: rows.some((row) => row.unscored && row.v[i]),
      ...more,
    };
  }
  /** The ticked ones among what the table lists: the first is pinned, all others are compared with it. */
  const compared = (items, id) => picked().map((one) => items.find((item) => id(item) === one)).filter(Boolean);
  /** What a pin says, in a sentence: over all rows in view, and of each that is ticked beside it. */
  function verdicts(lanes, items, ticked) {
    const [base, ...others] = ticked;
    const seen = lanes.filter((lane) => lane.shown);
    const shown = (seen.length ? seen : lanes.filter((lane) => lane.main)).filter((lane) => lane.verdict(items, ticked));
    const on = (lane) => (lanes.length > 1 ? `${lane.title}: ` : "");
    const own = (item) => h("bdi", {}, R.brief(item.model));
    const list = (item) => shown.map((lane) => [lane, lane.drawn(item, ticked)]).filter(([, one]) => one).map(([lane, one]) => `${on(lane)}${one.text}${one.ends ? ` (${one.ends.map((end) => num(end, lane.metric.unit)).join(" to ")})` : ""}${one.said ? ` ${one.said}` : ""}`).join("; ");
    return [
      h("b", {}, own(base)),
      lanes.length > 1 ? " pinned. " : " is ",
      shown.length > 0 ? `${shown.map((lane) => `${on(lane)}${lane.verdict(items, ticked)}`).join("; ")}. ` : "not run here. ",
      ...others.slice(0, 3).flatMap((item) => [own(item), " minus it: ", `${list(item)}. `]),
    ];
  }

  // --- what stands above a table ---
  /** The title with what works on the table beside it, or on a phone under the lines that say what it is. */
  const top = (title, toolbar, ...lines) => {
    const h1 = h("h1", { text: title });
    return (R.narrow.matches ? [h1, ...lines, toolbar] : [h("div", { class: "page-head" }, h1, toolbar), ...lines]).filter(Boolean);
  };
  /** Words and names in turn, in whole clauses: those for which the lines have no room wait behind "more". */
  function headline(parts) {
    const clauses = [[]];
    parts.forEach((part, i) => {
      if (i % 2) return clauses.at(-1).push(h("a", { href: R.modelHref(part), title: part }, bdi(R.brief(part))));
      for (const text of part.replaceAll(" %", "\u00a0%").split(/(?<=[;.] )/)) {
        clauses.at(-1).push(text);
        if (/[;.] $/.test(text)) clauses.push([]);
      }
    });
    const spans = clauses.map((clause) => h("span", {}, clause));
    const more = h("button", { type: "button", class: "link", onclick: () => line.classList.add("whole") }, "… more");
    const line = h("p", { class: "headline" }, spans, more);
    new ResizeObserver(() => {
      for (const one of [...spans, more]) one.hidden = one === more;
      const over = () => line.scrollHeight > line.clientHeight + 1;
      line.classList.remove("first");
      for (const one of spans.slice(1).reverse()) if (over()) [one.hidden, more.hidden] = [true, false];
      // A first clause that is too long alone stands whole.
      line.classList.toggle("first", over());
    }).observe(line);
    return line;
  }
  /** What makes the table credible, in three parts: the runs, who scored them, how old they are. */
  function trust(rows, groups) {
    const runs = rows.filter((row) => row.source === "run"),
      published = rows.filter((row) => row.source === "published");
    const s = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
    const recomputed = runs.length > 0 && [`${R.runsInWords(rows)}, recomputed from every answer`, ...R.doubts(runs)].join("; ");
    const ran = groups.filter((g) => runs.some((row) => row.group === g.i));
    // Several benchmarks may share theirs.
    const films = ran.length === 1 && ran[0].videos > 0 && s(ran[0].videos, "video");
    const newest = most(runs.filter((row) => row.date).map((row) => Date.parse(row.date)));
    const day = Number.isFinite(newest) && R.day(newest);
    const parts = [
      recomputed || (published.length > 0 && `${s(published.length, "published number")} quoted, settings differ`),
      [...scorers(runs, ran), films].filter(Boolean).join("; "),
      day && `Newest run ${day}`,
    ];
    return h("ul", { class: "trust" }, parts.filter(Boolean).map((text) => h("li", { text })));
  }
  /** Who scored these runs, in words: each judge, and a rule where there is none. */
  function scorers(runs, groups) {
    const judged = Map.groupBy(groups, (g) => R.judgeName(g.judge, g.benchmark));
    return [...judged].map(([judge, of]) => {
      const asked = new Set(runs.filter((row) => of.some((g) => g.i === row.group)).map((row) => row.judge_asked));
      const as = asked.size === 1 && [...asked][0] ? `, asked for as ${[...asked][0]}` : "";
      const titles = new Set(of.map((g) => R.benchmarks.get(g.benchmark).title.replace(/ \(.*/, "")));
      return `${[...titles].join(", ")} ${judge ? `judged by ${judge}${as}` : "scored by rule"}`;
    });
  }
  /** How to read the plot of so many rows, with what is in it. */
  function key(lanes, bracket, rows = 0) {
    const has = (kind) => lanes.some((lane) => lane.rules.some((rule) => rule.kind === kind));
    const ends = lanes.some((lane) => lane.intervals);
    const sign = (text, marks, of = "of-scores") => h("span", { class: of }, h("span", { class: "lane", "aria-hidden": "true" }, marks.map((one) => h("i", { class: one }))), text);
    return h(
      "p",
      { class: "key" },
      sign(`score${ends ? " with its own 95 % interval, over videos (Wilson’s, with a bootstrap’s error)" : ""}`, [ends && "ends", "dot"].filter(Boolean)),
      rows > 1 && h("span", { class: "next of-scores" }, "Click a row to compare the others with it"),
      has("baseline") && sign("floor (no looking)", ["rule baseline"]),
      has("human") && sign("people", ["rule human"]),
      ends && sign("difference from the pinned, adjusted 95 % interval (Holm)", [], "of-pin"),
      sign("better than the pinned", ["ends", "dot"], "of-pin above"),
      sign("not told apart", ["ends", "dot hollow"], "of-pin level"),
      sign("worse", ["ends", "dot"], "of-pin under"),
      lanes.some((lane) => lane.bounded) && ["scores", "pin"].map((of) => h("span", { class: `of-${of}` }, `${of === "pin" ? "≥ or †" : "≥"} lower bound: questions without a score count at the scale’s lowest`)),
      bracket && h("span", {}, h("span", { class: "bracket", "aria-hidden": "true" }, h("i")), "range of ranks, adjusted 95 % (Holm, over all pairs)"),
      bracket && h("span", {}, h("span", { class: "swatch", "aria-hidden": "true" }), "two shades: no range of ranks reaches from one to the other"),
    );
  }

  Object.assign(R, { top, picked, scaleOf, ticking, rangeEnds, rangeOf, rankColumn, laneColumn, compared, verdicts, headline, trust, key });
})();
