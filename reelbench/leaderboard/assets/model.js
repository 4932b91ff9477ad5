/* A model's page: a summary, then each result with its breakdowns, what it rests on, and its samples. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, badge, num } = R;
  const { Plots } = globalThis;
  const { table, scroll } = globalThis.Elements;

  function modelPage(main, name) {
    const own = data.rows.find((row) => row.model === name);
    const one = own ? R.modelOf(own) : name;
    const rows = data.rows.filter((row) => R.modelOf(row) === one).sort((p, q) => (q.source === "run") - (p.source === "run"));
    main.replaceChildren(h("h1", {}, bdi(one || "Unknown model")));
    if (!rows.length) {
      main.append(h("p", { class: "lead" }, "No result of this name. ", R.link("All models", "#/overall")));
      return;
    }
    const overall = data.overall.find((model) => model.model === one && model.rank != null);
    const others = [...new Set(rows.map((row) => row.model))].filter((other) => other !== one);
    const hub = rows.map(R.hubUrl).find(Boolean);
    const tried = rows.filter((row) => R.group(row).mini);
    const [full, mini] = tried.length < rows.length ? [rows.filter((row) => !tried.includes(row)), tried] : [rows, []];
    main.append(...[
      h(
        "p",
        { class: "lead" },
        `${rows.length} result${rows.length > 1 ? "s" : ""}`,
        overall ? `, overall rank ${overall.rank} (${overall.covered} of ${overall.of} benchmarks)${overall.ranks ? `, range of ranks ${[...new Set(overall.ranks)].join("–")} (adjusted 95 %)` : ""}` : "",
        ".",
        others.length > 0 && [" Also called ", ...others.flatMap((other, i) => [i > 0 && ", ", bdi(other)]), "."],
        hub && [" ", R.link("The model on the Hub", hub)],
      ),
      summary(one, full),
      h(
        "div",
        { class: "grid" },
        full.map((row, i) => entryCard(row, i === 0 && !R.asked("run"))),
      ),
      mini.length > 0 &&
        h(
          "details",
          { class: "explained" },
          h("summary", { text: `Runs on the mini data, for trying things out (${mini.length})` }),
          h(
            "div",
            { class: "grid" },
            mini.map((row) => entryCard(row, false)),
          ),
        ),
      R.cite(full.map(R.benchmarkOf)),
    ].filter(Boolean));
    // An address that names a run leads to it.
    const linked = document.getElementById(`run-${R.asked("run")}`);
    const folded = linked?.closest("details");
    if (folded) folded.open = true;
    linked?.scrollIntoView();
  }
  /** Each result on its table's own scale, with its rank: what one wants to know first. */
  function summary(model, rows) {
    const line = (row) => {
      const b = R.benchmarkOf(row),
        metric = b.metrics[0],
        group = R.group(row);
      if (!row.v[0]) return null;
      const others = data.rows.filter((other) => other.group === row.group);
      const { rules } = R.scaleOf(others.filter((other) => !R.apart(other)), others.filter(R.apart), 0, metric);
      const steps = Plots.ticks(metric.low, metric.high, 5); // the whole scale: rows of one column can be read together
      const value = R.shown(row, 0, metric),
        ends = row.v[0].length > 1 ? row.v[0].slice(1) : null;
      const tip = [`${b.title}: ${value}`, R.interval(row.v[0], metric.unit), ...rules.map((rule) => rule.text)];
      const ranked = others.filter((other) => other.rank != null).length;
      return [
        [R.link(b.title, `#/${b.id}?group=${encodeURIComponent(group.id)}`), " ", h("span", { class: "sub" }, bdi(group.split_words))],
        h("td", { class: "lane-cell" }, h("span", { class: "forest" }, h("b", { text: value }), Plots.track({ value: row.v[0][0], ends, steps, rules, hollow: R.unranked(row) || row.source !== "run", tip: tip.filter(Boolean).join(", ") })), h("span", { class: "sub", text: [ends && R.ends(...ends, metric.unit), group.judge ? `judge: ${group.judge_words}` : R.scoredBy(group)].filter(Boolean).join(" · ") })),
        row.rank == null ? h("span", { class: "sub", text: `not ranked${row.partial ? `: ${R.words(row.partial)}` : ""}` }) : row.source === "run" ? [`${row.rank} of ${ranked} `, ranked > 1 && R.link("compare", `#/${b.id}?group=${encodeURIComponent(group.id)}&pick=${row.id}`)] : "published",
        row.rank_range || "–",
        h("td", { class: "sub", text: `${R.short(metric.title)}, ${data.units[metric.unit].label}` }),
        h("td", { class: "num", text: row.items == null ? "–" : R.count(row.items) }),
      ];
    };
    const lines = rows.map(line).filter(Boolean);
    if (!lines.length) return "";
    const heads = ["Benchmark", "Score and its own 95 % interval, on the whole scale", "Rank", "Range of ranks, adjusted 95\u00a0%", "Metric", "Questions"];
    const made = table({ "aria-label": `Summary of ${model}`, "data-marks": true }, heads.map((title, i) => h("th", { scope: "col", class: i > 4 ? "num" : null }, title)), lines);
    made.querySelector("[data-tip]").setAttribute("tabindex", 0);
    return h("section", { class: "card scroll summary", tabindex: 0, "aria-label": "Summary, scrolls sideways" }, made);
  }
  function entryCard(row, open) {
    const b = R.benchmarkOf(row),
      group = R.group(row);
    const origin = row.source === "published" ? "published, can’t be recomputed" : R.kindName(row.source);
    const head = h(
      "header",
      {},
      h(
        "div",
        {},
        h("h2", {}, R.link(b.title, `#/${b.id}?group=${encodeURIComponent(group.id)}`)),
        h("span", { class: "sub" }, bdi(group.words)),
      ),
      h(
        "div",
        { class: "badges" },
        row.rank != null && row.source === "run" && badge(`rank ${row.rank}`, "run"),
        row.partial && badge(`not ranked: ${R.words(row.partial)}`, "warn"),
        ...R.caveats({ ...row, partial: null }),
        ...(row.source === "run" ? R.origins(row).map((of) => badge(...of)) : [badge(origin)]),
        row.badge && badge(row.badge, "", row.rejudged),
        row.ids && badge(`ids ${row.ids}`, "", R.columns.get("ids").about),
      ),
    );
    const scored = b.metrics.map((metric, i) => [metric, row.v[i]]).filter(([, numbers]) => numbers);
    const tiles = scored.length
      ? h(
          "div",
          { class: "tiles" },
          scored.map(([metric, numbers]) =>
            h(
              "div",
              { class: "tile", title: R.metricTip(metric) },
              h("b", { text: R.read(row, metric, numbers[0]) }),
              metric.title,
              numbers.length > 1 && h("div", {}, `${num(numbers[1], metric.unit)} to ${num(numbers[2], metric.unit)}`),
            ),
          ),
        )
      : h("p", { class: "note" }, "No score: the answers are hidden, or nobody judged them yet.");
    const more = h("div", { class: "more" }, h("p", { class: "note" }, "Loading…"));
    const details = h("details", { open }, h("summary", { text: "Breakdowns, settings, provenance" }), more);
    const samples = h("details", {}, h("summary", { text: "Samples" }));
    const fill = once(more, async () => {
      const run = await R.loadRun(row);
      more.replaceChildren(...[await R.placesOverTime(row), ...breakdowns(b, run), facts(row, run)].filter(Boolean));
    });
    details.addEventListener("toggle", fill);
    samples.addEventListener("toggle", async () => {
      if (samples.open && samples.children.length === 1) samples.append(browser(row, await R.loadRun(row)));
    });
    if (R.asked("run") === row.id) samples.open = true;
    return h(
      "section",
      { class: "card entry", id: `run-${row.id}`, "aria-label": `${b.title}, ${group.label}` },
      head,
      tiles,
      row.note && h("p", { class: "banner", text: row.note }),
      details,
      row.source === "run" || row.items ? samples : null,
    );
  }
  /** Run something once; where it fails, say so and allow another try. */
  function once(place, work) {
    let done = false;
    return async () => {
      if (done) return;
      done = true;
      try {
        await work();
      } catch (error) {
        done = false;
        place.replaceChildren(R.note(error.message));
      }
    };
  }

  // --- what a result rests on ---
  const empty = (content) =>
    content == null ||
    content === "" ||
    (typeof content === "object" && !(content instanceof Node) && !Object.keys(content).length);
  /** Text, a list with commas, or a small list of names and values: never JSON where words do. */
  function shown(content) {
    if (content instanceof Node) return content;
    if (typeof content !== "object") return bdi(String(content));
    const plain = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));
    if (Array.isArray(content)) return bdi(content.map(plain).join(", "));
    const pairs = Object.entries(content).filter(([, value]) => !empty(value));
    return h(
      "ul",
      { class: "pairs" },
      pairs.map(([name, value]) =>
        h("li", {}, h("span", { class: "sub" }, `${R.words(name)} `), bdi(plain(value))),
      ),
    );
  }
  function facts(row, run) {
    const url = R.safeUrl(row.url),
      result = run.result;
    const said = ["setting", "frames", "times", "asked", "parameters", "organisation", "released", "licence", "trained_on"];
    const beside = ["unscored", "stated_score", "calibrated", "calibration", "blind", "unreadable", "stated", "stated_by", "rejudged"];
    const rests = ["readers", "judge_asked", "data"];
    const cost = ["tokens_in", "tokens_out", "seconds", "cost", "price", "judge_cost"];
    const pairs = [...said, ...beside, ...rests, ...cost]
      .map((id) => [R.columns.get(id), id])
      .map(([column, id]) => (column ? [column.title, R.asText(column, R.field(row, column))] : [id, row[id]]));
    const links = Object.entries(row.links || {}).filter(([, url]) => R.safeUrl(url));
    if (links.length)
      pairs.push([
        "Links",
        h("span", {}, ...links.flatMap(([name, url], i) => [i > 0 && " · ", R.link(bdi(name), url)]).filter(Boolean)),
      ]);
    if (result) {
      const {
        model,
        settings,
        judge,
        provenance,
        benchmark: { source },
      } = result;
      const { unscored, ...counts } = result.counts;
      const same = provenance.asked?.rechecked.length;
      const repeated = same + (provenance.asked?.unlike?.length ?? 0);
      pairs.push(
        ["Revision", model.revision],
        ["About", R.columns.size ? null : model.about], // else in columns of their own
        ["Adapter", model.adapter],
        ["Arguments", model.args],
        ["Generation", settings.generation],
        ["Seed", settings.seed],
        ["Frames given", settings.frames_given],
        ["Prompt’s sha256", settings.prompt_sha256],
        ["Questions from", [source.kind, source.location, source.revision].filter(Boolean).join(" · ")],
        ["Their fingerprint", source.fingerprint],
      );
      if (judge) {
        pairs.push(
          ["Judge asked", R.judgeName(judge.requested, result.benchmark.id)],
          ["Judge that answered", R.judgeName(judge.returned, result.benchmark.id)],
          ["Judge’s prompts", `${judge.prompt === "official" ? "the authors’" : judge.prompt}, sha256 ${judge.prompt_sha256}`],
          ["Judge’s settings", { temperature: judge.temperature, votes: judge.votes, rule: judge.vote_rule }],
          ["Judge’s cost", judge.cost_usd == null ? null : `${judge.cost_usd} USD`],
        );
      }
      pairs.push(
        ["Counts", Object.fromEntries(Object.entries(counts).filter(([, value]) => value))],
        ["Unscored", unscored],
        ["Kept answers asked again", repeated ? `${same} of ${repeated} the same` : null],
        ["Samples’ sha256", provenance.samples_sha256],
        ["Date", provenance.date],
        ["Software", result.software],
        ["In the store", run.key],
      );
    }
    pairs.push(["Source", row.citation && url ? R.link(bdi(row.citation), url) : row.citation]);
    return h(
      "dl",
      { class: "kv" },
      pairs
        .filter(([, content]) => !empty(content))
        .map(([name, content]) => h("div", {}, h("dt", { text: name }), h("dd", {}, shown(content)))),
    );
  }
  function breakdowns(b, run, whose = "") {
    return b.facets
      .filter((facet) => run.breakdowns[facet.name])
      .map((facet) => {
        const labels = Object.entries(run.breakdowns[facet.name]);
        const there = new Set(labels.flatMap(([, metrics]) => Object.keys(metrics)));
        const metrics = [...facet.metrics, ...b.metrics].filter(({ name }) => there.delete(name));
        const heads = metrics.map((metric, i) => h("th", { class: i ? "num" : "", scope: "col", title: R.metricTip(metric) }, R.short(metric.title)));
        const cell = (found) => (metric, i) => (i ? h("td", { class: "num", title: R.interval(found[metric.name] || [], metric.unit) }, num(found[metric.name]?.[0], metric.unit)) : R.meter(found[metric.name], metric));
        const rows = labels.map(([label, found]) => [bdi(label.replaceAll("_", " ")), ...metrics.map(cell(found))]);
        return h("div", { class: "breakdown" }, h("h3", { text: facet.title }), scroll(`${facet.title}${whose}`, table({}, [facet.name.replace(/^./, (first) => first.toUpperCase()), ...heads], rows)));
      });
  }

  // --- samples ---
  const LONG = 4000;
  const SHOWN = 50; // samples at once
  function longText(content) {
    const text = content == null ? "" : typeof content === "string" ? content : JSON.stringify(content);
    const box = h("div", { class: "text", dir: "auto", tabindex: text.length > 300 ? 0 : null });
    if (text.length <= LONG) {
      box.textContent = text || "(nothing)";
      return box;
    }
    box.textContent = `${text.slice(0, LONG)}…`;
    return h(
      "div",
      {},
      box,
      h(
        "button",
        {
          type: "button",
          class: "link",
          onclick: (event) => {
            box.textContent = text;
            event.target.remove();
          },
        },
        `Show all ${R.count(text.length)} characters`,
      ),
    );
  }
  function replyCard(reply) {
    const which = [
      reply.judge,
      reply.criterion,
      reply.vote && `vote ${reply.vote + 1}`,
      reply.attempt && `attempt ${reply.attempt + 1}`,
    ]
      .filter(Boolean)
      .join(", ");
    return h("div", {}, h("small", { text: `${which}: ${reply.score ?? "no score in it"}` }), longText(reply.raw));
  }
  /** Where a run's answer to one question stands. */
  R.answerHref = (row, id) => `${R.modelHref(R.modelOf(row))}?run=${row.id}&answer=${encodeURIComponent(id)}`;
  function sampleCard(row, sample) {
    const scores = Object.entries(sample.scores)
      .map(([name, score]) => `${name} ${+score.toFixed(3)}`)
      .join(" · ");
    const said = [
      sample.video && `video ${sample.video}`,
      Object.values(sample.facets || {})
        .flat()
        .join(", "),
      scores,
      sample.frame_timestamps && `${sample.frame_timestamps.length} frames`,
    ];
    const replies = sample.judge_replies || [];
    return h(
      "article",
      { class: "sample" },
      h(
        "h3",
        {},
        bdi(sample.id),
        R.copyButton("Copy link", { run: row.id, answer: sample.id }),
        sample.state === "unscored" && badge(R.words(sample.reason), "warn"),
        (sample.flags || []).map((flag) => badge(R.words(flag), "warn")),
      ),
      h(
        "div",
        { class: "says" },
        h("div", {}, h("small", { text: "Answer" }), longText(sample.prediction)),
        h("div", {}, h("small", { text: "Reference" }), longText(sample.target.text ?? sample.target)),
      ),
      h("p", { class: "note" }, said.filter(Boolean).join(" — ")),
      replies.length
        ? h("details", {}, h("summary", { text: `Judge’s replies (${replies.length})` }), replies.map(replyCard))
        : null,
    );
  }
  function browser(row, run) {
    if (run.withheld)
      return h("p", {
        class: "note",
        text: `${run.withheld} So the samples are not shown here.`,
      });
    const list = h("div"),
      info = h("p", { class: "note", role: "status" }),
      find = h("input", { type: "search", placeholder: "id or words, in all samples", "aria-label": "Search these samples" }),
      more = h("button", { type: "button", class: "tool", hidden: true, onclick: () => show(SHOWN) }, "Show more");
    const linked = R.asked("run") === row.id ? R.asked("answer") : ""; // the answer that the address names
    find.value = linked;
    const all = []; // of the parts that are here: [what is searched, sample]
    let parts = 0,
      shown = SHOWN,
      turn = 0;
    async function part() {
      for (const sample of await R.loadSamples(row, parts))
        all.push([JSON.stringify([sample.id, sample.prediction, sample.target, sample.video]).toLowerCase(), sample]);
      parts += 1;
    }
    /** Show what matches, loading parts as long as more may. */
    async function show(by = 0) {
      const mine = ++turn,
        text = find.value.toLowerCase();
      shown = by ? shown + by : SHOWN;
      try {
        let found = [];
        for (;;) {
          const one = find.value && find.value === linked && all.find(([, sample]) => sample.id === linked);
          found = one ? [one] : all.filter(([words]) => words.includes(text));
          if (one || parts >= run.samples || (!text && found.length >= shown)) break;
          info.textContent = `Searching part ${parts + 1} of ${run.samples}…`;
          await part();
          if (mine !== turn) return;
        }
        list.replaceChildren(...found.slice(0, shown).map(([, sample]) => sampleCard(row, sample)));
        const whole = find.value && find.value === linked && !found.length ? `This run has no answer to ${linked}` : text ? `${R.count(found.length)} found` : `${R.count(row.items ?? all.length)} samples`;
        info.textContent = `${whole}${found.length > shown || !text ? `, the first ${R.count(Math.min(found.length, shown))} shown` : ""}.`;
        if (linked && linked === find.value) list.firstChild?.scrollIntoView({ block: "center" });
        more.hidden = (linked && linked === find.value) || found.length <= shown && parts >= run.samples;
      } catch (error) {
        list.replaceChildren(R.note(error.message));
      }
    }
    find.addEventListener("input", () => show());
    if (run.samples) show();
    return h(
      "div",
      {},
      h("div", { class: "bar-row" }, h("label", { class: "field grow" }, h("span", { class: "sr" }, "Search"), find)),
      info,
      list,
      more,
    );
  }

  R.addPage("model", modelPage);
  Object.assign(R, { facts, breakdowns, longText, replyCard });
})();
