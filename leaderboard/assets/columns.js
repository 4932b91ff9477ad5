/* Cells, columns and filters that the tables share; most are declared in the data. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, asked } = R;

  // --- cells ---
  /** What a run was recomputed from, where that is not the benchmark's own data. */
  function recomputed(row) {
    const stated = (row.stated || "").split(", ").filter((what) => what && what !== "judge replies");
    const about = R.columns.get("source").about;
    return stated.length
      ? badge(`recomputed from stated ${stated.join(", ")}`, "warn", `${about} These are as the submitter states them.`)
      : badge("recomputed", "run", about);
  }
  /** What a reader must know before comparing a run's value with others'. */
  R.caveats = (row) =>
    [
      row.partial && badge("not ranked", "warn", row.partial),
      row.judge_asked && badge(`judge asked for: ${row.judge_asked}`, "warn", R.columns.get("judge_asked").about),
      row.videos && badge(`${row.videos} videos`, "warn", R.columns.get("videos").about),
      row.data === "unstated" && badge("data unstated", "", R.columns.get("data").about),
    ].filter(Boolean);
  function modelCell(row) {
    const source = R.columns.get("source").about;
    const usual = ["run", "floor", "human"].includes(row.setting);
    return [
      h("a", { class: "name", href: R.modelHref(R.modelOf(row)) }, R.named(row.model)),
      row.revision && h("span", { class: "sub" }, " ", bdi(row.revision.slice(0, 12))),
      h(
        "span",
        { class: "badges" },
        row.source === "run"
          ? recomputed(row)
          : badge(R.KINDS[row.source].toLowerCase(), "", source),
        !usual && badge(row.setting),
        ...R.caveats(row),
        row.badge && badge(row.badge, "", row.rejudged),
        row.note && badge("note", "warn", row.note),
      ),
    ].filter(Boolean);
  }
  const rankCell = (rank) => (rank == null ? R.none("Not ranked") : h("span", { class: `rank r${rank}` }, rank));
  const RANK = {
    cls: "num",
    always: true,
    up: true,
    node: (row) => rankCell(row.rank),
    get: (row) => row.rank ?? null,
  };
  const MODEL = { cls: "model-cell", always: true, up: true, get: (row) => row.model };

  // --- what is declared ---
  const SPECIAL = new Set(["rank", "model", "revision", "benchmark", "url", "note"]); // in other cells, or the page itself
  /** Declared columns; what tells groups apart is shown where all of them (`group` null) are listed. */
  function declared(group, groups, rows) {
    const parts = ["Beside the score", ...new Set(data.columns.map((column) => column.part))];
    return data.columns
      .filter((column) => !SPECIAL.has(column.id))
      .sort((p, q) => parts.indexOf(p.part) - parts.indexOf(q.part))
      .map((column) => {
        const value = (row) => R.field(row, column);
        const text = !R.numeric(column);
        const digits = (row) => column.digits ?? data.units[R.benchmarkOf(row).metrics[0].unit].digits;
        return {
          id: column.id,
          title: column.title,
          about: column.about,
          group: column.part,
          cls: text ? "" : "num",
          up: column.part !== "Beside the score",
          get: text ? (row) => R.asText(column, value(row)) : value,
          node:
            column.type === "number"
              ? (row) => (value(row) == null ? R.none("Not known") : value(row).toFixed(digits(row)))
              : null,
          show:
            !R.narrow.matches &&
            ((column.part === "Beside the score" ? rows.some((row) => value(row) != null) : column.shown) ||
              (group == null && column.filter && groups.some((one) => one[column.id] != null))),
        };
      });
  }
  function metricColumns(b, shownIn) {
    return b.metrics.map((metric, i) => ({
      id: metric.name,
      title: R.short(metric.title),
      about: R.metricTip(metric),
      group: "Scores",
      cls: i ? "num" : "",
      get: (row) => row.v[i]?.[0] ?? null,
      always: i === 0,
      show: !R.narrow.matches && shownIn(i) && !metric.name.endsWith("_per_question"),
      node: i
        ? (row) =>
            row.v[i] ? h("span", { title: R.interval(row.v[i], metric.unit) }, R.shown(row, i, metric)) : R.none()
        : (row) => [
            R.meter(row.v[0], metric, R.least(row, metric)),
            row.unscored && h("span", { class: "sub" }, ` ${row.unscored} unscored`),
          ].filter(Boolean),
    }));
  }
  const choice = (row, column) => R.asText(column, R.field(row, column)) || "none";
  /** Filters that the columns declare: [label, name in the address, choices]. */
  function declaredFilters(rows) {
    return data.columns
      .filter((column) => column.filter)
      .map((column) => {
        const values = [...new Set(rows.map((row) => choice(row, column)))];
        return [
          column.title,
          column.id,
          values.sort((p, q) => p.localeCompare(q, "en", { numeric: true })).map((value) => [value, value]),
        ];
      });
  }
  function filtering(columns) {
    const wanted = columns.map((column) => [column, asked(column.id)]).filter(([, value]) => value);
    return (row) => wanted.every(([column, value]) => choice(row, column) === value);
  }

  Object.assign(R, { modelCell, recomputed, RANK, MODEL, declared, metricColumns, declaredFilters, filtering });
})();
