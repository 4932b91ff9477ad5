/* The page: the overall table, the tabs. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num, asked } = R;
  const $ = (id) => document.getElementById(id);
  const main = $("main");

  // --- overall ---
  const RATE = "The share of the other models that a model beats; a tie counts half";
  const OF_MODELS = ["source", "setting", "open_weights", "size", "organisation", "licence"];
  function overallPage() {
    const groups = data.groups.map((group, i) => ({ ...group, i, b: R.benchmarks.get(group.benchmark) }));
    const standing = groups.filter((group) => group.main);
    const ran = standing.filter((group) => data.rows.some((row) => row.group === group.i && row.source === "run"));
    const shown = ran.length ? ran : standing;
    const mini = standing.every((group) => group.mini);
    const minis = new Set(groups.filter((group) => group.mini).map((group) => group.b.title));
    const cells = (model) => Object.keys(model.cells).map((i) => groups[i]);
    const people = data.overall.filter((model) => model.setting !== "human" && model.setting !== "floor");
    // A model is one row: its mini runs stand on its own page where it has full ones.
    const full = new Set(people.filter((model) => cells(model).some((group) => !group.mini)).map((model) => model.model));
    const counting = groups.filter((group) => group.counts && shown.includes(group));
    const left = new Set(asked("without").split(",").filter((name) => counting.some((group) => group.benchmark === name)));
    const over = counting.filter((group) => !left.has(group.benchmark));
    const standings = left.size ? R.standings(data.overall, over, R.render) : new Map();
    const models = people
      .filter((model) => mini || !full.has(model.model) || cells(model).some((group) => !group.mini))
      .map((model) => ({ ...model, ...standings.get(model) }))
      .sort((p, q) => (p.rank ?? 1e9) - (q.rank ?? 1e9) || (left.size ? (q.rate ?? -1) - (p.rate ?? -1) : 0));
    const marked = models.filter((model) => model.below);
    const rowsOf = (model) => Object.values(model.cells).map((i) => data.rows[i]);
    const id = (model) => rowsOf(model)[0].id;
    const scored = (model) => shown.some((group) => data.rows[model.cells[group.i]]?.v[0]);
    const ranked = models.some((model) => model.rank != null);
    const called = new Map(models.map((model) => [model.model, new Set()]));
    for (const row of data.rows) if (row.same) called.get(row.same)?.add(row.model);
    // A phone has room for one number beside the overall rank: that which makes it, or what its reader asks for.
    const one = shown.find((group) => group.id === asked("lane")) || (ranked ? null : shown[0]);
    const lanes = groups.map((group) => {
      const rows = data.rows.filter((row) => row.group === group.i);
      const at = (model) => data.rows[model.cells[group.i]];
      return R.laneColumn({
        id: group.id,
        title: group.main ? group.b.title.replace(/ \(.*/, "") : `${group.b.title} · ${group.words}`,
        g: group,
        metric: group.b.metrics[0],
        i: 0,
        rows: rows.filter((row) => !R.apart(row)),
        refs: rows.filter(R.apart),
        at,
        again: () => table.fillSoon(),
        open: R.questions,
        cls: `lane-cell${left.has(group.benchmark) ? " left" : ""}`,
        reason: true,
        main: shown.includes(group),
        show: R.narrow.matches ? group === one : shown.includes(group),
        below: (m) => !at(m) || R.unranked(at(m)),
      });
    });
    const columns = [
      {
        ...R.rankColumn({
          about: "From the mean win rate. The bracket: the best and the worst rank it may have, at 95 % confidence for all together.",
          of: models.filter((model) => model.rank != null).length,
          under: "overall",
          id,
          name: (m) => m.model,
        }),
        beside: (m) => [["better ones below", m.below]],
      },
      { ...R.MODEL, id: "model", title: "Model", node: modelCell },
      R.weights(rowsOf),
      {
        id: "rate",
        title: "Mean win rate",
        vital: true,
        about: `${RATE}, averaged over the benchmarks that it has, in percent.`,
        cls: R.narrow.matches ? "lane-cell" : "num",
        picks: ranked,
        head: () => h("span", { class: "unit", text: "%, of the other models" }),
        show: ranked && !(R.narrow.matches && one),
        get: (m) => m.rate,
        node: (m) => (m.rate == null ? R.none("Not ranked") : R.narrow.matches ? R.meter([100 * m.rate], { low: 0, high: 100, unit: "percent" }) : num(100 * m.rate, "percent")),
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
      ...lanes,
    ];
    const filters = data.columns.filter((column) => column.filter && OF_MODELS.includes(column.id));
    let keep = R.filtering(filters);
    const inBenchmark = (m) =>
      !asked("bench") || Object.keys(m.cells).some((i) => data.groups[i].benchmark === asked("bench"));
    const holder = h("div", { class: `card table-card${lanes.filter((lane) => lane.show).length > 4 ? " many" : ""}` });
    R.ticking(holder, () => table.fill());
    const table = R.table(holder, {
      rows: models,
      columns,
      label: "Overall",
      sort: "rank:asc",
      below: (m) => ranked && m.rank == null,
      id,
      compared: () => R.compared(models, id),
      verdict: (view, ticked) => R.verdicts(lanes, view, ticked),
      hidden: (m) => !scored(m),
      more: (left) =>
        left.every((m) => rowsOf(m).every((row) => row.source === "published"))
          ? `Show ${left.length} published without a main score`
          : `Show ${left.length} more without a main score`,
      range: ranked ? R.rangeOf : null,
      key: R.key(lanes.filter((lane) => lane.show), ranked && models.some((model) => model.ranks), models.length),
      keep: (m) => rowsOf(m).some(keep) && inBenchmark(m),
      text: (m) => [m.model, m.revision, m.setting, ...called.get(m.model)],
    });
    const apply = () => {
      keep = R.filtering(filters);
      table.draw();
    };
    const choices = R.declaredFilters(models.flatMap(rowsOf), filters);
    const cards = h(
      "section",
      { class: ran.length ? null : "first" },
      h("h2", { text: "Benchmarks" }),
      h("div", { class: "charts" }, data.benchmarks.map(summary)),
      !ran.length && h("p", { class: "lead" }, "Nothing was run here yet. ", R.link("Run the first model", "#/submit"), "; below are the numbers that papers print."),
    );
    main.replaceChildren(
      ...[
        ...R.top(
          `${plural(models.filter(scored).length, "video model")} on ${plural(shown.length, "benchmark")}`,
          R.toolbar(table, {
            before: counting.length > 1 && onMenu(counting, left),
            filters: [["Benchmark", "bench", data.benchmarks.length, () => data.benchmarks.map((b) => [b.id, b.title, models.filter((m) => cells(m).some((group) => group.b === b)).length])], ...choices],
            name: "overall",
            picture: () => ({
              title: `Overall${left.size ? `, ranked on ${over.map((group) => group.b.title).join(", ")}` : ""}`,
              words: left.size ? "" : data.headline.map((part, i) => (i % 2 ? R.brief(part) : part)).join(""),
              of: (m) => ({ rank: m.rank, range: m.ranks && [...new Set(m.ranks)].join("–"), model: m.model, setting: [m.setting !== "zero-shot" && m.setting, m.unstated && "setting not stated", m.below && "better one below"].filter(Boolean).join(", "), rate: m.rate == null ? "" : num(100 * m.rate, "percent") }),
            }),
            apply,
          }),
          left.size ? chosen(models, over) : R.headline(data.headline),
          R.trust(data.rows.filter((row) => mini || !R.group(row).mini), shown),
        ),
        data.groups.length > 0 &&
          data.groups.filter((group) => group.main).every((group) => group.mini) &&
          h("p", { class: "card banner" }, "Mini data only: for trying things out."),
        !mini && minis.size > 0 && h("p", { class: "note" }, `Mini data of ${[...minis].join(", ")} isn't counted beside whole benchmarks: it stands on its benchmark's tab.`),
        !ran.length && shown.length > 0 && cards,
        !ranked &&
          ran.length > 0 &&
          models.length > 0 &&
          h(
            "p",
            { class: "card banner" },
            `There is no overall ranking yet: it takes three models with ranked results on half of the benchmarks that count (${allCounting()}). Each benchmark has its own ranking.`,
          ),
        holder,
        h(
          "p",
          { class: "note" },
          `Ranks are by the mean win rate over benchmarks. ${RATE}. Units are never mixed. `,
          R.link("How ranks are made", "#/about"),
        ),
        marked.length > 0 && h("p", { class: "note" }, "“Better one below”: means over different benchmarks may put a model above one that beats it where both ran. ", marked.slice(0, 5).map((m) => `Below ${R.brief(m.model)}: ${m.below}. `), marked.length > 5 && `${marked.length - 5} more are marked.`),
        R.cite(shown.map((group) => group.b)),
        (ran.length > 0 || !shown.length) && cards,
      ].filter(Boolean),
    );
  }
  const rankOn = (without) => {
    R.ask({ without });
    R.render();
  };
  /** The headline of an order over a reader's own choice of benchmarks. */
  function chosen(models, over) {
    const first = models.filter((model) => model.rank === 1).map((model) => R.brief(model.model));
    const said = first.length ? `${first.join(", ")} ${first.length > 1 ? "share" : "has"} the highest win rate on ${over.map((group) => group.b.title).join(", ")}` : "Too few models for an order on these";
    return h("p", { class: "headline" }, `Your own choice of ${over.length} benchmark${over.length === 1 ? "" : "s"}: `, bdi(said), ". ", h("button", { type: "button", class: "link", onclick: () => rankOn(null) }, "Rank on all"));
  }
  /** Which benchmarks the order is over. */
  const onMenu = (counting, left) =>
    R.menu(
      `Benchmarks: ${left.size ? `${counting.length - left.size} of ${counting.length}` : "all"}`,
      () => counting.map(({ benchmark, b }) => {
        const change = ({ target }) => {
          rankOn(counting.map((group) => group.benchmark).filter((name) => (name === benchmark ? !target.checked : left.has(name))).join(","));
          main.querySelector(".tools summary").click();
          document.getElementById(`on-${benchmark}`).focus();
        };
        const box = h("input", { type: "checkbox", id: `on-${benchmark}`, onchange: change });
        box.checked = !left.has(benchmark);
        return h("label", {}, box, b.title);
      }),
    );
  const plural = (n, what) => `${R.count(n)} ${what}${n === 1 ? "" : "s"}`;
  const allCounting = () =>
    data.groups
      .filter((group) => group.counts)
      .map((group) => R.benchmarks.get(group.benchmark).title)
      .join(", ");
  /** A model under its one name; badges are of single results and stand on the benchmarks' pages. */
  function modelCell(m) {
    return R.who(m.model, R.modelHref(m.model), [
      m.covered > 0 && m.covered < m.of && h("span", { class: "sub", title: "Benchmarks that it was run on" }, ` on ${m.covered} of ${m.of}`, h("span", { class: "sr" }, " benchmarks")),
      m.revision && h("span", { class: "sub" }, " ", bdi(m.revision.slice(0, 12))),
      fresh(m) && R.badge("new", "fresh", "New in each of its tables"),
      m.setting !== "zero-shot" && R.badge(m.setting),
      m.unstated && R.badge("setting not stated", "", `Not stated on ${m.unstated}; taken as ${m.setting}`),
      m.below && R.badge("better one below", "warn", m.below),
    ]);
  }
  /** Whether a model is new wherever it has a rank. */
  function fresh(m) {
    const ranked = Object.values(m.cells).map((i) => data.rows[i]).filter((row) => row.rank != null && R.group(row).main);
    return ranked.length > 0 && ranked.every((row) => row.new);
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
              first.source === "run" ? "First: " : "Highest that a paper prints: ",
              h("b", {}, bdi(first.model)),
              `, ${R.shown(first, 0, metric)} ${R.short(metric.title)} (${data.units[metric.unit].range})`,
            ]
          : "No ranked result yet.",
      ),
    );
  }

  // --- go ---
  globalThis.Shell.theme($("theme"));
  const TABS = [["overall", "Overall"], ...data.benchmarks.map((b) => [b.id, b.title.replace(/ \(.*/, "")])];
  $("tabs").append(...TABS.map(([id, title]) => h("a", { href: `#/${id}` }, title)));
  const tabsCut = () => $("tabs").classList.toggle("cut", $("tabs").scrollLeft + $("tabs").clientWidth < $("tabs").scrollWidth - 2);
  $("tabs").addEventListener("scroll", tabsCut, { passive: true });
  new ResizeObserver(tabsCut).observe($("tabs"));
  function render() {
    R.settle();
    R.readAddress();
    globalThis.Plots.clear?.();
    const { page, name } = R.address;
    for (const [i, tab] of [...$("tabs").children].entries()) tab.ariaCurrent = TABS[i][0] === page ? "page" : null;
    if (R.pages.has(page)) R.pages.get(page)(main, name);
    else if (R.benchmarks.has(page)) R.benchmarkPage(main, R.benchmarks.get(page));
    else if (page === "overall") overallPage();
    else if (R.pages.size) {
      overallPage();
      main.querySelector("h1").parentElement.after(h("p", { class: "card banner" }, "There is no page ", bdi(page), " here. This is the overall table."));
    } else return R.more().then(render, (error) => main.replaceChildren(R.note(error.message)));
    const title = main.querySelector("h1")?.textContent;
    document.title = title ? `${title} · Reelbench` : "Reelbench leaderboard";
    $("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    tabsCut();
  }
  R.render = render;
  // The address is the page's own, so a link to a place in it would leave the page.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    const table = main.querySelector("table") || main;
    table.tabIndex = -1;
    table.focus();
  });
  addEventListener("hashchange", () => {
    const before = R.address.page + R.address.name;
    render();
    if (before === R.address.page + R.address.name) return; // a sort, a tick or a filter undone
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
    `${R.count(data.rows.length)} results${data.newest ? `, the newest of ${data.newest.slice(0, 10)}` : ""}.`;
  render();
  R.idle(R.more);
})();
