/* Cells, columns and filters that the tables share; most are declared in the data. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, asked } = R;

  // --- cells ---
  /** What of a run only its submitter vouches for, besides what a judge replied. */
  const stated = (row) => (row.stated || "").split(", ").filter((what) => what && what !== "judge replies");
  /** One run of each kind that `stated` and `data` tell apart, and how many are like it: a few of thousands. */
  function kinds(runs) {
    const of = new Map();
    for (const row of runs) {
      const kind = `${row.stated} ${row.data}`;
      const known = of.get(kind);
      if (known) known[1] += 1;
      else of.set(kind, [row, 1]);
    }
    return [...of.values()];
  }
  /** What lets one doubt what runs were recomputed from, and how many of them where not all. */
  R.doubts = (runs) => {
    const counts = new Map();
    let unstated = 0;
    for (const [row, n] of kinds(runs)) {
      for (const what of stated(row)) counts.set(what, n + (counts.get(what) || 0));
      if (row.data === "unstated") unstated += n;
    }
    const all = [...counts.values()].every((n) => n === runs.length);
    const what = [...counts].map(([what, n]) => (all ? what : `${what} of ${R.count(n)}`)).join(", ");
    return [what && `${what} unchecked`, unstated && `data${unstated < runs.length ? ` of ${R.count(unstated)}` : ""} unstated`].filter(Boolean);
  };
  /** What a run's numbers follow from: badges as [text, kind, tip]. */
  R.origins = (row) => {
    const about = R.columns.get("source").about,
      of = stated(row);
    return [
      of.length
        ? [`recomputed from stated ${of.join(", ")}`, "", `${about} These are as the submitter states them.`]
        : ["recomputed", "run", about],
      ...(row.data === "unstated" ? [["data unstated", "", R.columns.get("data").about]] : []),
    ];
  };
  /** What a reader must know before comparing a run's value with others'. */
  R.caveats = (row) =>
    [
      row.partial && badge("not ranked", "warn", row.partial),
      row.partial && h("span", { class: "sub why", text: R.words(row.partial) }),
      row.judge_asked && badge(`judge asked for: ${row.judge_asked}`, "warn", R.columns.get("judge_asked").about),
      row.runs && badge(`${row.runs} runs`, "", R.columns.get("runs").about),
      row.videos && badge(`${row.videos} videos`, "warn", R.columns.get("videos").about),
    ].filter(Boolean);
  /** A row's note, behind a button that opens it. */
  function noted(row) {
    if (!row.note) return [];
    const text = h("span", { class: "sub", hidden: true, text: row.note });
    const open = () => {
      text.hidden = !text.hidden;
      button.setAttribute("aria-expanded", String(!text.hidden));
    };
    const button = h("button", { type: "button", class: "badge remark", "aria-expanded": "false", onclick: open }, "note");
    return [button, text];
  }
  /** What is new of a row: the model itself, or its rank. */
  function moved(row) {
    const { since } = R.group(row);
    if (row.new) return [badge("new", "fresh", `Not in this table on ${R.day(since)}`)];
    const by = row.rank_before - row.rank;
    return by ? [badge(`${by > 0 ? "▲" : "▼"} ${Math.abs(by)}`, by > 0 ? "up" : "down", `Rank ${row.rank_before} on ${R.day(since)}`)] : [];
  }
  /** The cell of a model among `rows`: what holds for all of their runs stands above the table, not in each row. */
  function modelCell(rows) {
    const runs = rows.filter((row) => row.source === "run");
    const texts = kinds(runs).map(([row]) => R.origins(row).map(([text]) => text));
    const shared = new Set(runs.length > 1 ? texts[0].filter((text) => texts.every((of) => of.includes(text))) : []);
    const source = R.columns.get("source").about;
    const oneJudge = new Set(runs.map((row) => row.judge_asked)).size === 1; // said above the table
    const othersState = runs.some((row) => row.setting !== "run");
    return (row) => {
      const usual = ["run", "zero-shot", "floor", "human"].includes(row.setting);
      const badges = [
        ...(row.source === "run"
          ? R.origins(row).filter(([text]) => !shared.has(text)).map((of) => badge(...of))
          : [badge(R.kindName(row.source).toLowerCase(), "", source)]),
        !usual && badge(row.setting),
        row.source === "run" && row.setting === "run" && othersState && badge("setting not stated"),
        ...moved(row),
        ...R.caveats(oneJudge ? { ...row, judge_asked: null } : row),
        row.badge && badge(row.badge, "", row.rejudged),
        ...noted(row),
      ].filter(Boolean);
      return who(row.model, R.modelHref(R.modelOf(row)), [
        row.revision && h("span", { class: "sub" }, " ", bdi(row.revision.slice(0, 12))),
        ...badges,
      ]);
    };
  }
  /** A model's name, and what a reader must know with it, in one line. */
  const who = (model, href, beside) =>
    h("div", { class: "who" }, h("a", { class: "name", href, title: model, "aria-label": model }, R.named(model)), h("div", { class: "badges" }, beside));
  /** Open or closed, and how large: of a model's rows the first that says so. */
  function weights(rowsOf) {
    const get = (item) => rowsOf(item).find((row) => row.parameters)?.parameters ?? null;
    const open = (item) => rowsOf(item).map((row) => row.open_weights).find((value) => value != null);
    const size = (item) => (get(item) == null ? "" : `${+get(item).toPrecision(3)} B`);
    /** What is not of a row's own run, or what the model's rows contradict each other in. */
    const remarks = (item) => [...new Set(rowsOf(item).map((row) => row.model_facts).filter(Boolean))];
    const taken = (item) => rowsOf(item).every((row) => row.model_facts);
    const licence = (item) => rowsOf(item).map((row) => row.licence).find(Boolean) || "licence not stated";
    return {
      id: "weights",
      title: "Size",
      about: "Billions of parameters where the weights are open, else closed",
      cls: "num soft",
      unsaved: true, // parameters and licence are columns of their own
      up: true,
      get,
      show: !R.narrow.matches && matchMedia("(min-width: 1200px)").matches,
      node: (item) => {
        const text = open(item) === false ? "closed" : size(item) || (open(item) ? "open" : "");
        const title = [open(item) == null ? "" : open(item) ? "open weights" : "closed", licence(item), ...remarks(item)].filter(Boolean).join(", ");
        return text ? h("span", { title }, text, taken(item) && "*") : R.none(remarks(item).join(", ") || "Not stated");
      },
    };
  }
  const rankCell = (rank) => (rank == null ? R.none("Not ranked") : h("span", { class: `rank r${rank}` }, rank));
  const RANK = {
    always: true,
    up: true,
    get: (row) => row.rank ?? null,
  };
  const MODEL = { cls: "model-cell", always: true, up: true, get: (row) => row.model };

  // --- what is declared ---
  const SPECIAL = new Set(["rank", "model", "revision", "benchmark", "url", "note"]); // in other cells, or the page itself
  const SCORE = "More about the score";
  const TOOK = "What an item took";
  const ROOM = new Set(["licence", "cost", "seconds", "tokens_in", "tokens_out", "judge_cost"]); // shown where recorded and there is room
  /** Declared columns; what tells groups apart is shown where all of them (`group` null) are listed. */
  function declared(group, groups, rows) {
    const parts = [SCORE, ...new Set(data.columns.map((column) => column.part))];
    return data.columns
      .filter((column) => !SPECIAL.has(column.id))
      .sort((p, q) => parts.indexOf(p.part) - parts.indexOf(q.part))
      .map((column) => {
        const value = (row) => R.field(row, column);
        const text = !R.numeric(column);
        const asStated = column.part === TOOK && rows.some((row) => row.stated_by);
        const mark = (row) =>
          asStated && row.stated_by && value(row) != null && h("span", { title: `As stated by ${row.stated_by}, who handed the run in`, text: "*" });
        const digits = (row) => column.digits ?? data.units[R.benchmarkOf(row).metrics[0].unit].digits;
        return {
          id: column.id,
          title: column.title,
          about: column.about,
          group: column.part,
          vital: column.part === SCORE,
          cls: text ? (column.id === "date" ? "nowrap" : "") : "num",
          up: column.part !== SCORE,
          get: text ? (row) => R.asText(column, value(row)) : value,
          beside: asStated ? (row) => [["stated_by", value(row) == null ? null : row.stated_by]] : null,
          node:
            column.type === "number"
              ? (row) => (value(row) == null ? R.none("Not known") : h("span", {}, value(row).toFixed(digits(row)), mark(row)))
              : text && column.filter
                ? (row) => (value(row) === "unknown" ? R.none("Not stated") : R.asText(column, value(row)) || R.none())
                : null,
          show:
            !R.narrow.matches &&
            ((column.id === "claimed_in" && rows.some((row) => row.claimed_in && row.claimed == null)) ||
              (column.part === SCORE && !["rank_range", "stated_score", "claimed_in"].includes(column.id) ? rows.some((row) => value(row) != null) : column.shown || (ROOM.has(column.id) && rows.some((row) => value(row) != null))) ||
              (group == null && column.filter && groups.some((one) => one[column.id] != null))),
        };
      });
  }
  /** Metrics beside the main one: the value, its interval under it. */
  function metricColumns(b, shownIn) {
    return b.metrics.slice(1).map((metric, k) => {
      const i = k + 1;
      const ends = (row) => row.v[i].length > 1 && h("small", { text: R.ends(row.v[i][1], row.v[i][2], metric.unit) });
      return {
        id: metric.name,
        title: R.short(metric.title),
        about: R.metricTip(metric),
        group: "Other scores",
        cls: "num",
        head: () => h("span", { class: "unit", text: data.units[metric.unit].label }),
        get: (row) => row.v[i]?.[0] ?? null,
        show: !R.narrow.matches && shownIn(i) && !metric.name.endsWith("_per_question"),
        beside: (row) => [["low", row.v[i]?.[1]], ["high", row.v[i]?.[2]]],
        node: (row) => (row.v[i] ? [R.shown(row, i, metric), ends(row)].filter(Boolean) : R.none()),
      };
    });
  }
  const choice = (row, column) => R.asText(column, R.field(row, column)) || "none";
  const UNSTATED = { setting: ["run", "none"], frames: ["unknown"] };
  /** A choice in words. */
  function choiceName(column, value) {
    if (column.id === "source") return R.kindName(value);
    return (UNSTATED[column.id] || ["none", "unknown"]).includes(value) ? "not stated" : value;
  }
  /** Filters that the columns declare: [label, name in the address, how many choices, () => [choice, in words, rows that count]]. */
  function declaredFilters(rows, columns, counts = () => true) {
    return columns
      .map((column) => {
        const order = (value) => (column.order.indexOf(value) + 1 || (value === "none" ? 1e9 : 1e6));
        const values = Map.groupBy(rows, (row) => choice(row, column));
        const counted = (value) => values.get(value).filter((row) => counts(row, column)).length;
        const sorted = () => [...values.keys()].sort((p, q) => order(p) - order(q) || R.compare(p, q));
        return [column.title, column.id, values.size, () => sorted().map((value) => [value, choiceName(column, value), counted(value)]).filter(([value, , n]) => n || R.asked(column.id) === value)];
      });
  }
  function filtering(columns) {
    const wanted = columns.map((column) => [column, asked(column.id)]).filter(([, value]) => value);
    return (row) => wanted.every(([column, value]) => choice(row, column) === value);
  }

  /** What to cite: the papers of these benchmarks, this board as it is, and Reelbench. */
  function cite(benchmarks) {
    const where = /^https?:/.test(location.protocol) ? `,\n  url = {${location.href.split("#")[0]}}` : "";
    const papers = [...new Set(benchmarks.map((b) => b.bibtex).filter(Boolean)), data.bibtex.replace(/\n}$/, `${where}$&`)];
    return h(
      "details",
      { class: "explained" },
      h("summary", { text: "Cite: BibTeX" }),
      h("pre", { tabindex: 0, text: papers.join("\n") }),
    );
  }

  Object.assign(R, { cite, who, weights, modelCell, rankCell, RANK, MODEL, declared, metricColumns, declaredFilters, filtering });
})();
