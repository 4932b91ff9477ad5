/* A benchmark's page: groups, filters, the table, reference points, pictures. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, num, ask, asked } = R;

  function benchmarkPage(main, b) {
    const rows = data.rows.filter((row) => R.group(row).benchmark === b.id);
    const groups = data.groups.map((group, i) => ({ ...group, i })).filter((group) => group.benchmark === b.id);
    const wide = data.columns.filter((column) => column.filter && column.of_group);
    let group = asked("group") === "all" ? null : (groups.find((g) => g.id === asked("group")) || groups[0]).i;
    if (!asked("group") && wide.some((column) => asked(column.id))) group = null;
    const inGroup = (row) => group == null || row.group === group;
    const listed = rows.filter((row) => !R.apart(row) && inGroup(row));
    const refs = rows.filter((row) => R.apart(row) && inGroup(row));
    const picked = new Set(asked("pick").split(",").filter(Boolean));
    const g = group == null ? null : data.groups[group];

    const columns = [
      {
        id: "pick",
        title: "Chart",
        cls: "control",
        control: true,
        show: !R.narrow.matches,
        get: () => null,
        node: (row) => pickBox(row, picked),
      },
      { ...R.RANK, id: "rank", title: "Rank", about: R.columns.get("rank").about },
      { ...R.MODEL, id: "model", title: "Model", node: R.modelCell },
      ...R.metricColumns(b, (i) => listed.some((row) => row.v[i])),
      ...R.declared(group, groups, listed),
    ];
    const filters = data.columns.filter((column) => column.filter);
    let keep = R.filtering(filters);
    const holder = h("div", { class: "card table-card" });
    let later = 0; // the table answers at once, the pictures when typing rests
    const chartsSoon = () => {
      clearTimeout(later);
      later = setTimeout(charts, 250);
    };
    const table = R.table(holder, {
      rows: listed,
      columns,
      label: `${b.title}${g ? `, ${g.label}` : ""}`,
      sort: "rank:asc",
      then: b.metrics[0].name,
      keep: (row) => keep(row),
      below: R.unranked,
      changed: chartsSoon,
      text: (row) => [row.model, row.revision, row.setting, row.frames, row.source, row.citation, R.group(row).label],
    });
    const apply = (name) => {
      // A split or judge of another group: look in all of them.
      if (group != null && wide.some((column) => column.id === name) && asked(name)) {
        ask({ group: "all" });
        R.render();
        return;
      }
      keep = R.filtering(filters);
      table.draw();
    };
    const picks = h("p", { class: "picks", "aria-live": "polite" }),
      canvas = h("div", { class: "charts" });
    const pictures = h("section", { class: "pictures" }, h("h2", { text: "Charts" }), picks, canvas);
    const known = new Set((g ? [g] : groups).flatMap((one) => one.facets));
    function charts() {
      if (!canvas.isConnected) return;
      const view = table.view();
      const chosen = picked.size ? rows.filter((row) => picked.has(row.id)) : view.slice(0, 6);
      picks.textContent = picked.size
        ? `Comparisons draw the ${picked.size} rows ticked in the table.`
        : "Comparisons draw the first rows of the table; tick rows to choose others.";
      pictures.hidden = R.charts.draw(canvas, { b, g, rows: view, chosen, refs, known }) === 0;
    }
    holder.addEventListener("change", (event) => {
      if (!event.target.classList.contains("pick")) return;
      if (event.target.checked) picked.add(event.target.dataset.id);
      else picked.delete(event.target.dataset.id);
      ask({ pick: [...picked].join(",") });
      charts();
    });

    const paper = R.safeUrl(b.paper),
      home = R.safeUrl(b.homepage);
    main.replaceChildren(
      ...[
        h("h1", { text: b.title }),
        h(
          "p",
          { class: "lead" },
          b.summary,
          paper && [" ", R.link("Paper", paper)],
          home && [" · ", R.link("Data", home)],
        ),
        chips(groups, group, rows),
        g?.mini &&
          h(
            "p",
            { class: "card banner" },
            "A dozen questions written for trying things out. Nothing here says how good a model is.",
          ),
        group == null &&
          h(
            "p",
            { class: "note" },
            "Rows of different groups are not comparable with each other; each group has its own ranks.",
          ),
        g && ownPrompts(b, g),
        R.toolbar(table, {
          filters: R.declaredFilters(rows.filter((row) => !R.apart(row))),
          name: b.id,
          whole: true,
          apply,
        }),
        holder,
        g?.tells != null && tells(b.metrics[0], g.tells),
        ...Object.entries(g?.shortcuts || {}).map(needNoWatching),
        explained(b),
        ...reference(b, refs, group),
        pictures,
      ].filter(Boolean),
    );
    charts();
  }
  /** Where a group is judged with other prompts than the published numbers: how to come among these. */
  function ownPrompts(b, g) {
    if (!b.judge || g.judge_prompts === "official") return null;
    const how = g.judge
      ? "Judged with other prompts than the authors’, so not comparable with published numbers."
      : "Not judged yet.";
    return h(
      "p",
      { class: "note" },
      `${how} To stand beside those: `,
      h("code", { text: `reelbench score --run DIR --judge ${b.judge} --judge-prompts official` }),
      ", then add it again.",
    );
  }
  /** What a reader shouldn't make of the table: which gaps are too small for its videos. */
  function tells(metric, smallest) {
    return h(
      "p",
      { class: "note" },
      h("b", { text: `Differences under ${num(smallest, metric.unit)} points can’t be told apart here. ` }),
      `A true difference of that much in ${R.short(metric.title)} is found four times in five on these videos, by the median noise of the table’s pairs; a smaller one is missed more often.`,
    );
  }
  /** How many of a group's questions most runs that show too little have right. */
  function needNoWatching([shown, { runs, v }]) {
    const [share, low, high] = v.map((value) => num(value, "percent"));
    const asked = shown === "blind" ? "without a frame" : "with a single frame";
    return h(
      "p",
      { class: "note" },
      h("b", { text: `${share} % of the questions are answered right ${asked}` }),
      `${low == null ? "" : ` (95 % interval ${low} to ${high})`}, by ${runs === 1 ? "one run" : `most of ${runs} runs`}. The column “Without shortcuts” leaves such questions out.`,
    );
  }
  function pickBox(row, picked) {
    const box = h("input", {
      type: "checkbox",
      class: "pick",
      "data-id": row.id,
      "aria-label": `Draw ${row.model} in the charts`,
    });
    box.checked = picked.has(row.id);
    return box;
  }
  function chips(groups, chosen, rows) {
    const choose = (g) => {
      ask({ group: g == null ? "all" : data.groups[g].id, split: null, judge: null, cols: null, sort: null });
      R.render();
    };
    const chip = (label, g, count) =>
      h(
        "button",
        { type: "button", class: "chip", "aria-pressed": String(chosen === g), onclick: () => choose(g) },
        label,
        h("b", { text: count }),
      );
    return h(
      "div",
      { class: "chips", role: "group", "aria-label": "Comparable groups: one split, judge and prompt set each" },
      groups.map((g) => chip(bdi(g.label), g.i, rows.filter((row) => row.group === g.i).length)),
      groups.length > 1 && chip("All groups", null, rows.length),
    );
  }
  /** One line for each metric: what a tooltip says, for those who have none. */
  function explained(b) {
    return h(
      "details",
      { class: "explained" },
      h("summary", { text: "What the columns measure" }),
      h(
        "dl",
        { class: "kv" },
        b.metrics.map((metric) =>
          h(
            "div",
            {},
            h("dt", { text: metric.title }),
            h("dd", { text: [metric.about, `${data.units[metric.unit].range}.`].filter(Boolean).join(" ") }),
          ),
        ),
      ),
    );
  }
  function reference(b, refs, group) {
    if (!refs.length) return [];
    const stated = refs.some((row) => row.source === "community")
      ? " On the Hub: what its own board of the dataset lists, as stated there; nothing of it is computed here."
      : "";
    return [
      h("h2", { text: "Reference points" }),
      h("p", {
        class: "note",
        text: `Set apart and not ranked: what answering without looking gets, and what people get.${stated}`,
      }),
      h(
        "ul",
        { class: "refs" },
        refs.map((row) =>
          h(
            "li",
            { class: "card" },
            badge(R.KINDS[row.source], row.source === "human" ? "human" : "floor"),
            h("a", { class: "name", href: R.modelHref(R.modelOf(row)) }, bdi(row.model)),
            b.metrics
              .map((metric, i) => [metric, row.v[i]])
              .filter(([, numbers]) => numbers)
              .slice(0, 3)
              .map(([metric, numbers]) =>
                h(
                  "span",
                  { class: "sub" },
                  h("b", { text: num(numbers[0], metric.unit) }),
                  ` ${R.short(metric.title)}`,
                ),
              ),
            group == null && h("span", { class: "sub" }, bdi(R.group(row).label)),
          ),
        ),
      ),
    ];
  }

  R.benchmarkPage = benchmarkPage;
})();
