/* The page: tabs, the table, filters, permalinks, model pages. Every string from a result is set as text, never as HTML. */
"use strict";
(() => {
  const D = globalThis.REELBENCH;
  const $ = (id) => document.getElementById(id);
  const main = $("main");
  const narrow = matchMedia("(max-width: 640px)");
  const BY_ID = new Map(D.benchmarks.map((b) => [b.id, b]));
  const KIND = { run: "Run", published: "Published", baseline: "Floor", human: "Human" };
  const DIGITS = { percent: 1, points_0_5: 2, points_0_2: 2, fraction: 4, cider: 3 };
  const UNIT = { percent: "0 to 100", points_0_5: "0 to 5", points_0_2: "0 to 2", fraction: "0 to 1", cider: "0 to 10" };
  let table = null; // the DataTable on the page
  let state = null; // what the address says

  // --- small tools ---
  const esc = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  /** Make an element; strings among the children become text. */
  function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value == null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "text") element.textContent = value;
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child != null && child !== false));
    return element;
  }
  const bdi = (text, attributes) => h("bdi", { ...attributes, text });
  const say = (text) => { $("live").textContent = text; };
  const num = (value, unit) => (value == null ? "–" : value.toFixed(DIGITS[unit] ?? 2));
  // What the authors do is the rule; only the other way of aggregating is spelled out.
  const short = (title) => title.replace(/ \(per label\)$/, "");
  const bench = (row) => BY_ID.get(D.groups[row.group].benchmark);
  const metricIndex = (b, name) => b.metrics.findIndex((metric) => metric.name === name);
  const value = (row, i) => (row.v[i] ? row.v[i][0] : null);
  const modelHref = (model) => `#/model/${encodeURIComponent(model)}`;
  const safeUrl = (url) => (/^https?:\/\//.test(url || "") ? url : null);

  // --- files that are loaded when they are asked for ---
  const waiting = new Map();
  globalThis.REELBENCH_LOADED = (name, data) => waiting.get(name)?.resolve(data);
  function load(name) {
    if (!waiting.has(name)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => { entry.resolve = resolve; entry.reject = reject; });
      waiting.set(name, entry);
      const script = h("script", { src: `data/${name}.js` });
      script.onerror = () => { waiting.delete(name); entry.reject(new Error(`data/${name}.js could not be loaded`)); };
      document.head.append(script);
    }
    return waiting.get(name).promise;
  }
  const loadRun = (row) => load(`runs/${row.id}`);

  // --- the address ---
  function readAddress() {
    const raw = location.hash.replace(/^#\/?/, "");
    const cut = raw.indexOf("?");
    const path = (cut < 0 ? raw : raw.slice(0, cut)).split("/");
    const query = new URLSearchParams(cut < 0 ? "" : raw.slice(cut + 1));
    let name = path.slice(1).join("/");
    try { name = decodeURIComponent(name); } catch { /* as it stands */ }
    return { page: path[0] || "overall", name, query };
  }
  let writing = 0;
  function setQuery(changes, typing) {
    for (const [name, text] of Object.entries(changes)) {
      if (text == null || text === "") state.query.delete(name);
      else state.query.set(name, text);
    }
    const query = state.query.toString();
    const path = state.name ? `${state.page}/${encodeURIComponent(state.name)}` : state.page;
    const write = () => history.replaceState(null, "", `#/${path}${query ? `?${query}` : ""}`);
    clearTimeout(writing);
    // Browsers take their time over each change of the address, so typing changes it when it rests.
    if (typing) writing = setTimeout(write, 150);
    else write();
  }

  // --- theme ---
  const stored = (() => { try { return localStorage.getItem("reelbench-theme"); } catch { return null; } })();
  function setTheme(theme, keep) {
    document.documentElement.dataset.theme = theme;
    $("theme").setAttribute("aria-pressed", String(theme === "dark"));
    if (keep) { try { localStorage.setItem("reelbench-theme", theme); } catch { /* private mode */ } }
    globalThis.REELBENCH_CHARTS.redraw();
  }
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", true));

  // --- cells ---
  function meter(row, i, metric) {
    const found = row.v[i];
    if (!found) return '<span class="none">–</span>';
    const high = metric.high ?? 100, low = metric.low ?? 0;
    const at = (x) => Math.max(0, Math.min(100, (100 * (x - low)) / (high - low)));
    const whisk = found.length > 1
      ? `<i class="whisk" style="left:${at(found[1]).toFixed(1)}%;width:${(at(found[2]) - at(found[1])).toFixed(1)}%"></i>` : "";
    const title = found.length > 1 ? `${num(found[0], metric.unit)}, 95 % interval ${num(found[1], metric.unit)} to ${num(found[2], metric.unit)}` : "";
    return `<span class="meter"${title ? ` title="${title}"` : ""}><b>${num(found[0], metric.unit)}</b><span class="track" aria-hidden="true">` +
      `<i class="fill" style="width:${at(found[0]).toFixed(1)}%"></i>${whisk}</span>${title ? `<span class="sr">${title}</span>` : ""}</span>`;
  }
  function modelCell(row) {
    const kind = row.kind === "run" ? '<span class="badge run" title="Recomputed from samples">recomputed</span>' : `<span class="badge" title="Quoted; can’t be recomputed">${esc(KIND[row.kind].toLowerCase())}</span>`;
    const setting = row.setting !== "run" && row.setting !== "floor" && row.setting !== "human" ? `<span class="badge">${esc(row.setting)}</span>` : "";
    const partial = row.partial ? `<span class="badge warn" title="${esc(row.partial)}">partial</span>` : "";
    const ids = row.ids === "unchecked" ? '<span class="badge" title="The benchmark’s data was not on the machine that checked this: ids and targets are as the result states them">ids unchecked</span>' : "";
    const note = row.note ? `<span class="badge warn" title="${esc(row.note)}" aria-label="Note: ${esc(row.note)}">note</span>` : "";
    return `<a class="name" href="${esc(modelHref(row.model))}"><bdi>${esc(row.model)}</bdi></a>` +
      `${row.rev ? ` <span class="sub"><bdi>${esc(row.rev.slice(0, 12))}</bdi></span>` : ""}<span class="badges">${kind}${setting}${partial}${ids}${note}</span>`;
  }
  const rankCell = (rank) => (rank == null ? '<span class="none" title="Not ranked">–</span>' : `<span class="rank r${rank}">${rank}</span>`);

  // --- table ---
  /** Columns: {id, title, cls, text(row), sort(row), html(row), show}. */
  function makeTable(holder, rows, columns, options) {
    const element = h("table", { class: "display" });
    holder.replaceChildren(element);
    const chosen = state.query.get("cols");
    const shown = chosen == null ? null : new Set(chosen.split(","));
    const start = (state.query.get("sort") || options.sort).split(":");
    const at = columns.findIndex((column) => column.id === start[0]), then = columns.findIndex((column) => column.id === options.then);
    table = new DataTable(element, {
      data: rows,
      deferRender: true,
      autoWidth: false,
      orderClasses: false,
      pageLength: rows.length > 500 ? 25 : 50,
      lengthChange: false,
      order: at < 0 ? [] : [[at, start[1] === "asc" ? "asc" : "desc"], ...(then < 0 || then === at ? [] : [[then, "desc"]])],
      layout: { topStart: null, topEnd: null, bottomStart: "info", bottomEnd: "paging" },
      language: { info: "_START_ to _END_ of _TOTAL_", infoEmpty: "Nothing matches", infoFiltered: "(of _MAX_)", zeroRecords: "Nothing matches these filters.", emptyTable: "No results yet." },
      columns: columns.map((column) => ({
        title: esc(column.title),
        className: column.cls || "",
        visible: shown ? shown.has(column.id) || column.always === true : column.show !== false,
        orderable: !column.control,
        orderSequence: column.asc ? ["asc", "desc"] : ["desc", "asc"],
        data: null,
        type: column.sort ? "num" : "string",
        searchable: false,
        render: (_, kind, row) => {
          if (kind === "display") return column.html ? column.html(row) : esc(column.text(row) ?? "–");
          if (column.sort && kind !== "filter") return column.sort(row) ?? (column.asc ? Infinity : -Infinity);
          return column.text ? column.text(row) ?? "" : "";
        },
      })),
    });
    // Our own search: every word somewhere in the row's text, made once. DataTables would render each cell to search it.
    const texts = new Map();
    let wanted = null, words = [];
    const matches = (row) => {
      const query = state.query.get("q") || "";
      if (query !== wanted) { wanted = query; words = query.toLowerCase().split(/\s+/).filter(Boolean); }
      if (!words.length) return true;
      let text = texts.get(row);
      if (text === undefined) texts.set(row, text = options.text(row).join(" ").toLowerCase());
      return words.every((word) => text.includes(word));
    };
    table.search.fixed("filters", (_, row) => matches(row) && options.keep(row));
    table.on("order", () => {
      const first = table.order()[0];
      if (first) setQuery({ sort: `${columns[first[0]].id}:${first[1]}` });
    });
    table.on("draw", () => say(`${table.page.info().recordsDisplay} rows`));
    table.draw();
    return table;
  }
  function columnMenu(columns) {
    const pop = h("div", { class: "pop", role: "group", "aria-label": "Columns" });
    columns.forEach((column, i) => {
      if (column.always) return;
      const box = h("input", { type: "checkbox" });
      box.checked = table.column(i).visible();
      box.addEventListener("change", () => {
        table.column(i).visible(box.checked);
        setQuery({ cols: columns.filter((_, j) => table.column(j).visible()).map((c) => c.id).join(",") });
      });
      pop.append(h("label", {}, box, column.title));
    });
    return h("details", { class: "menu" }, h("summary", { class: "tool" }, "Columns"), pop);
  }
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) { menu.open = false; menu.firstChild.focus(); }
  });

  /** Save what the table shows now. Text that a spreadsheet would run begins with an apostrophe. */
  function download(columns, name, kind) {
    const rows = table.rows({ search: "applied", order: "applied" }).data().toArray();
    const visible = columns.filter((column, i) => table.column(i).visible() && !column.control);
    const cell = (column, row) => (column.sort ? column.sort(row) : column.text(row)) ?? null;
    let text;
    if (kind === "json") text = JSON.stringify(rows.map((row) => Object.fromEntries(visible.map((c) => [c.id, cell(c, row)]))), null, 1);
    else {
      const quote = (content) => {
        if (content == null) return "";
        let plain = String(content);
        if (typeof content !== "number" && /^[=+\-@\t\r\n＝＋－＠]/.test(plain)) plain = `'${plain}`;
        return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
      };
      text = [visible.map((c) => quote(c.title)), ...rows.map((row) => visible.map((c) => quote(cell(c, row))))].map((line) => line.join(",")).join("\r\n");
    }
    const url = URL.createObjectURL(new Blob([text], { type: kind === "json" ? "application/json" : "text/csv;charset=utf-8" }));
    const link = h("a", { href: url, download: `${name}.${kind}` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  // --- filters ---
  function select(label, name, choices, apply) {
    const box = h("select", { id: `f-${name}` }, h("option", { value: "" }, "All"), choices.map(([v, text]) => h("option", { value: v }, text)));
    box.value = state.query.get(name) || "";
    box.addEventListener("change", () => { setQuery({ [name]: box.value }); apply(); });
    return h("label", { class: "field" }, label, box);
  }
  const options = (rows, get) => [...new Set(rows.map(get).filter((x) => x != null && x !== ""))]
    .sort((a, b) => String(a).localeCompare(String(b), undefined, { numeric: true })).map((x) => [x, x]);
  function search(apply) {
    const box = h("input", { type: "search", id: "q", placeholder: "Model, setting, source…", autocomplete: "off", spellcheck: "false" });
    box.value = state.query.get("q") || "";
    box.addEventListener("input", () => { setQuery({ q: box.value }, true); apply(); });
    return h("label", { class: "field grow" }, "Search", box);
  }
  function toolbar(fields, columns, name) {
    const copied = h("button", { type: "button", class: "tool", onclick: () => { setQuery({}); navigator.clipboard?.writeText(location.href).then(() => say("Link copied"), () => {}); copied.textContent = "Copied"; setTimeout(() => { copied.textContent = "Copy link"; }, 1500); } }, "Copy link");
    const save = h("details", { class: "menu" }, h("summary", { class: "tool" }, "Download"), h("div", { class: "pop" },
      h("button", { type: "button", class: "link", id: "save-csv", onclick: () => download(columns, name, "csv") }, "This view as CSV"),
      h("button", { type: "button", class: "link", id: "save-json", onclick: () => download(columns, name, "json") }, "This view as JSON"),
      BY_ID.has(name) && h("a", { href: `downloads/${name}.csv`, download: `${name}.csv` }, "All rows of this benchmark as CSV"),
      h("a", { href: "downloads/leaderboard.json", download: "leaderboard.json" }, "The whole leaderboard as JSON")));
    return h("div", { class: "bar-row" }, fields, columnMenu(columns), save, copied);
  }

  // --- pages ---
  function benchmarkPage(b) {
    const rows = D.rows.filter((row) => D.groups[row.group].benchmark === b.id);
    const groups = D.groups.map((group, i) => ({ ...group, i })).filter((group) => group.benchmark === b.id);
    const asked = state.query.get("group");
    let group = asked === "all" ? null : (groups.find((g) => g.id === asked) || groups[0]).i;
    if (asked == null && (state.query.get("split") || state.query.get("judge"))) group = null;
    const primary = b.metrics[0];
    const hasValue = (i) => rows.some((row) => row.v[i] && (group == null || row.group === group));
    const apart = (row) => row.kind === "baseline" || row.kind === "human";
    const picked = new Set((state.query.get("pick") || "").split(",").filter(Boolean));
    const columns = [
      { id: "pick", title: "Chart", always: true, control: true, text: () => "", html: (row) => `<input type="checkbox" class="pick" data-id="${row.id}"${picked.has(row.id) ? " checked" : ""} aria-label="Draw ${esc(row.model)} in the charts">`, show: !narrow.matches },
      { id: "rank", title: "Rank", cls: "num", always: true, asc: true, sort: (row) => row.rank ?? null, html: (row) => rankCell(row.rank) },
      { id: "model", title: "Model", cls: "model-cell", always: true, asc: true, text: (row) => `${row.model} ${row.rev || ""}`, html: modelCell },
      { id: primary.name, title: short(primary.title), sort: (row) => value(row, 0), html: (row) => meter(row, 0, primary) },
      ...b.metrics.slice(1).map((metric, k) => ({
        id: metric.name, title: short(metric.title), cls: "num", sort: (row) => value(row, k + 1), show: !narrow.matches && hasValue(k + 1) && !metric.name.endsWith("_per_question"),
        html: (row) => (row.v[k + 1] ? num(row.v[k + 1][0], metric.unit) : '<span class="none">–</span>'),
      })),
      { id: "setting", title: "Setting", asc: true, text: (row) => row.setting, show: false },
      { id: "split", title: "Split", asc: true, text: (row) => { const g = D.groups[row.group]; return g.subset ? `${g.split}, ${g.subset}` : g.split; }, show: group == null && !narrow.matches },
      { id: "judge", title: "Judge", asc: true, text: (row) => D.groups[row.group].judge || "none", show: group == null && !narrow.matches && groups.some((g) => g.judge) },
      { id: "prompts", title: "Judge’s prompts", asc: true, text: (row) => D.groups[row.group].prompts || "none", show: false },
      { id: "frames", title: "Frames", asc: true, text: (row) => row.frames, show: !narrow.matches },
      { id: "items", title: "Scored items", cls: "num", sort: (row) => row.scored ?? null, html: (row) => (row.items == null ? '<span class="none">–</span>' : `${row.scored} of ${row.items}`), show: false },
      { id: "weights", title: "Open weights", asc: true, text: (row) => ({ true: "yes", false: "no" })[row.open] || "unknown", show: false },
      { id: "source", title: "Source", asc: true, text: (row) => (row.kind === "run" ? "run" : row.cite || row.kind), html: (row) => `<span class="sub">${esc(row.kind === "run" ? "run" : row.cite || row.kind)}</span>`, show: false },
      { id: "date", title: "Date", asc: true, text: (row) => (row.date || "").slice(0, 10), show: false },
    ];
    const q = () => state.query;
    const keep = (row) => {
      if (apart(row)) return false;
      const g = D.groups[row.group];
      if (group != null && row.group !== group) return false;
      if (q().get("split") && g.split !== q().get("split")) return false;
      if (q().get("judge") && (g.judge || "none") !== q().get("judge")) return false;
      if (q().get("frames") && row.frames !== q().get("frames")) return false;
      if (q().get("open") && (({ true: "yes", false: "no" })[row.open] || "unknown") !== q().get("open")) return false;
      if (q().get("src") && row.kind !== q().get("src")) return false;
      return true;
    };
    const chips = h("div", { class: "chips", role: "group", "aria-label": "Comparable groups: one split, judge and prompt set each" });
    const choose = (g) => { setQuery({ group: g == null ? "all" : D.groups[g].id, split: null, judge: null, cols: null, sort: null }); render(); };
    for (const g of groups) {
      const count = rows.filter((row) => row.group === g.i).length;
      chips.append(h("button", { type: "button", class: "chip", "aria-pressed": String(group === g.i), onclick: () => choose(g.i) }, bdi(g.label), h("b", { text: count })));
    }
    if (groups.length > 1) chips.append(h("button", { type: "button", class: "chip", "aria-pressed": String(group == null), onclick: () => choose(null) }, "All groups", h("b", { text: rows.length })));

    const holder = h("div", { class: "card table-card" });
    let later = 0; // the table answers at once, the pictures when typing rests
    const chartsSoon = () => { clearTimeout(later); later = setTimeout(charts, 200); };
    const apply = () => { table.draw(); chartsSoon(); };
    const wide = (name) => { if (group != null && state.query.get(name)) { setQuery({ group: "all" }); render(); } else apply(); };
    const fields = [
      search(apply),
      select("Split", "split", options(rows, (row) => D.groups[row.group].split), () => wide("split")),
      groups.some((g) => g.judge) && select("Judge", "judge", options(rows, (row) => D.groups[row.group].judge || "none"), () => wide("judge")),
      select("Frames", "frames", options(rows, (row) => row.frames), apply),
      select("Open weights", "open", [["yes", "Yes"], ["no", "No"], ["unknown", "Unknown"]], apply),
      select("Source", "src", [["run", "Runs"], ["published", "Published"]], apply),
    ];
    const g = group == null ? null : D.groups[group];
    const paper = safeUrl(b.paper.url), home = safeUrl(b.homepage);
    main.replaceChildren(
      h("h1", { text: b.title }),
      h("p", { class: "lead" }, b.summary, " ", paper && h("a", { href: paper, rel: "noopener" }, "Paper"), paper && " · ", home && h("a", { href: home, rel: "noopener" }, "Data")),
      chips);
    if (g && g.mini) main.append(h("p", { class: "card banner" }, "A dozen questions written for trying things out. Nothing here says how good a model is."));
    if (group == null) main.append(h("p", { class: "note" }, "Rows of different groups are not comparable with each other; each group has its own ranks."));
    const place = h("div");
    main.append(place, holder);
    makeTable(holder, rows, columns, {
      sort: "rank:asc", then: primary.name, keep, text: (row) => [row.model, row.rev, row.setting, row.frames, row.kind, row.cite, D.groups[row.group].label],
    });
    holder.querySelector("table").setAttribute("aria-label", `${b.title}${g ? `, ${g.label}` : ""}`);
    place.replaceWith(toolbar(fields, columns, b.id));
    const refs = rows.filter((row) => apart(row) && (group == null || row.group === group));
    if (refs.length) {
      main.append(h("h2", { text: "Reference points" }), h("p", { class: "note", text: "Set apart and not ranked: what answering without looking gets, and what people get." }),
        h("ul", { class: "refs" }, refs.map((row) => h("li", { class: "card" },
          h("span", { class: `badge ${row.kind === "human" ? "human" : "floor"}` }, KIND[row.kind]), h("a", { class: "name", href: modelHref(row.model) }, bdi(row.model)),
          b.metrics.map((metric, i) => ({ metric, i })).filter(({ i }) => row.v[i]).slice(0, 3).map(({ metric, i }) => h("span", { class: "sub" }, h("b", { text: num(value(row, i), metric.unit) }), ` ${metric.title}`)),
          group == null && h("span", { class: "sub" }, bdi(D.groups[row.group].label))))));
    }
    const picks = h("p", { class: "picks", "aria-live": "polite" });
    const canvas = h("div", { class: "charts" });
    main.append(h("h2", { text: "Charts" }), picks, canvas);
    const charts = () => {
      if (!canvas.isConnected) return;
      const shown = table.rows({ search: "applied", order: "applied" }).data().toArray();
      const chosen = picked.size ? rows.filter((row) => picked.has(row.id)) : shown.slice(0, 6);
      picks.textContent = picked.size ? `Radar and heat map draw the ${picked.size} rows ticked in the table.` : "Radar and heat map draw the first rows of the table; tick rows to choose others.";
      globalThis.REELBENCH_CHARTS.draw(canvas, { b, rows: shown, chosen, refs, groups: D.groups, loadRun });
    };
    holder.addEventListener("change", (event) => {
      if (!event.target.classList.contains("pick")) return;
      const { id } = event.target.dataset;
      if (event.target.checked) picked.add(id); else picked.delete(id);
      setQuery({ pick: [...picked].join(",") });
      charts();
    });
    table.on("order", chartsSoon);
    charts();
  }

  function overallPage() {
    const cells = D.groups.map((group, i) => ({ ...group, i, b: BY_ID.get(group.benchmark) }));
    const rows = D.overall.filter((model) => model.setting !== "human" && model.setting !== "floor");
    const anyRow = (model) => D.rows[Object.values(model.cells)[0]];
    const columns = [
      { id: "rank", title: "Rank", cls: "num", asc: true, always: true, sort: (m) => m.rank, html: (m) => rankCell(m.rank) },
      { id: "model", title: "Model", cls: "model-cell", asc: true, always: true, text: (m) => `${m.model} ${m.revision || ""} ${m.setting}`, html: (m) => modelCell({ ...anyRow(m), note: "", partial: "" }) },
      { id: "rate", title: "Mean win rate", sort: (m) => m.rate, html: (m) => meter({ v: [m.rate == null ? null : [100 * m.rate]] }, 0, { unit: "percent", low: 0, high: 100 }) },
      { id: "covered", title: "Benchmarks", cls: "num", sort: (m) => m.covered, html: (m) => `${m.covered} of ${m.of}` },
      ...cells.map((group) => ({
        id: group.id, title: group.main ? group.b.title : `${group.b.title} · ${group.label}`, cls: "num", show: group.main && !narrow.matches,
        sort: (m) => (group.i in m.cells ? value(D.rows[m.cells[group.i]], 0) : null),
        html: (m) => { const row = D.rows[m.cells[group.i]]; return row && row.v[0] ? num(row.v[0][0], group.b.metrics[0].unit) : '<span class="none" title="Not run">–</span>'; },
      })),
    ];
    const q = () => state.query;
    const keep = (m) => {
      const row = anyRow(m);
      if (q().get("bench") && !Object.keys(m.cells).some((i) => D.groups[i].benchmark === q().get("bench"))) return false;
      if (q().get("open") && (({ true: "yes", false: "no" })[row.open] || "unknown") !== q().get("open")) return false;
      if (q().get("src") && row.kind !== q().get("src")) return false;
      return true;
    };
    const apply = () => table.draw();
    const holder = h("div", { class: "card table-card" });
    const ranked = rows.some((m) => m.rank != null);
    main.replaceChildren(
      h("h1", { text: "Story and culture in video" }),
      h("p", { class: "lead" }, "How well video-language models understand films, cultures, time and drama. The overall score is the mean win rate over benchmarks; units are never mixed. ", h("a", { href: "#/about" }, "How ranks are made")));
    if (D.groups.length && D.groups.filter((x) => x.main).every((x) => x.mini)) main.append(h("p", { class: "card banner" }, "Mini data only: for trying things out."));
    const place = h("div");
    main.append(place, holder);
    if (!ranked && rows.length) main.append(h("p", { class: "note" }, "No model is ranked overall yet: that takes results on at least half of the benchmarks. Each benchmark has its own ranking."));
    makeTable(holder, rows, columns, { sort: ranked ? "rank:asc" : "rate:desc", keep, text: (m) => [m.model, m.revision, m.setting] });
    holder.querySelector("table").setAttribute("aria-label", "Overall");
    place.replaceWith(toolbar([
      search(apply),
      select("Benchmark", "bench", D.benchmarks.map((b) => [b.id, b.title]), apply),
      select("Open weights", "open", [["yes", "Yes"], ["no", "No"], ["unknown", "Unknown"]], apply),
      select("Source", "src", [["run", "Runs"], ["published", "Published"]], apply),
    ], columns, "overall"));
    main.append(h("h2", { text: "Benchmarks" }), h("div", { class: "charts" }, D.benchmarks.map((b) => {
      const mains = D.rows.filter((row) => D.groups[row.group].benchmark === b.id && D.groups[row.group].main && row.rank === 1);
      return h("section", { class: "card chart" }, h("h3", {}, h("a", { href: `#/${b.id}` }, b.title)), h("p", { text: b.summary }),
        h("p", {}, mains.length ? ["First: ", h("b", {}, bdi(mains[0].model)), ` ${num(value(mains[0], 0), b.metrics[0].unit)} ${b.metrics[0].title}`] : "No ranked result yet."), h("p", { text: " " }));
    })));
  }

  // --- a model's page ---
  function modelPage(name) {
    const rows = D.rows.filter((row) => row.model === name);
    main.replaceChildren(h("h1", {}, bdi(name || "Unknown model")));
    if (!rows.length) { main.append(h("p", { class: "lead" }, "No result of this name. ", h("a", { href: "#/overall" }, "All models"))); return; }
    const overall = D.overall.filter((m) => m.model === name && m.rank != null);
    main.append(h("p", { class: "lead" }, `${rows.length} result${rows.length > 1 ? "s" : ""}`, overall.length ? `, overall rank ${overall[0].rank} (${overall[0].covered} of ${overall[0].of} benchmarks)` : "", "."));
    main.append(h("div", { class: "grid" }, rows.map((row, i) => entryCard(row, i === 0))));
  }
  function entryCard(row, open) {
    const b = bench(row), g = D.groups[row.group], primary = b.metrics[0];
    const first = b.metrics.findIndex((_, i) => row.v[i]);
    const head = h("header", {}, h("div", {}, h("h2", {}, h("a", { href: `#/${b.id}?group=${encodeURIComponent(g.id)}` }, b.title)), h("span", { class: "sub" }, bdi(g.label))),
      h("div", {}, row.rank != null && h("span", { class: "badge run" }, `rank ${row.rank}`), row.partial && h("span", { class: "badge warn" }, `partial: ${row.partial}`),
        h("span", { class: "badge" }, row.kind === "run" ? "recomputed from samples" : row.kind === "published" ? "published, can’t be recomputed" : KIND[row.kind]),
        row.ids && h("span", { class: "badge", title: "Whether ids and targets were held to the benchmark’s own data" }, `ids ${row.ids}`)));
    const tiles = h("div", { class: "tiles" }, b.metrics.map((metric, i) => row.v[i] && h("div", { class: "tile" }, h("b", { text: num(row.v[i][0], metric.unit) }), metric.title,
      row.v[i].length > 1 ? h("div", {}, `${num(row.v[i][1], metric.unit)} to ${num(row.v[i][2], metric.unit)}`) : null)));
    const more = h("div", {}, h("p", { class: "note" }, "Loading…"));
    const details = h("details", {}, h("summary", { text: "Settings, provenance, breakdowns" }), more);
    const samples = h("details", {}, h("summary", { text: "Samples" }));
    let done = false;
    const fill = async () => {
      if (done) return;
      done = true;
      try {
        const run = await loadRun(row);
        more.replaceChildren(facts(row, run), ...breakdowns(b, run));
      } catch (error) { done = false; more.replaceChildren(h("p", { class: "note", text: error.message })); }
    };
    details.addEventListener("toggle", fill);
    samples.addEventListener("toggle", async () => {
      if (!samples.open || samples.children.length > 1) return;
      const run = await loadRun(row);
      samples.append(browser(row, run));
    });
    if (open) details.open = true;
    return h("section", { class: "card entry", "aria-label": `${b.title}, ${g.label}` }, head, first < 0 ? h("p", { class: "note" }, "No score: the answers are hidden, or nobody judged them yet.") : tiles,
      row.note && h("p", { class: "banner", text: row.note }), details, row.kind === "published" || row.kind === "human" || (row.kind === "baseline" && !row.items) ? null : samples, primary ? null : null);
  }
  function facts(row, run) {
    const pairs = [];
    const add = (name, content) => { if (content != null && content !== "" && !(typeof content === "object" && !(content instanceof Node) && !Object.keys(content).length)) pairs.push([name, content instanceof Node ? content : bdi(typeof content === "object" ? JSON.stringify(content) : String(content))]); };
    add("Setting", row.setting);
    add("Frames", row.frames);
    const r = run.result;
    if (r) {
      add("Revision", r.model.revision); add("Adapter", r.model.adapter); add("Arguments", r.model.args);
      add("Generation", r.settings.generation); add("Seed", r.settings.seed); add("Frames given", r.settings.frames_given); add("Prompt", r.settings.prompt_sha256);
      const s = r.benchmark.source; add("Data", [s.kind, s.location, s.revision].filter(Boolean).join(" · ")); add("Data fingerprint", s.fingerprint);
      if (r.judge) { add("Judge asked", r.judge.requested); add("Judge that answered", r.judge.returned); add("Judge’s prompts", `${r.judge.prompt} ${r.judge.prompt_sha256}`); add("Judge’s settings", { temperature: r.judge.temperature, votes: r.judge.votes, rule: r.judge.vote_rule }); add("Judge’s cost", r.judge.cost_usd == null ? null : `${r.judge.cost_usd} USD`); }
      const { unscored, ...counts } = r.counts; add("Counts", Object.fromEntries(Object.entries(counts).filter(([, v]) => v))); add("Unscored", unscored);
      add("Samples sha256", r.provenance.samples_sha256); add("Date", r.provenance.date); add("Software", r.software); add("In the store", run.key);
    }
    const url = safeUrl(row.url);
    add("Source", row.cite && url ? h("a", { href: url, rel: "noopener" }, bdi(row.cite)) : row.cite);
    return h("dl", { class: "kv" }, pairs.flatMap(([name, content]) => [h("dt", { text: name }), h("dd", {}, content)]));
  }
  function breakdowns(b, run) {
    return b.facets.filter((facet) => run.breakdowns[facet.name]).map((facet) => {
      const labels = run.breakdowns[facet.name];
      const names = [...new Set(Object.values(labels).flatMap(Object.keys))];
      const unit = (name) => b.metrics.find((metric) => metric.name === name)?.unit || "percent";
      const title = (name) => b.metrics.find((metric) => metric.name === name)?.title || { rate: "Answered right", weighted_rate: "Points won" }[name] || name;
      return h("div", { class: "scroll" }, h("h3", { text: facet.title.replace(/\.$/, "") }), h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, facet.name), names.map((name) => h("th", { class: "num", scope: "col" }, title(name))))),
        h("tbody", {}, Object.entries(labels).map(([label, metrics]) => h("tr", {}, h("th", { scope: "row" }, bdi(label)), names.map((name) => h("td", { class: "num" }, metrics[name] ? num(metrics[name][0], unit(name)) : "–")))))));
    });
  }

  // --- samples ---
  const LONG = 4000;
  function longText(content) {
    const text = content == null ? "" : typeof content === "string" ? content : JSON.stringify(content);
    const box = h("div", { class: "text", dir: "auto", tabindex: text.length > 600 ? 0 : null });
    if (text.length <= LONG) { box.textContent = text || "(nothing)"; return box; }
    box.textContent = `${text.slice(0, LONG)}…`;
    return h("div", {}, box, h("button", { type: "button", class: "link", onclick: (event) => { box.textContent = text; event.target.remove(); } }, `Show all ${text.length.toLocaleString("en")} characters`));
  }
  function sampleCard(sample) {
    const scores = Object.entries(sample.scores).map(([name, score]) => `${name} ${+score.toFixed(3)}`).join(" · ");
    const replies = (sample.judge_replies || []).map((reply) => h("div", {}, h("small", { text: `${reply.criterion}${reply.vote ? `, vote ${reply.vote + 1}` : ""}${reply.attempt ? `, attempt ${reply.attempt + 1}` : ""}: ${reply.score ?? "no score in it"}` }), longText(reply.raw)));
    return h("article", { class: "sample" }, h("h4", {}, bdi(sample.id), sample.state === "unscored" && h("span", { class: "badge warn" }, sample.reason), (sample.flags || []).map((flag) => h("span", { class: "badge warn" }, flag))),
      h("div", { class: "says" }, h("div", {}, h("small", { text: "Answer" }), longText(sample.prediction)), h("div", {}, h("small", { text: "Reference" }), longText(sample.target.text ?? sample.target))),
      h("p", { class: "note" }, [sample.video && `video ${sample.video}`, Object.values(sample.facets || {}).flat().join(", "), scores, sample.frame_timestamps && `${sample.frame_timestamps.length} frames`].filter(Boolean).join(" — ")),
      replies.length ? h("details", {}, h("summary", { text: `Judge’s replies (${replies.length})` }), replies) : null);
  }
  function browser(row, run) {
    const list = h("div"), find = h("input", { type: "search", placeholder: "id or words", "aria-label": "Search these samples" });
    const which = h("select", { "aria-label": "Part of the samples" }, Array.from({ length: run.samples }, (_, i) => h("option", { value: i }, `part ${i + 1} of ${run.samples}`)));
    let all = [];
    const show = () => {
      const text = find.value.toLowerCase();
      list.replaceChildren(...all.filter((s) => !text || JSON.stringify([s.id, s.prediction, s.target, s.video]).toLowerCase().includes(text)).map(sampleCard));
    };
    const get = async () => {
      try { all = await load(`samples/${row.id}-${which.value}`); show(); } catch (error) { list.replaceChildren(h("p", { class: "note", text: error.message })); }
    };
    which.addEventListener("change", get);
    find.addEventListener("input", show);
    if (run.withheld) return h("p", { class: "note", text: "This benchmark’s data is under an agreement, so its samples are not passed on." });
    if (run.samples) get();
    return h("div", {}, h("div", { class: "bar-row" }, h("label", { class: "field grow" }, "Search", find), run.samples > 1 && h("label", { class: "field" }, "Part", which)), list);
  }

  // --- text pages ---
  function submitPage() {
    const code = (text) => h("pre", { tabindex: 0 }, text);
    main.replaceChildren(h("h1", { text: "Submit in three commands" }), h("p", { class: "lead" }, "A submission is a folder with every answer. All numbers are computed again from it before anything is listed."),
      h("ol", { class: "steps" },
        h("li", {}, h("h3", { text: "Run your model" }), code("pip install 'reelbench[lmms-eval]'\nreelbench run -- --tasks reelbench --model qwen2_5_vl \\\n  --model_args pretrained=ORG/MODEL --output_path runs"), h("p", { class: "note", text: "Any lmms-eval model works. Answers made elsewhere: reelbench score NAME --predictions FILE --model ORG/MODEL --output runs." })),
        h("li", {}, h("h3", { text: "Check it as we will" }), code("reelbench leaderboard add runs --store results"), h("p", { class: "note", text: "It names every number, id, count or hash that does not follow from the samples." })),
        h("li", {}, h("h3", { text: "Open a pull request" }), code("reelbench leaderboard publish --store results --dataset ORG/RESULTS --create-pr"), h("p", { class: "note", text: "The results dataset’s checks run the second command on your files." }))),
      h("h2", { text: "What gets a rank" }), h("div", { class: "prose" }, h("p", { text: "Complete runs on a split whose answers are public, with one entry per model and setting; the newest stays. Runs with --limit are kept and marked partial. Judged benchmarks are listed by judge and prompt set, which are never mixed." })));
  }
  function aboutPage() {
    const paragraphs = D.rules.split(/\n\s*\n/).map((text) => {
      const p = h("p");
      text.replace(/\s+/g, " ").split(/(\*\*[^*]+\*\*|`[^`]+`)/).forEach((part) => p.append(part.startsWith("**") ? h("b", { text: part.slice(2, -2) }) : part.startsWith("`") ? h("code", { text: part.slice(1, -1) }) : part));
      return p;
    });
    main.replaceChildren(h("h1", { text: "How it works" }), h("div", { class: "prose" }, paragraphs),
      h("h2", { text: "What a cell says" }), h("div", { class: "prose" }, h("p", { text: "A dash is a result that is not there: not run, not judged, or not printed by the source. It is never a zero. Whiskers are 95 % intervals from a bootstrap over videos; published numbers have none." }),
        h("p", { text: "“recomputed” marks a run whose every number was computed again from its samples; “ids checked” says that its questions, references and labels were held to the benchmark’s own data as well." })),
      h("h2", { text: "Metrics" }), ...D.benchmarks.map((b) => h("div", { class: "scroll" }, h("h3", { text: b.title }), h("table", {}, h("tbody", {}, b.metrics.map((metric) => h("tr", {}, h("th", { scope: "row" }, metric.title), h("td", { text: UNIT[metric.unit] }), h("td", { class: "sub", text: metric.cite }))))))));
  }

  // --- go ---
  const TABS = [["overall", "Overall"], ...D.benchmarks.map((b) => [b.id, b.title])];
  function render() {
    clearTimeout(writing);
    state = readAddress();
    if (table) { table.destroy(); table = null; }
    globalThis.REELBENCH_CHARTS.clear();
    $("tabs").replaceChildren(...TABS.map(([id, title]) => h("a", { href: `#/${id}`, "aria-current": state.page === id ? "page" : null }, title)));
    if (state.page === "model") modelPage(state.name);
    else if (state.page === "submit") submitPage();
    else if (state.page === "about") aboutPage();
    else if (BY_ID.has(state.page)) benchmarkPage(BY_ID.get(state.page));
    else overallPage();
    const title = main.querySelector("h1")?.textContent;
    document.title = title ? `${title} · Reelbench` : "Reelbench leaderboard";
  }
  addEventListener("hashchange", () => { render(); scrollTo(0, 0); main.focus({ preventScroll: true }); });
  DataTable.ext.errMode = "none";
  setTheme(stored || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"), false);
  if (!stored) matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => setTheme(event.matches ? "dark" : "light", false));
$("built").textContent = `${D.rows.length.toLocaleString("en")} results${D.newest ? `, the newest of ${D.newest.slice(0, 10)}` : ""}.`;
  render();
})();
