/* The page: the overall table, the tabs, light and dark. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num, asked } = R;
  const $ = (id) => document.getElementById(id);
  const main = $("main");

  globalThis.Shell.theme($("theme"));

  // --- overall ---
  const OF_MODELS = ["source", "setting", "open_weights", "size", "organisation", "licence"];
  function overallPage() {
    const groups = data.groups.map((group, i) => ({ ...group, i, b: R.benchmarks.get(group.benchmark) }));
    const standing = groups.filter((group) => group.main);
    const ran = standing.filter((group) => data.rows.some((row) => row.group === group.i && row.source === "run"));
    const shown = ran.length ? ran : standing;
    const mini = standing.every((group) => group.mini);
    const cells = (model) => Object.keys(model.cells).map((i) => groups[i]);
    const people = data.overall.filter((model) => model.setting !== "human" && model.setting !== "floor");
    // A model is one row: its mini runs stand on its own page where it has full ones.
    const full = new Set(people.filter((model) => cells(model).some((group) => !group.mini)).map((model) => model.model));
    const models = people.filter((model) => mini || !full.has(model.model) || cells(model).some((group) => !group.mini));
    const rowsOf = (model) => Object.values(model.cells).map((i) => data.rows[i]);
    const id = (model) => rowsOf(model)[0].id;
    const scored = (model) => shown.some((group) => data.rows[model.cells[group.i]]?.v[0]);
    const ranked = models.some((model) => model.rank != null);
    const called = new Map(models.map((model) => [model.model, new Set()]));
    for (const row of data.rows) if (row.same) called.get(row.same)?.add(row.model);
    const lanes = groups.map((group) => {
      const rows = data.rows.filter((row) => row.group === group.i);
      const at = (model) => data.rows[model.cells[group.i]];
      const chosen = shown.find((one) => one.id === asked("lane")) || shown[0];
      return R.laneColumn({
        id: group.id,
        title: group.main ? group.b.title.replace(/ \(.*/, "") : `${group.b.title} · ${R.groupName(group)}`,
        g: group,
        metric: group.b.metrics[0],
        i: 0,
        rows: rows.filter((row) => !R.apart(row)),
        refs: rows.filter(R.apart),
        at,
        again: () => table.fill(),
        reason: true,
        show: R.narrow.matches ? group.id === chosen?.id : shown.includes(group),
        below: (m) => !at(m) || R.unranked(at(m)),
      });
    });
    const columns = [
      R.rankColumn({
        about: "From the mean win rate. The bracket: the best and the worst rank it may have, at 95 % confidence for all together.",
        of: models.filter((model) => model.rank != null).length,
        id,
        name: (m) => m.model,
      }),
      { ...R.MODEL, id: "model", title: "Model", node: modelCell },
      ...lanes,
      {
        id: "rate",
        title: "Mean win rate",
        about: "The share of the other models that it beats, one that it can’t be told from counted half, averaged over the benchmarks that it has, in percent.",
        cls: "num",
        show: ranked && !R.narrow.matches,
        get: (m) => m.rate,
        node: (m) => (m.rate == null ? R.none("Not ranked") : `${num(100 * m.rate, "percent")}\u00a0%`),
      },
      {
        id: "covered",
        title: "Benchmarks",
        about: "Benchmarks with open data that it is ranked on, of all that count.",
        cls: "num",
        show: !ranked && !R.narrow.matches,
        get: (m) => m.covered,
        node: (m) => `${m.covered} of ${m.of}`,
      },
    ];
    const filters = data.columns.filter((column) => column.filter && OF_MODELS.includes(column.id));
    let keep = R.filtering(filters);
    const inBenchmark = (m) =>
      !asked("bench") || Object.keys(m.cells).some((i) => data.groups[i].benchmark === asked("bench"));
    const holder = h("div", { class: "card table-card" });
    R.ticking(holder, () => table.fill());
    const table = R.table(holder, {
      rows: models,
      columns,
      label: "Overall",
      sort: "rank:asc",
      below: (m) => ranked && m.rank == null,
      compared: () => R.compared(models, id),
      hidden: (m) => !scored(m),
      more: (left) =>
        left.every((m) => rowsOf(m).every((row) => row.source === "published"))
          ? `Show ${left.length} published without a main score`
          : `Show ${left.length} more without a main score`,
      apart: ranked
        ? (anchor, m) => (anchor.ranks && m.ranks ? m.ranks[0] > anchor.ranks[1] : m.rank !== anchor.rank)
        : null,
      key: R.key(lanes.filter((lane) => lane.show), ranked && models.some((model) => model.ranks)),
      keep: (m) => rowsOf(m).some(keep) && inBenchmark(m),
      text: (m) => [m.model, m.revision, m.setting, ...called.get(m.model)],
    });
    const apply = () => {
      keep = R.filtering(filters);
      table.draw();
    };
    const choices = R.declaredFilters(models.flatMap(rowsOf)).filter(([, name]) =>
      filters.some((column) => column.id === name),
    );
    main.replaceChildren(
      ...[
        h("h1", { text: `Leaderboard: ${plural(models.filter(scored).length, "video model")}, ${plural(shown.length, "benchmark")} of story and culture` }),
        R.headline(data.headline),
        !R.narrow.matches && R.trust(data.rows.filter((row) => mini || !R.group(row).mini), shown),
        data.groups.length > 0 &&
          data.groups.filter((group) => group.main).every((group) => group.mini) &&
          h("p", { class: "card banner" }, "Mini data only: for trying things out."),
        R.toolbar(table, {
          filters: [["Benchmark", "bench", data.benchmarks.map((b) => [b.id, b.title, models.filter((m) => cells(m).some((group) => group.b === b)).length])], ...choices],
          name: "overall",
          apply,
        }),
        !ranked &&
          models.length > 0 &&
          h(
            "p",
            { class: "card banner" },
            `There is no overall ranking yet: it takes three models with ranked results on half of the benchmarks that count (${counting()}). Each benchmark has its own ranking.`,
          ),
        holder,
        R.narrow.matches && R.trust(data.rows.filter((row) => mini || !R.group(row).mini), shown),
        h(
          "p",
          { class: "note" },
          "Ranks are by the mean win rate over benchmarks: the share of the other models that a model beats, those that it can’t be told from counted half. Units are never mixed. ",
          R.link("How ranks are made", "#/about"),
        ),
        h("h2", { text: "Benchmarks" }),
        h("div", { class: "charts" }, data.benchmarks.map(summary)),
      ].filter(Boolean),
    );
  }
  const plural = (n, what) => `${R.count(n)} ${what}${n === 1 ? "" : "s"}`;
  const counting = () =>
    data.groups
      .filter((group) => group.counts)
      .map((group) => R.benchmarks.get(group.benchmark).title)
      .join(", ");
  /** A model under its one name; badges are of single results and stand on the benchmarks' pages. */
  function modelCell(m) {
    return [
      h("a", { class: "name", href: R.modelHref(m.model) }, R.named(m.model)),
      m.covered > 0 && m.covered < m.of && h("span", { class: "sub reason" }, ` ${m.covered} of ${m.of} benchmarks`),
      m.revision && h("span", { class: "sub" }, " ", bdi(m.revision.slice(0, 12))),
      m.setting !== "zero-shot" && h("span", { class: "badges" }, R.badge(m.setting)),
    ].filter(Boolean);
  }
  function summary(b) {
    const first = data.rows.find((row) => R.group(row).benchmark === b.id && R.group(row).main && row.rank === 1),
      metric = b.metrics[0];
    return h(
      "section",
      { class: "card chart" },
      h("h3", {}, R.link(b.title, `#/${b.id}`)),
      h("p", { text: b.summary }),
      h(
        "p",
        {},
        first
          ? [
              "First: ",
              h("b", {}, bdi(first.model)),
              `, ${num(first.v[0][0], metric.unit)} ${R.short(metric.title)} (${data.units[metric.unit].range})`,
            ]
          : "No ranked result yet.",
      ),
    );
  }

  // --- go ---
  const TABS = [["overall", "Overall"], ...data.benchmarks.map((b) => [b.id, b.title])];
  function render() {
    R.settle();
    R.readAddress();
    globalThis.Plots.clear();
    const { page, name } = R.address;
    $("tabs").replaceChildren(
      ...TABS.map(([id, title]) => h("a", { href: `#/${id}`, "aria-current": page === id ? "page" : null }, title)),
    );
    if (R.pages.has(page)) R.pages.get(page)(main, name);
    else if (R.benchmarks.has(page)) R.benchmarkPage(main, R.benchmarks.get(page));
    else overallPage();
    const title = main.querySelector("h1")?.textContent;
    document.title = title ? `${title} · Reelbench` : "Reelbench leaderboard";
    $("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }
  R.render = render;
  addEventListener("hashchange", () => {
    render();
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  });
  // A phone turned has other lanes; a print or a picture of the page only seems to turn it.
  let narrow = R.narrow.matches;
  R.narrow.addEventListener("change", () =>
    setTimeout(() => {
      if (narrow === R.narrow.matches) return;
      narrow = R.narrow.matches;
      render();
    }, 100),
  );
  $("built").textContent =
    `${data.rows.length.toLocaleString("en")} results${data.newest ? `, the newest of ${data.newest.slice(0, 10)}` : ""}.`;
  render();
})();
