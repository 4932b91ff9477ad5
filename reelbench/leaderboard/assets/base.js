/* What all scripts of the page share: elements, numbers in their units, files loaded on demand, the address. */
"use strict";
globalThis.Reelbench = (() => {
  const data = globalThis.REELBENCH;
  const narrow = matchMedia("(max-width: 640px)");
  const benchmarks = new Map(data.benchmarks.map((benchmark) => [benchmark.id, benchmark]));
  const columns = new Map(data.columns.map((column) => [column.id, column]));

  // --- elements ---
  const { h, svg, count } = globalThis.Elements;
  const bdi = (text, attributes) => h("bdi", { ...attributes, text });
  /** A model's name: who made it in grey, which gives way where there is no room. */
  const named = (text) => {
    const [, org, name] = text.match(/^([\w.-]+\/)([^/<>]+)$/) || [];
    if (!org) return bdi(text);
    const needed = brief(text) === text ? " needed" : ""; // another's model has the same name
    return h("bdi", { class: "named" }, h("span", { class: `org${needed}` }, org), h("wbr"), h("span", {}, name));
  };
  /** A model's name without who made it, unless another's is told from it by that alone. */
  const end = (text) => text.replace(/^[^/]+\/(?=.)/, "");
  const alike = Object.groupBy(new Set((data.rows || []).map((row) => row.same || row.model)), end);
  const brief = (text) => (alike[end(text)]?.length > 1 ? text : end(text));
  const none = (why) => h("span", { class: "none", title: why }, "–");
  const badge = (text, kind, title) => h("span", { class: `badge ${kind || ""}`.trim(), title }, text);
  const note = (text) => h("p", { class: "note", text });
  const link = (text, url, attributes) => h("a", { href: url, rel: "noopener", target: /^https?:/.test(url) ? "_blank" : null, ...attributes }, text);
  /** A day as people write it. */
  const day = (date) => new Date(date).toUTCString().slice(5, 16).replace(/^0/, "");
  const say = (text) => {
    document.getElementById("live").textContent = text;
  };

  // --- rows and numbers ---
  /** Rounded as the terminal and the tables round: of two that are equally near the even one. */
  function fixed(value, digits) {
    const times = value * 10 ** digits;
    const tie = Number.isInteger(value * 4096) && Math.abs(times % 1) === 0.5;
    return tie ? ((2 * Math.round(times / 2)) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
  }
  const num = (value, unit) =>
    value == null ? "–" : fixed(value, data.units[unit]?.digits ?? 2).replace(/^-(?=.*[1-9])/, "−").replace(/^-/, "");
  const signed = (value, unit) => (value > 0 ? "+" : "") + num(value, unit);
  let collator = null; // made when texts are first sorted: it takes its time
  const compare = (a, b) => {
    if (typeof a === "number") return a - b;
    collator ??= new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    return collator.compare(a, b);
  };
  // What the authors do is the rule; only the other way of aggregating is spelled out.
  const short = (title) => title.replace(/ \(per label\)$/, "");
  const group = (row) => data.groups[row.group];
  /** A judge of a benchmark in words: the authors' judge is called that. */
  const judgeName = (judge, benchmark) =>
    judge && judge === benchmarks.get(benchmark).judge ? `${judge} (the authors’ judge)` : judge;
  /** What gave a table's numbers: its judge, or a rule. */
  const scoredBy = (g) => (g.judge ? `judge: ${g.judge}` : benchmarks.get(g.benchmark).judge ? "" : "scored by rule");
  /** How many runs rows have, and how many of them were shown no video. */
  function runsInWords(rows) {
    const of = (kind) => rows.filter((row) => row.source === kind).length;
    const runs = `${count(of("run"))} run${of("run") === 1 ? "" : "s"}`;
    return of("blind") ? `${runs} and ${count(of("blind"))} without the video` : runs;
  }
  /** Where a file that leaves the page is from: what it shows, the board, the runs (of one group), the newest date. */
  function sourceLine(what = [], g = null) {
    const address = /^https?:/.test(location.protocol) && location.href.split("#")[0];
    const ran = runsInWords(data.rows.filter((row) => !g || data.groups[row.group] === g));
    return [...what, "Reelbench", address, `${ran} recomputed`, data.newest && `newest of ${data.newest.slice(0, 10)}`]
      .filter(Boolean)
      .join(" · ");
  }
  const benchmarkOf = (row) => benchmarks.get(group(row).benchmark);
  /** A kind of rows in words. */
  const kindName = (kind) => data.kinds[kind]?.title || kind;
  /** Whether a row is a reference point, which stands apart and is never ranked. */
  const apart = (row) => data.kinds[row.source].reference != null;
  /** A declared column's value: some are sent once for the whole group. */
  const field = (row, column) => (column.of_group ? group(row) : row)[column.id] ?? null;
  function asText(column, value) {
    if (column.type === "boolean") return value == null ? "unknown" : value ? "yes" : "no";
    if (value == null) return "";
    if (column.type === "number") return value.toFixed(column.digits ?? 2);
    return column.id === "date" ? value.slice(0, 10) : String(value);
  }
  const numeric = (column) => column.type === "integer" || column.type === "number";
  /** The one name of a row's model; its own may be another. */
  const modelOf = (row) => row.same || row.model;
  const modelHref = (model) => `#/model/${encodeURIComponent(model)}`;
  /** A text with names in place of codes. */
  const words = (text) => (text || "").replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (code) => data.words[code] || code.replaceAll("_", " "));
  const safeUrl = (url) => (/^https?:\/\//.test(url || "") ? url : null);
  /** The model's page on the Hub, where its weights were loaded from there. */
  const hubUrl = (row) =>
    row.source === "run" && row.open_weights && /^[\w.-]+\/[\w.-]+$/.test(row.model)
      ? `https://huggingface.co/${row.model}`
      : null;
  const ends = (low, high, unit) => `${num(low, unit)} to ${num(high, unit)}`;
  const interval = (numbers, unit) => (numbers.length > 1 ? `95 % interval ${ends(numbers[1], numbers[2], unit)}` : "");
  /** What stands before a value that is a lower bound: questions without a score count at the scale's lowest. */
  const least = (row, metric) => (row.unscored && !metric.of_corpus ? "≥ " : "");
  /** A row's value as it is read; a lower bound is rounded down, or its "≥" would not be true. */
  function read(row, metric, value) {
    const mark = least(row, metric);
    if (!mark || value == null) return num(value, metric.unit);
    const power = 10 ** (data.units[metric.unit]?.digits ?? 2);
    return mark + num(Math.floor(Number((value * power).toFixed(6))) / power, metric.unit);
  }
  const shown = (row, i, metric) => read(row, metric, row.v[i]?.[0]);
  const unranked = (row) => row.rank == null && !apart(row);
  /** A number with its bar and interval; `before` stands before it. */
  function meter(numbers, metric, before = "") {
    if (!numbers) return none();
    const { low, high, unit } = metric;
    const at = (x) => `${Math.max(0, Math.min(100, (100 * (x - low)) / (high - low))).toFixed(1)}%`;
    const said = interval(numbers, unit);
    return h(
      "span",
      { class: "meter", title: said && `${before}${num(numbers[0], unit)}, ${said}` },
      h("b", { text: before + num(numbers[0], unit) }),
      h(
        "span",
        { class: "track", "aria-hidden": "true" },
        h("i", { class: "fill", style: `width:${at(numbers[0])}` }),
        said && h("i", { class: "whisk", style: `left:${at(numbers[1])};right:calc(100% - ${at(numbers[2])})` }),
      ),
      said && h("span", { class: "sr" }, `, ${said}`),
    );
  }
  function metricTip(metric) {
    return [metric.title, metric.about, `${data.units[metric.unit].range}, ${data.units[metric.unit].direction}`]
      .filter(Boolean)
      .join(". ");
  }

  // --- files that are loaded when they are asked for ---
  const waiting = new Map();
  // A host may ask (`require-trusted-types-for 'script'`) that a page says which addresses it makes: files of its own.
  const own = globalThis.trustedTypes?.createPolicy("reelbench", { createScriptURL: (url) => url });
  function entryOf(name) {
    if (!waiting.has(name)) {
      const entry = {};
      entry.promise = new Promise((resolve, reject) => {
        entry.resolve = resolve;
        entry.reject = reject;
      });
      waiting.set(name, entry);
    }
    return waiting.get(name);
  }
  // A run's file has its samples too, before anybody asks for them.
  globalThis.REELBENCH_LOADED = (name, content) => entryOf(name).resolve(content);
  function load(name) {
    const asked = waiting.has(name),
      entry = entryOf(name);
    if (!asked) {
      const address = name.endsWith(".js") ? name : `data/${name}.js`;
      const script = h("script", { src: own ? own.createScriptURL(address) : address });
      script.onerror = () => {
        waiting.delete(name);
        entry.reject(new Error(`${address} could not be loaded`));
      };
      document.head.append(script);
    }
    return entry.promise;
  }
  /** What the first screen can do without. */
  const more = () => load("more.js");
  /** A function of that: it is fetched where it isn't here yet. */
  const later = (name) => async (...of) => {
    await more();
    return globalThis.Reelbench[name](...of);
  };
  const idle = (work) => (globalThis.requestIdleCallback || setTimeout)(work, { timeout: 500 });
  const loadRun = (row) => load(`runs/${row.id}`);
  function unpacked(block) {
    const bytes = Uint8Array.from(atob(block), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }
  /** Some of a run's samples: a block of them is unpacked when it is asked for. */
  async function loadSamples(row, block) {
    const blocks = await load(`samples/${row.id}`);
    return unpacked(blocks[block]);
  }
  /** A group's paired differences: (row, other) -> [by, p, low, high, p alone], null where the two were not compared. */
  async function loadPairs(g) {
    if (!g.pairs) return () => null;
    const { rows, cells } = await load(g.pairs);
    const places = new Map(rows.map((id, i) => [id, i]));
    return (row, other) => {
      const [p, q] = [places.get(row.id), places.get(other.id)];
      if (p == null || q == null || p === q) return null;
      const [low, high] = p < q ? [p, q] : [q, p];
      const cell = cells[low * rows.length - (low * (low + 1)) / 2 + high - low - 1];
      if (!cell || p < q) return cell;
      return cell.length > 2 ? [-cell[0], cell[1], -cell[3], -cell[2], cell[4]] : [-cell[0], cell[1]];
    };
  }

  // --- the address ---
  const address = { page: "overall", name: "", query: new URLSearchParams() };
  function readAddress() {
    const raw = location.hash.replace(/^#\/?/, "");
    const cut = raw.indexOf("?");
    const path = (cut < 0 ? raw : raw.slice(0, cut)).split("/");
    let name = path.slice(1).join("/");
    try {
      name = decodeURIComponent(name);
    } catch {
      /* as it stands */
    }
    // The address of a model that got another name since leads to that.
    if (path[0] === "model") name = data.renamed?.[name.toLowerCase()] || name;
    Object.assign(address, {
      page: path[0] || "overall",
      name,
      query: new URLSearchParams(cut < 0 ? "" : raw.slice(cut + 1)),
    });
  }
  let writing = 0,
    typed = false; // the address was last written for a search being typed
  const asked = (name) => address.query.get(name) || "";
  /** Change the address: a step that Back undoes; a search being typed is one step. */
  function ask(changes, typing = false) {
    const { page, name, query } = address;
    for (const [key, text] of Object.entries(changes)) {
      if (text == null || text === "") query.delete(key);
      else query.set(key, text);
    }
    const path = name ? `${page}/${encodeURIComponent(name)}` : page;
    const to = `#/${path}?${query}`.replace(/\?$/, "");
    const from = location.hash;
    const write = () => {
      if (location.hash !== from) return; // a link was followed
      if (to !== from) history[typing && typed ? "replaceState" : "pushState"](null, "", to);
      typed = typing;
    };
    settle();
    // Browsers are slow to change the address, so typing changes it when it rests.
    if (typing) writing = setTimeout(write, 150);
    else write();
  }
  const settle = () => clearTimeout(writing);

  // --- pages, each declared where it is written ---
  const pages = new Map();
  /** Add a page: its name in the address, and what fills `main`. */
  const addPage = (name, draw) => pages.set(name, draw);

  return {
    data,
    pages,
    addPage,
    narrow,
    benchmarks,
    columns,
    kindName,
    h,
    svg,
    bdi,
    named,
    brief,
    none,
    badge,
    note,
    day,
    link,
    say,
    num,
    signed,
    count,
    compare,
    short,
    group,
    judgeName,
    scoredBy,
    sourceLine,
    runsInWords,
    benchmarkOf,
    apart,
    field,
    asText,
    numeric,
    modelOf,
    modelHref,
    words,
    safeUrl,
    hubUrl,
    ends,
    interval,
    meter,
    metricTip,
    read,
    shown,
    unranked,
    load,
    unpacked,
    more,
    idle,
    questions: later("questions"),
    whatChanged: later("whatChanged"),
    takePicture: later("takePicture"),
    drawCharts: later("drawCharts"),
    loadRun,
    loadSamples,
    loadPairs,
    address,
    readAddress,
    asked,
    ask,
    settle,
  };
})();
