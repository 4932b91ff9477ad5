/* The page: tabs, the overall table, a benchmark's table with its filters and pictures, the text pages. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, num, ask, asked } = R;
  const $ = (id) => document.getElementById(id);
  const main = $("main");

  // --- theme ---
  const stored = (() => { try { return localStorage.getItem("reelbench-theme"); } catch { return null; } })();
  function setTheme(theme, keep) {
    document.documentElement.dataset.theme = theme;
    $("theme").setAttribute("aria-pressed", String(theme === "dark"));
    if (keep) { try { localStorage.setItem("reelbench-theme", theme); } catch { /* private mode */ } }
  }
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true));

  // --- cells ---
  function modelCell(row) {
    const source = R.columns.get("source").about;
    const usual = ["run", "floor", "human"].includes(row.setting);
    return [
      h("a", { class: "name", href: R.modelHref(row.model) }, bdi(row.model)),
      row.revision && h("span", { class: "sub" }, " ", bdi(row.revision.slice(0, 12))),
      h("span", { class: "badges" },
        row.source === "run" ? badge("recomputed", "run", source) : badge(R.KINDS[row.source].toLowerCase(), "", source),
        !usual && badge(row.setting), row.partial && badge("partial", "warn", row.partial),
        row.ids === "unchecked" && badge("ids unchecked", "", "The benchmark’s data was not on the machine that checked this: ids and targets are as the result states them"),
        row.note && badge("note", "warn", row.note)),
    ].filter(Boolean);
  }
  const rankCell = (rank) => (rank == null ? R.none("Not ranked") : h("span", { class: `rank r${rank}` }, rank));
  const RANK = { cls: "num", always: true, up: true, node: (row) => rankCell(row.rank), get: (row) => row.rank ?? null };
  const MODEL = { cls: "model-cell", always: true, up: true, get: (row) => row.model };

  // --- a benchmark ---
  const SPECIAL = new Set(["rank", "model", "revision", "benchmark", "url", "note"]); // in other cells, or the page itself
  function declared(group) {
    return data.columns.filter((column) => !SPECIAL.has(column.id)).map((column) => {
      const value = (row) => R.field(row, column);
      const text = column.type !== "integer";
      return {
        id: column.id, title: column.title, about: column.about, group: "How it was run", cls: text ? "" : "num", up: true,
        get: text ? (row) => R.asText(column, value(row)) : value,
        show: !R.narrow.matches && (column.shown || (group == null && column.of_group && column.filter)),
      };
    });
  }
  function metricColumns(b, shownIn) {
    return b.metrics.map((metric, i) => ({
      id: metric.name, title: R.short(metric.title), about: R.metricTip(metric), group: "Scores", cls: i ? "num" : "",
      get: (row) => row.v[i]?.[0] ?? null, always: i === 0,
      show: !R.narrow.matches && shownIn(i) && !metric.name.endsWith("_per_question"),
      node: i ? (row) => (row.v[i] ? h("span", { title: R.interval(row.v[i], metric.unit) }, num(row.v[i][0], metric.unit)) : R.none()) : (row) => R.meter(row.v[0], metric),
    }));
  }
  const choice = (row, column) => R.asText(column, R.field(row, column)) || "none";
  /** Filters that the columns declare: [label, name in the address, choices]. */
  function declaredFilters(rows) {
    return data.columns.filter((column) => column.filter).map((column) => {
      const values = [...new Set(rows.map((row) => choice(row, column)))];
      return [column.title, column.id, values.sort((p, q) => p.localeCompare(q, "en", { numeric: true })).map((value) => [value, value])];
    });
  }
  function filtering(columns) {
    const wanted = columns.map((column) => [column, asked(column.id)]).filter(([, value]) => value);
    return (row) => wanted.every(([column, value]) => choice(row, column) === value);
  }

  function benchmarkPage(b) {
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
      { id: "pick", title: "Chart", control: true, show: !R.narrow.matches, get: () => null, node: (row) => pickBox(row, picked) },
      { ...RANK, id: "rank", title: "Rank", about: R.columns.get("rank").about },
      { ...MODEL, id: "model", title: "Model", node: modelCell },
      ...metricColumns(b, (i) => listed.some((row) => row.v[i])),
      ...declared(group),
    ];
    const filters = data.columns.filter((column) => column.filter);
    let keep = filtering(filters);
    const holder = h("div", { class: "card table-card" });
    let later = 0; // the table answers at once, the pictures when typing rests
    const chartsSoon = () => { clearTimeout(later); later = setTimeout(charts, 250); };
    const table = R.table(holder, {
      rows: listed, columns, label: `${b.title}${g ? `, ${g.label}` : ""}`, sort: "rank:asc", then: b.metrics[0].name, keep: (row) => keep(row), changed: chartsSoon,
      text: (row) => [row.model, row.revision, row.setting, row.frames, row.source, row.citation, R.group(row).label],
    });
    const apply = (name) => {
      // A split or judge of another group: look in all of them.
      if (group != null && wide.some((column) => column.id === name) && asked(name)) { ask({ group: "all" }); render(); return; }
      keep = filtering(filters);
      table.draw();
    };
    const picks = h("p", { class: "picks", "aria-live": "polite" }), canvas = h("div", { class: "charts" });
    const pictures = h("section", {}, h("h2", { text: "Charts" }), picks, canvas);
    const known = new Set((g ? [g] : groups).flatMap((one) => one.facets));
    function charts() {
      if (!canvas.isConnected) return;
      const view = table.view();
      const chosen = picked.size ? rows.filter((row) => picked.has(row.id)) : view.slice(0, 6);
      picks.textContent = picked.size ? `Comparisons draw the ${picked.size} rows ticked in the table.` : "Comparisons draw the first rows of the table; tick rows to choose others.";
      pictures.hidden = R.charts.draw(canvas, { b, rows: view, chosen, refs, known }) === 0;
    }
    holder.addEventListener("change", (event) => {
      if (!event.target.classList.contains("pick")) return;
      if (event.target.checked) picked.add(event.target.dataset.id); else picked.delete(event.target.dataset.id);
      ask({ pick: [...picked].join(",") });
      charts();
    });

    const paper = R.safeUrl(b.paper), home = R.safeUrl(b.homepage);
    main.replaceChildren(...[
      h("h1", { text: b.title }),
      h("p", { class: "lead" }, b.summary, paper && [" ", R.link("Paper", paper)], home && [" · ", R.link("Data", home)]),
      chips(groups, group, rows),
      g?.mini && h("p", { class: "card banner" }, "A dozen questions written for trying things out. Nothing here says how good a model is."),
      group == null && h("p", { class: "note" }, "Rows of different groups are not comparable with each other; each group has its own ranks."),
      R.toolbar(table, { filters: declaredFilters(rows.filter((row) => !R.apart(row))), name: b.id, whole: true, apply }),
      holder,
      explained(b),
      ...reference(b, refs, group),
      pictures,
    ].filter(Boolean));
    charts();
  }
  function pickBox(row, picked) {
    const box = h("input", { type: "checkbox", class: "pick", "data-id": row.id, "aria-label": `Draw ${row.model} in the charts` });
    box.checked = picked.has(row.id);
    return box;
  }
  function chips(groups, chosen, rows) {
    const choose = (g) => { ask({ group: g == null ? "all" : data.groups[g].id, split: null, judge: null, cols: null, sort: null }); render(); };
    const chip = (label, g, count) => h("button", { type: "button", class: "chip", "aria-pressed": String(chosen === g), onclick: () => choose(g) }, label, h("b", { text: count }));
    return h("div", { class: "chips", role: "group", "aria-label": "Comparable groups: one split, judge and prompt set each" },
      groups.map((g) => chip(bdi(g.label), g.i, rows.filter((row) => row.group === g.i).length)),
      groups.length > 1 && chip("All groups", null, rows.length));
  }
  /** One line for each metric: what a tooltip says, for those who have none. */
  function explained(b) {
    return h("details", { class: "explained" }, h("summary", { text: "What the columns measure" }),
      h("dl", { class: "kv" }, b.metrics.map((metric) => h("div", {}, h("dt", { text: metric.title }), h("dd", { text: [metric.about, `${data.units[metric.unit].range}.`].filter(Boolean).join(" ") })))));
  }
  function reference(b, refs, group) {
    if (!refs.length) return [];
    return [h("h2", { text: "Reference points" }), h("p", { class: "note", text: "Set apart and not ranked: what answering without looking gets, and what people get." }),
      h("ul", { class: "refs" }, refs.map((row) => h("li", { class: "card" },
        badge(R.KINDS[row.source], row.source === "human" ? "human" : "floor"), h("a", { class: "name", href: R.modelHref(row.model) }, bdi(row.model)),
        b.metrics.map((metric, i) => [metric, row.v[i]]).filter(([, numbers]) => numbers).slice(0, 3).map(([metric, numbers]) => h("span", { class: "sub" }, h("b", { text: num(numbers[0], metric.unit) }), ` ${R.short(metric.title)}`)),
        group == null && h("span", { class: "sub" }, bdi(R.group(row).label)))))];
  }

  // --- overall ---
  function overallPage() {
    const groups = data.groups.map((group, i) => ({ ...group, i, b: R.benchmarks.get(group.benchmark) }));
    const models = data.overall.filter((model) => model.setting !== "human" && model.setting !== "floor");
    const rowOf = (model) => data.rows[Object.values(model.cells)[0]];
    const ranked = models.some((model) => model.rank != null);
    const rate = { low: 0, high: 100, unit: "percent" };
    const columns = [
      { ...RANK, id: "rank", title: "Rank", about: "From the mean win rate." },
      { ...MODEL, id: "model", title: "Model", node: (m) => modelCell({ ...rowOf(m), note: "", partial: "" }) },
      { id: "rate", title: "Mean win rate", about: "The share of the other models that it ranks above, averaged over benchmarks, in percent.", always: true, get: (m) => m.rate, node: (m) => R.meter(m.rate == null ? null : [100 * m.rate], rate) },
      { id: "covered", title: "Benchmarks", about: "Benchmarks with at least two ranked models that it is ranked on.", cls: "num", get: (m) => m.covered, node: (m) => `${m.covered} of ${m.of}` },
      ...groups.map((group) => {
        const metric = group.b.metrics[0], row = (m) => data.rows[m.cells[group.i]];
        return {
          id: group.id, title: group.main ? group.b.title : `${group.b.title} · ${group.label}`, about: `${group.label}. ${R.metricTip(metric)}`, group: "Main score", cls: "num", show: group.main && !R.narrow.matches,
          get: (m) => row(m)?.v[0]?.[0] ?? null, node: (m) => (row(m)?.v[0] ? num(row(m).v[0][0], metric.unit) : R.none("Not run")),
        };
      }),
    ];
    const filters = data.columns.filter((column) => column.filter && ["source", "open_weights"].includes(column.id));
    let keep = filtering(filters);
    const inBenchmark = (m) => !asked("bench") || Object.keys(m.cells).some((i) => data.groups[i].benchmark === asked("bench"));
    const holder = h("div", { class: "card table-card" });
    const table = R.table(holder, { rows: models, columns, label: "Overall", sort: ranked ? "rank:asc" : "rate:desc", keep: (m) => keep(rowOf(m)) && inBenchmark(m), text: (m) => [m.model, m.revision, m.setting] });
    const apply = () => { keep = filtering(filters); table.draw(); };
    const choices = declaredFilters(models.map(rowOf)).filter(([, name]) => filters.some((column) => column.id === name));
    main.replaceChildren(...[
      h("h1", { text: "Story and culture in video" }),
      h("p", { class: "lead" }, "How well video-language models understand films, cultures, time and drama. The overall score is the mean win rate over benchmarks; units are never mixed. ", R.link("How ranks are made", "#/about")),
      data.groups.length > 0 && data.groups.filter((group) => group.main).every((group) => group.mini) && h("p", { class: "card banner" }, "Mini data only: for trying things out."),
      R.toolbar(table, { filters: [["Benchmark", "bench", data.benchmarks.map((b) => [b.id, b.title])], ...choices], name: "overall", apply }),
      holder,
      !ranked && models.length > 0 && h("p", { class: "note" }, "No model is ranked overall yet: that takes results on at least half of the benchmarks. Each benchmark has its own ranking."),
      h("h2", { text: "Benchmarks" }), h("div", { class: "charts" }, data.benchmarks.map(summary)),
    ].filter(Boolean));
  }
  function summary(b) {
    const first = data.rows.find((row) => R.group(row).benchmark === b.id && R.group(row).main && row.rank === 1), metric = b.metrics[0];
    return h("section", { class: "card chart" }, h("h3", {}, R.link(b.title, `#/${b.id}`)), h("p", { text: b.summary }),
      h("p", {}, first ? ["First: ", h("b", {}, bdi(first.model)), `, ${num(first.v[0][0], metric.unit)} ${R.short(metric.title)} (${data.units[metric.unit].range})`] : "No ranked result yet."));
  }

  // --- text pages ---
  function submitPage() {
    const code = (text) => h("pre", { tabindex: 0 }, text);
    const note = (text) => h("p", { class: "note", text });
    const judges = data.benchmarks.filter((b) => b.judge).map((b) => `${b.title}: ${b.judge}`).join("; ");
    main.replaceChildren(h("h1", { text: "Submit in four commands" }), h("p", { class: "lead" }, "A submission is a folder with every answer. All numbers are computed again from it before anything is listed."),
      h("ol", { class: "steps" },
        h("li", {}, h("h2", { text: "Run your model" }), code("pip install 'reelbench[lmms-eval]'\nreelbench run -- --tasks reelbench --model qwen2_5_vl \\\n  --model_args pretrained=ORG/MODEL --output_path runs"), note("Any lmms-eval model works. Answers made elsewhere: reelbench score NAME --predictions FILE --model ORG/MODEL --output runs.")),
        h("li", {}, h("h2", { text: "Judge what needs a judge" }), code("reelbench score --run runs --judge MODEL --judge-prompts official"), note(`Some benchmarks have no score without one. To be listed beside the published numbers, take the authors’ judge and their prompts. ${judges ? `The authors’ judges: ${judges}.` : ""}`)),
        h("li", {}, h("h2", { text: "Check it as we will" }), code("reelbench leaderboard add runs --store results"), note("It names every number, id, count or hash that does not follow from the samples.")),
        h("li", {}, h("h2", { text: "Open a pull request" }), code("reelbench leaderboard publish --store results --dataset ORG/RESULTS --create-pr"), note("ORG/RESULTS is the results dataset of the leaderboard that you submit to. Its checks run the third command on your files."))),
      h("h2", { text: "What gets a rank" }), h("div", { class: "prose" }, h("p", { text: "Complete runs on a split whose answers are public, with one entry per model and setting; the newest stays. Runs with --limit are kept and marked partial. Judged benchmarks are listed by judge and prompt set, which are never mixed." })));
  }
  function aboutPage() {
    const paragraphs = data.rules.split(/\n\s*\n/).map((text) => h("p", {}, text.replace(/\s+/g, " ").split(/(\*\*[^*]+\*\*|`[^`]+`)/)
      .map((part) => (part.startsWith("**") ? h("b", { text: part.slice(2, -2) }) : part.startsWith("`") ? h("code", { text: part.slice(1, -1) }) : part))));
    main.replaceChildren(h("h1", { text: "How it works" }), h("div", { class: "prose" }, paragraphs),
      h("h2", { text: "What a cell says" }), h("div", { class: "prose" }, h("p", { text: "A dash is a result that is not there: not run, not judged, or not printed by the source. It is never a zero. Whiskers are 95 % intervals from a bootstrap over videos; published numbers have none." }),
        h("p", { text: "“recomputed” marks a run whose every number was computed again from its samples; “ids checked” says that its questions, references and labels were held to the benchmark’s own data as well." })),
      h("h2", { text: "Metrics" }), ...data.benchmarks.map(metricTable));
  }
  function metricTable(b) {
    return h("div", {}, h("h3", { text: b.title }), h("section", { class: "scroll", tabindex: 0, "aria-label": `Metrics of ${b.title}, scrolls sideways` }, h("table", {},
      h("thead", {}, h("tr", {}, ["Metric", "Scale", "What it measures", "Source"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, b.metrics.map((metric) => h("tr", {}, h("th", { scope: "row" }, metric.title), h("td", { class: "nowrap", text: data.units[metric.unit].range }), h("td", { text: metric.about || "–" }), h("td", { class: "sub", text: metric.cite || "–" })))))));
  }

  // --- go ---
  const TABS = [["overall", "Overall"], ...data.benchmarks.map((b) => [b.id, b.title])];
  function render() {
    R.settle();
    R.readAddress();
    R.charts.clear();
    const { page, name } = R.address;
    $("tabs").replaceChildren(...TABS.map(([id, title]) => h("a", { href: `#/${id}`, "aria-current": page === id ? "page" : null }, title)));
    if (page === "model") R.modelPage(main, name);
    else if (page === "submit") submitPage();
    else if (page === "about") aboutPage();
    else if (R.benchmarks.has(page)) benchmarkPage(R.benchmarks.get(page));
    else overallPage();
    const title = main.querySelector("h1")?.textContent;
    document.title = title ? `${title} · Reelbench` : "Reelbench leaderboard";
    $("tabs").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }
  addEventListener("hashchange", () => { render(); scrollTo(0, 0); main.focus({ preventScroll: true }); });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(stored || (dark.matches ? "dark" : "light"), false);
  if (!stored) dark.addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light", false));
  $("built").textContent = `${data.rows.length.toLocaleString("en")} results${data.newest ? `, the newest of ${data.newest.slice(0, 10)}` : ""}.`;
  render();
})();
