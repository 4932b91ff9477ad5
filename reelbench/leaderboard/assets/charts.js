/* What a benchmark's rows allow to draw. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { num } = R;
  const { around, powers, months, lanes, radars, heat, matrix, points, figure } = globalThis.Plots;
  // Rows of a picture with a line each.
  const MOST = 24;
  // Models of a picture with a mark each.
  const COMPARED = 12;
  const POLYGONS = 4;
  // Of these, where nobody chose.
  const FIRST = 6;
  /** A model's name beside its dot, of which the form says whether it is ranked. */
  const dotName = (row) => [R.brief(row.model), row.setting === "fine-tuned" && "fine-tuned"].filter(Boolean).join(", ");
  const plain = (row) => [dotName(row), R.unranked(row) && "not ranked"].filter(Boolean).join(", ");
  const name = (row) => (row.frames === "none" ? `${plain(row)}, without frames` : plain(row));
  const hollow = (dots) => (dots.some((dot) => dot.open) ? " Hollow: not ranked." : "");

  const unitOf = (metric) => `${R.short(metric.title)}, ${metric.unit === "percent" ? "%" : R.data.units[metric.unit].range}`;
  const heights = (dots) => dots.flatMap((dot) => [dot.y, ...dot.ends]);
  const nOf = (n, what = "row") => `n = ${n} ${what}${n === 1 ? "" : "s"}.`;

  // --- what there is to draw: {id, title, about, draw(), whole} ---

  const at = (b, id) => b.metrics.findIndex((metric) => metric.name === id);
  const marks = (rows, numbers, unit) =>
    rows
      .map((row, i) => [row, numbers(row), i])
      .filter(([, n]) => n)
      .map(([row, n, i]) => ({ at: n[0], ends: n.length > 1 ? n.slice(1, 3) : null, i, text: [`${name(row)}: ${num(n[0], unit)}`, R.interval(n, unit)].filter(Boolean).join(", ") }));

  function parts({ b, chosen, ticked }) {
    const metric = b.metrics[0],
      indexes = metric.parts.map((id) => at(b, id));
    const rows = chosen.filter((row) => indexes.some((i) => row.v[i])).slice(0, ticked ? COMPARED : FIRST);
    if (!indexes.length || !rows.length) return null;
    const lines = indexes.map((i) => ({
      label: R.short(b.metrics[i].title),
      marks: marks(rows, (row) => row.v[i], metric.unit),
    }));
    return {
      id: "parts",
      title: `${R.short(metric.title).replace(/ \(.*/, "")} and its parts`,
      about: `${unitOf(metric)}: the mean of these.`,
      draw: () => ({ ...lanes(lines.filter((l) => l.marks.length), metric, rows.map(name)), n: nOf(rows.length) }),
    };
  }
  /** A facet's labels: a line each for a few models, or a heat map where there are many labels. */
  function facet({ b, chosen, rows, ticked, known }, declared) {
    if (!known.has(declared.name)) return null;
    const metrics = [...declared.metrics, ...b.metrics];
    const draw = async () => {
      const wanted = ticked ? chosen.slice(0, MOST) : [...new Set([...chosen, ...rows])].slice(0, MOST);
      const found = (
        await Promise.all(wanted.map(async (row) => [row, (await R.loadRun(row)).breakdowns[declared.name]]))
      ).filter(([, labels]) => labels);
      const metric = metrics.find(({ name: id }) =>
        found.some(([, labels]) => Object.values(labels).some((label) => label[id])),
      );
      if (!metric) throw new Error("None of these rows has it.");
      const own = [...new Set(found.flatMap(([, labels]) => Object.keys(labels)))];
      const labels = declared.labels.length ? declared.labels.filter((label) => own.includes(label)) : own.sort();
      const get = (group, label) => metrics.map(({ name: id }) => group[label]?.[id]).find(Boolean);
      if (labels.length > 9) {
        const lines = found.map(([row, group]) => ({
          label: name(row),
          values: labels.map((label) => get(group, label)?.[0] ?? null),
        }));
        return { ...heat(labels.map((label) => label.replaceAll("_", " ")), lines, metric, (value) => num(value, metric.unit)), n: nOf(found.length) };
      }
      const few = new Map(found.slice(0, ticked ? COMPARED : FIRST));
      const lines = labels.map((label) => ({
        label: `${label.replaceAll("_", " ")} (${Math.max(...[...few.values()].map((group) => group[label]?.["#"] || 0)) || "?"})`,
        marks: marks([...few.keys()], (row) => get(few.get(row), label), metric.unit),
      }));
      return { ...lanes(lines.filter((l) => l.marks.length), metric, [...few.keys()].map(name)), n: nOf(few.size) };
    };
    const metric = declared.metrics[0] || b.metrics[0];
    return {
      id: `facet-${declared.name}`,
      title: declared.title,
      about: `${unitOf(metric)}. A gap is a label that was not run or not printed.`,
      draw,
      whole: declared.labels.length === 0,
    };
  }
  /** CogME's three radars: a polygon for each of a few models that have tags. */
  function profiles({ b, chosen, rows, ticked, known }) {
    const parts = b.facets.filter(({ name: id }) => ["target", "content", "thinking"].includes(id) && known.has(id));
    if (parts.length < 3) return null;
    const draw = async () => {
      const wanted = (ticked ? chosen : [...new Set([...chosen, ...rows])]).slice(0, MOST);
      const all = await Promise.all(wanted.map(async (row) => [row, (await R.loadRun(row)).breakdowns]));
      const found = all.filter(([, facets]) => facets.thinking).slice(0, POLYGONS);
      const metrics = [...parts[0].metrics, ...b.metrics];
      const metric = metrics.find(({ name: id }) => found.some(([, { thinking }]) => Object.values(thinking).some((label) => label[id])));
      if (!metric) throw new Error("None of these rows has tags.");
      const panels = parts.map(({ name: id, labels }) => ({
        title: id.toUpperCase(),
        labels,
        series: found.map(([, facets]) => labels.map((label) => facets[id]?.[label]?.[metric.name]?.[0] ?? null)),
      }));
      return radars(panels, metric, found.map(([row]) => name(row)), (value) => num(value, metric.unit));
    };
    const metric = parts[0].metrics[0] || b.metrics[0];
    const about = `${unitOf(metric)}; the rim is ${metric.high}. Of the first ${POLYGONS} rows with tags.`;
    return { id: "profiles", title: "What was understood (CogME)", about, draw, whole: true };
  }
  function grounding({ b, rows, refs }) {
    const [x, y] = [at(b, "miou"), at(b, "accuracy")];
    if (x < 0 || y < 0) return null;
    const dots = rows
      .filter((row) => row.v[x] && row.v[y])
      .slice(0, 400)
      .map((row) => ({
        x: row.v[x][0],
        y: row.v[y][0],
        ends: row.v[y].slice(1),
        name: dotName(row),
        open: R.unranked(row),
        text: `${name(row)}: mIoU ${num(row.v[x][0], "percent")}, accuracy ${num(row.v[y][0], "percent")}`,
      }));
    const rules = refs
      .filter((row) => row.source === "baseline" && row.v[x])
      .slice(0, 2)
      .map((row) => ({ at: row.v[x][0], text: `floor: ${row.model}` }));
    if (dots.length < 2) return null;
    const axis = (title, values, metric) => ({ title, steps: around(values, metric) });
    return {
      id: "grounding",
      title: "Answering against grounding",
      about: `${
        rules.length
          ? "The dotted line is the score of the whole video as the answer."
          : "Whether the option is right, and how well the span fits."
      }${hollow(dots)}`,
      draw: () =>
        points(
          dots,
          axis("mIoU, %", [...dots.map((dot) => dot.x), ...rules.map((rule) => rule.at)], b.metrics[x]),
          axis("Accuracy, %", heights(dots), b.metrics[y]),
          { rules },
        ),
    };
  }
  function frames({ b, rows }) {
    const found = rows.filter((row) => row.v[0]).slice(0, 400);
    const counts = [...new Set(found.flatMap((row) => row.n ?? []))].sort((p, q) => p - q),
      metric = b.metrics[0];
    if (counts.length < 2) return null;
    // Native, or so many a second: a column of its own beside the axis.
    const OWN = "no number";
    const beside = 2 ** (1.25 * Math.log2(counts.at(-1) + 1)) - 1;
    const dots = found.map((row) => ({
      x: row.n ?? beside,
      shown: row.n ?? OWN,
      y: row.v[0][0],
      ends: row.v[0].slice(1),
      name: dotName(row),
      open: R.unranked(row),
      text: `${plain(row)}, ${row.n ?? row.frames} frames: ${R.shown(row, 0, metric)}`,
    }));
    const joined = Object.values(Object.groupBy(dots.filter((dot) => dot.shown !== OWN), (dot) => dot.name))
      .filter((path) => path.length > 1)
      .map((path) => path.sort((p, q) => p.x - q.x));
    // 0 has a place and each doubling takes the same step.
    const steps =
      counts.length <= 8
        ? counts
        : counts.filter((_, i) => i % Math.ceil(counts.length / 8) === 0 || i === counts.length - 1);
    const show = (n) => (n === beside ? OWN : String(n));
    return {
      id: "frames",
      title: "Score against frames",
      about: `Lines join runs of one model.${hollow(dots)}`,
      draw: () =>
        points(
          dots,
          { title: "Frames (log scale)", scale: "doubling", show, steps: dots.some((dot) => dot.shown === OWN) ? [...steps, beside] : steps },
          { title: unitOf(metric), steps: around(heights(dots), metric) },
          { joined },
        ),
    };
  }

  const month = (date) => {
    const [year, ofYear = 1, day = 1] = date.split("-").map(Number);
    return 12 * year + ofYear - 1 + (day - 1) / 31;
  };
  const AGAINST = [
    ["price", "Score against price", "$ a question (log scale)", "dearer", (row) => row.cost ?? null, powers],
    ["size", "Score against size", "Billions of parameters (log scale)", "larger", (row) => row.parameters, powers],
    [
      "cost",
      "Score against cost",
      "Tokens an item, in and out (log scale)",
      "dearer",
      (row) => (row.tokens_in == null || row.tokens_out == null ? null : row.tokens_in + row.tokens_out),
      powers,
    ],
    [
      "released",
      "Score against date",
      "Released",
      "later",
      (row) => (row.released ? month(row.released) : null),
      months,
    ],
  ];
  /** Score against what a model is or takes, with the line that no lesser row lies above. */
  function against({ b, rows }, [id, title, axis, more, get, steps]) {
    const metric = b.metrics[0];
    const asStated = (row) => (["price", "cost"].includes(id) ? row.stated_by : null);
    const dots = rows
      .filter((row) => get(row) > 0 && row.v[0])
      .slice(0, 400)
      .map((row) => ({
        x: get(row),
        y: row.v[0][0],
        ends: row.v[0].slice(1),
        ranked: row.rank != null,
        open: R.unranked(row),
        name: asStated(row) ? `${dotName(row)}*` : dotName(row),
        text: `${name(row)}: ${R.shown(row, 0, metric)}${asStated(row) ? `, ${title.split(" ").pop()} as stated by ${asStated(row)}` : ""}`,
        stated: Boolean(asStated(row)),
      }))
      .sort((p, q) => p.x - q.x || q.y - p.y);
    if (new Set(dots.map((dot) => dot.x)).size < 2) return null;
    let best = Number.NEGATIVE_INFINITY;
    const frontier = dots.filter((dot) => dot.ranked && dot.y > best && ((best = dot.y), true));
    // The line's points get names first.
    const named = [...frontier, ...dots.filter((dot) => !frontier.includes(dot))];
    const log = steps === powers;
    const show = (at) => `${Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, "0")}`;
    const left = rows.filter((row) => row.v[0] && !(get(row) > 0)).length;
    return {
      id: `against-${id}`,
      title,
      about: `The steps are the best score of what is not ${more} (Pareto).${hollow(dots)}${dots.some((dot) => dot.stated) ? " * As stated by the account that handed the run in." : ""}${left ? ` ${left} that don’t say are left out.` : ""}`,
      draw: () =>
        points(
          named,
          {
            title: axis,
            scale: log ? "log" : null,
            steps: steps(dots[0].x, dots.at(-1).x),
            show: log ? String : show,
          },
          { title: unitOf(metric), steps: around(heights(dots), metric) },
          { frontier },
        ),
    };
  }
  /** The best runs of a group, each against each; of ticked rows these. */
  function wins({ b, g, rows, chosen, ticked }) {
    if (!g?.pairs) return null;
    const runs = (ticked ? chosen : rows).filter((row) => row.rank != null && row.source === "run").slice(0, COMPARED);
    if (runs.length < 2) return null;
    const metric = b.metrics[0];
    return {
      id: "wins",
      title: "Paired differences",
      about: `${unitOf(metric)}: row minus column. Coloured where it can be told from noise, all pairs counted at once (Holm, 5 %). ${nOf(runs.length, "run")}`,
      draw: async () => {
        const pair = await R.loadPairs(g);
        const cell = (i, k) => {
          const found = pair(runs[i], runs[k]);
          if (!found) return null;
          const [by, p, low, high] = found;
          const sure = p != null && p <= 0.05;
          const word = p == null ? "too few videos to tell" : sure ? "told apart" : "could be noise";
          return { by, sure, about: low == null ? word : `${word}, adjusted 95 % interval ${R.ends(low, high, metric.unit)}` };
        };
        return matrix(runs.map(name), cell, (by) => R.signed(by, metric.unit));
      },
      whole: runs.length > 7,
    };
  }

  /** Draw what these rows allow; how many charts that is. Context: {b, g, rows, chosen, ticked, refs, known}. */
  R.drawCharts = (holder, context) => {
    if (!holder.isConnected) return 0;
    globalThis.Plots.clear();
    const made = [
      parts,
      grounding,
      profiles,
      ...context.b.facets.map((declared) => (given) => facet(given, declared)),
      wins,
      frames,
      ...AGAINST.map((axis) => (given) => against(given, axis)),
    ]
      .map((make) => make(context))
      .filter(Boolean);
    const { b, g } = context;
    const source = R.sourceLine([b.title, g?.words, g && !g.judge && R.scoredBy(g)], g);
    holder.replaceChildren(...made.map((one) => figure({ ...one, of: b.title.replace(/ \(.*/, ""), source })));
    return made.length;
  };
})();
