/* A benchmark's page: its groups, the plot that is its table, reference points, charts. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, num, ask, asked, picked } = R;

  function benchmarkPage(main, b) {
    const rows = data.rows.filter((row) => R.group(row).benchmark === b.id);
    const groups = data.groups.map((group, i) => ({ ...group, i })).filter((group) => group.benchmark === b.id);
    const wide = data.columns.filter((column) => column.filter && column.of_group);
    let group = asked("group") === "all" ? null : (groups.find((g) => g.id === asked("group")) || groups[0]).i;
    if (!asked("group") && wide.some((column) => asked(column.id))) group = null;
    const inGroup = (row) => group == null || row.group === group;
    const listed = rows.filter((row) => !R.apart(row) && inGroup(row));
    const refs = rows.filter((row) => R.apart(row) && inGroup(row));
    const g = group == null ? null : data.groups[group];
    const lane = R.laneColumn({
      id: b.metrics[0].name,
      title: R.short(b.metrics[0].title),
      g,
      metric: b.metrics[0],
      i: 0,
      rows: listed,
      refs,
      at: (row) => row,
      again: () => table.fillSoon(),
      open: R.questions,
      always: true,
      cls: "lane-cell alone",
    });
    const rank = R.rankColumn({
      about: R.columns.get("rank").about,
      of: g ? listed.filter((row) => row.rank != null).length : 0,
      id: (row) => row.id,
      name: (row) => row.model,
    });
    const columns = [
      rank,
      { ...R.MODEL, id: "model", title: "Model", node: R.modelCell(listed) },
      R.weights((row) => [row]),
      lane,
      ...R.metricColumns(b, (i) => listed.some((row) => row.v[i])),
      ...R.declared(group, groups, listed),
    ];
    const filters = data.columns.filter((column) => column.filter);
    let keep = R.filtering(filters);
    const holder = h("div", { class: "card table-card of-one" });
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
      id: (row) => row.id,
      compared: () => R.compared(listed, (row) => row.id),
      verdict: (view, ticked) => R.verdicts([lane], view, ticked),
      range: g?.pairs ? R.rangeOf : null,
      key: R.key([lane], g?.pairs, listed.length),
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
    const pictures = h("section", { class: "pictures", hidden: true }, h("h2", { text: "Charts" }), picks, canvas);
    const known = new Set((g ? [g] : groups).flatMap((one) => one.facets));
    async function charts() {
      const view = table.view(),
        ids = picked();
      const ticked = ids.map((id) => rows.find((row) => row.id === id)).filter(Boolean);
      picks.textContent = ticked.length
        ? `Comparisons draw the ${ticked.length} rows ticked in the table${ticked.length > 12 ? ", at most 12 in one chart" : ""}.`
        : "Comparisons draw the first rows of the table; tick rows to choose others.";
      const chosen = ticked.length ? ticked : view.slice(0, 6);
      pictures.hidden = !(await R.drawCharts(canvas, { b, g, rows: view, chosen, ticked: ticked.length > 0, refs, known }));
    }
    R.ticking(holder, () => {
      table.fill();
      charts();
    });

    const paper = R.safeUrl(b.paper),
      home = R.safeUrl(b.homepage);
    const lead = h(
      "p",
      { class: "lead" },
      b.summary,
      paper && [" ", R.link("Paper", paper)],
      home && [" · ", R.link("Data", home)],
    );
    const credible = R.trust(rows.filter(inGroup), g ? [{ ...g, i: group }] : groups);
    main.replaceChildren(
      ...[
        ...R.top(
          b.title,
          R.toolbar(table, {
            // What parts groups is counted over all of them, what models are over the rows in view.
            filters: R.declaredFilters(rows.filter((row) => !R.apart(row)), filters, (row, column) => wide.includes(column) || inGroup(row)),
            name: b.id,
            whole: true,
            picture: () => ({
              g,
              title: `${b.title}${g ? `, ${g.words}` : ""}`,
              words: (g?.headline || []).map((part, i) => (i % 2 ? R.brief(part) : part)).join(""),
              of: (row) => ({ rank: row.rank, range: row.rank_range, model: row.model, setting: ["run", "zero-shot"].includes(row.setting) ? "" : row.setting }),
            }),
            apply,
          }),
          g && !g.mini && R.headline(g.headline),
          credible,
        ),
        groupChoice(groups, group, rows.filter((row) => !R.apart(row))),
        g?.mini &&
          h(
            "p",
            { class: "card banner" },
            "A few questions written for trying things out. Nothing here says how good a model is.",
          ),
        group == null &&
          h(
            "p",
            { class: "note" },
            "Rows of different groups are not comparable with each other; each group has its own ranks.",
          ),
        holder,
        g?.history && changed(g),
        g?.tells != null && tells(b.metrics[0], g.tells),
        g && ownPrompts(b, g),
        ...(g?.relations || []).map((text) => R.note(`${text} No value is converted.`)),
        ...Object.entries(g?.shortcuts || {}).map(needNoWatching),
        ...(g?.row_faults || []).map(R.note),
        lead,
        explained(b),
        b.parity &&
          h("details", { class: "explained" }, h("summary", { text: "Held to the owners’ scorer" }), R.note(b.parity)),
        R.cite([b]),
        ...reference(b, refs, group),
        pictures,
      ].filter(Boolean),
    );
    R.idle(charts);
  }
  /** What changed since the table was published first: loaded when it is opened. */
  function changed(g) {
    const content = h("div", {}, R.note("Loading…"));
    const open = async () => {
      if (box.open) content.replaceChildren(await R.whatChanged(g).catch((error) => R.note(error.message)));
    };
    const since = g.since ? `: marked since ${R.day(g.since)}` : "";
    const box = h("details", { class: "explained", ontoggle: open }, h("summary", { text: `What changed${since}` }), content);
    return box;
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
      h("b", { text: `Differences under ${num(smallest, metric.unit)} points are often missed here. ` }),
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
      `${low == null ? "" : ` (95 % interval ${low} to ${high})`}, by ${runs === 1 ? "one run, lucky guesses among them" : `most of ${runs} runs`}. The column “Without shortcuts” leaves such questions out.`,
    );
  }
  /** Which group is listed: by its split, and by who judged it. */
  function groupChoice(groups, chosen, rows) {
    if (groups.length < 2) return null;
    const at = groups.find((g) => g.i === chosen);
    const listed = (some) => rows.filter((row) => some.some((g) => g.i === row.group)).length;
    const choice = (label, id, options, value) => {
      const choose = () => {
        ask({ group: box.value, split: null, judge: null, cols: null, sort: null });
        R.render();
        document.getElementById(id)?.focus();
      };
      const named = options.map(([group, text, n]) => h("option", { value: group }, `${text} (${R.count(n)})`));
      const box = h("select", { id, onchange: choose }, named);
      box.value = value;
      return h("label", {}, label, box);
    };
    // Another split keeps its judge where that one judged it too.
    const alike = (some) => some.find((g) => at && g.scoring_words === at.scoring_words) || some[0];
    const splits = [...Map.groupBy(groups, (g) => g.split_words)];
    const ofSplit = splits.map(([name, some]) => [some.includes(at) ? at.id : alike(some).id, name, listed(some)]);
    const judges = at ? groups.filter((g) => g.split_words === at.split_words) : [];
    const ofJudge = judges.map((g) => [g.id, g.scoring_words || "scored by rule", listed([g])]);
    return h(
      "div",
      { class: "groups", role: "group", "aria-label": "Comparable groups: one split, judge and prompt set each" },
      choice("Split", "group-split", [...ofSplit, ["all", "All groups", rows.length]], at ? at.id : "all"),
      judges.length > 1 && choice("Judge", "group-judge", ofJudge, at.id),
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
      ? " On the Hub: what the dataset’s own board lists, as stated there, not computed here."
      : "";
    return [
      h("h2", { text: "Reference points" }),
      h("p", {
        class: "note",
        text: `Set apart and not ranked: what answering without looking gets (by a rule, or by a model without the video), and what people get.${stated}`,
      }),
      h(
        "ul",
        { class: "refs" },
        refs.map((row) =>
          h(
            "li",
            { class: "card" },
            badge(R.kindName(row.source), row.source === "human" ? "human" : "floor"),
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
            group == null && h("span", { class: "sub" }, bdi(R.group(row).words)),
          ),
        ),
      ),
    ];
  }

  R.benchmarkPage = benchmarkPage;
})();
