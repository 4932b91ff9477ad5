/* Cells, columns and filters that the tables share; most are declared in the data. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, num, asked } = R;

  // --- cells ---
  function modelCell(row) {
    const source = R.columns.get("source").about;
    const usual = ["run", "floor", "human"].includes(row.setting);
    return [
      h("a", { class: "name", href: R.modelHref(row.model) }, bdi(row.model)),
      row.revision && h("span", { class: "sub" }, " ", bdi(row.revision.slice(0, 12))),
      h(
        "span",
        { class: "badges" },
        row.source === "run"
          ? badge("recomputed", "run", source)
          : badge(R.KINDS[row.source].toLowerCase(), "", source),
        !usual && badge(row.setting),
        row.partial && badge("partial", "warn", row.partial),
        row.ids === "unchecked" &&
          badge(
            "ids unchecked",
            "",
            "The benchmark’s data was not on the machine that checked this: ids and targets are as the result states them",
          ),
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
  function declared(group, groups) {
    return data.columns
      .filter((column) => !SPECIAL.has(column.id))
      .map((column) => {
        const value = (row) => R.field(row, column);
        const text = column.type !== "integer";
        return {
          id: column.id,
          title: column.title,
          about: column.about,
          group: "How it was run",
          cls: text ? "" : "num",
          up: true,
          get: text ? (row) => R.asText(column, value(row)) : value,
          show:
            !R.narrow.matches &&
            (column.shown || (group == null && column.filter && groups.some((one) => one[column.id] != null))),
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
            row.v[i] ? h("span", { title: R.interval(row.v[i], metric.unit) }, num(row.v[i][0], metric.unit)) : R.none()
        : (row) => R.meter(row.v[0], metric),
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

  Object.assign(R, { modelCell, RANK, MODEL, declared, metricColumns, declaredFilters, filtering });
})();
