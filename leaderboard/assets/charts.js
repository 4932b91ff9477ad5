/* The pictures. Plotly is loaded when the first one comes into view. */
"use strict";
globalThis.REELBENCH_CHARTS = (() => {
  const PALETTE = ["#4f46e5", "#e0559a", "#0d9488", "#d97706", "#2563eb", "#7c3aed", "#65a30d", "#dc2626"];
  const MOST = 24; // rows in a bar chart or a heat map
  let drawn = []; // [element, make]
  let loading = null;

  const plotly = () => (loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "lib/plotly.min.js";
    script.onload = () => resolve(globalThis.Plotly);
    script.onerror = () => { loading = null; reject(new Error("lib/plotly.min.js could not be loaded")); };
    document.head.append(script);
  }));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); paint(entry.target); }
  }, { rootMargin: "300px" });

  // Plotly reads a little HTML in labels; theirs is text.
  const text = (s, most = 38) => { const t = String(s); return (t.length > most ? `${t.slice(0, most - 1)}…` : t).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/[\u202a-\u202e\u2066-\u2069]/g, ""); };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const label = (row) => text(row.setting === "fine-tuned" ? `${row.model}, fine-tuned` : row.model);
  const value = (row, i) => (row.v[i] ? row.v[i][0] : null);

  function layout(extra) {
    const ink = css("--ink"), soft = css("--soft"), line = css("--line");
    const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, tickfont: { color: soft, size: 11 }, title: { font: { color: soft, size: 12 } }, automargin: true };
    const { xaxis, yaxis, ...rest } = extra;
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: "inherit", color: ink, size: 12 }, margin: { l: 50, r: 20, t: 16, b: 44 }, colorway: PALETTE,
      legend: { orientation: "h", y: -0.22, font: { color: soft, size: 11 } }, hoverlabel: { font: { family: "inherit" } }, ...rest,
      xaxis: { ...axis, ...xaxis, title: { ...axis.title, text: xaxis?.title } }, yaxis: { ...axis, ...yaxis, title: { ...axis.title, text: yaxis?.title } },
      polar: { bgcolor: "rgba(0,0,0,0)", radialaxis: { gridcolor: line, linecolor: line, tickfont: { color: soft, size: 10 }, angle: 90, tickangle: 90, range: rest.radial }, angularaxis: { gridcolor: line, linecolor: line, tickfont: { color: ink, size: 11 } } },
    };
  }
  async function paint(element) {
    const found = drawn.find(([known]) => known === element);
    if (!found) return;
    try {
      const [Plotly, picture] = [await plotly(), await found[1]()];
      if (!element.isConnected) return;
      if (!picture) { element.closest(".chart").hidden = true; return; }
      element.closest(".chart").hidden = false;
      element.textContent = "";
      await Plotly.react(element, picture.data, layout(picture.layout), { displaylogo: false, responsive: true, displayModeBar: false });
      element.dataset.drawn = "true";
    } catch (error) { element.textContent = error.message; }
  }

  // --- pictures ---
  const radar = (rows, axes, range) => ({
    data: rows.map((row) => ({ type: "scatterpolar", r: [...row.r, row.r[0]], theta: [...axes, axes[0]].map((a) => text(a)), fill: "toself", opacity: 0.85, fillcolor: "rgba(0,0,0,0)", name: row.name, hovertemplate: "%{theta}: %{r:.2f}<extra>%{fullData.name}</extra>" })),
    layout: { radial: range, margin: { l: 56, r: 56, t: 26, b: 20 }, legend: { orientation: "h", y: -0.08, entrywidth: matchMedia("(max-width: 640px)").matches ? 1 : 0.48, entrywidthmode: "fraction", font: { color: css("--soft"), size: 11 } } },
  });

  function bars({ b, rows }) {
    const metric = b.metrics[0];
    const top = rows.filter((row) => row.v[0]).slice(0, MOST).reverse();
    if (!top.length) return null;
    const places = top.map((row, i) => ({ row, i }));
    // Two traces, since a bar without an interval would get whiskers of no length.
    const trace = (mine, whiskers) => ({
      type: "bar", orientation: "h", x: mine.map(({ row }) => value(row, 0)), y: mine.map(({ i }) => i), marker: { color: css("--bar"), line: { color: css("--bar-line"), width: 1 } }, hovertext: mine.map(({ row }) => label(row)), hovertemplate: "%{hovertext}: %{x:.2f}<extra></extra>",
      ...(whiskers && { error_x: { type: "data", symmetric: false, array: mine.map(({ row }) => row.v[0][2] - row.v[0][0]), arrayminus: mine.map(({ row }) => row.v[0][0] - row.v[0][1]), color: css("--ink"), thickness: 1.2, width: 3 } }),
    });
    return {
      data: [trace(places.filter(({ row }) => row.v[0].length === 1), false), trace(places.filter(({ row }) => row.v[0].length > 1), true)].filter((t) => t.x.length),
      layout: { barmode: "overlay", xaxis: { title: metric.title.replace(/ \(per label\)$/, ""), range: [metric.low, metric.high] }, yaxis: { tickvals: top.map((_, i) => i), ticktext: top.map((row) => text(label(row), 30)) }, showlegend: false },
    };
  }
  function dimensions({ b, chosen }) {
    const axes = ["accuracy", "comprehensiveness", "depth", "evidence", "coherence"];
    const at = axes.map((name) => b.metrics.findIndex((metric) => metric.name === name));
    const rows = chosen.filter((row) => at.every((i) => row.v[i])).slice(0, 8).map((row) => ({ name: label(row), r: at.map((i) => value(row, i)) }));
    return rows.length ? radar(rows, axes.map((name) => name[0].toUpperCase() + name.slice(1)), [0, 5]) : null;
  }
  const cogme = (facet) => async ({ chosen, loadRun, b }) => {
    const axes = b.facets.find((f) => f.name === facet).labels;
    const runs = await Promise.all(chosen.slice(0, 8).map(async (row) => [row, (await loadRun(row)).breakdowns[facet]]));
    const rows = runs.filter(([, labels]) => labels).map(([row, labels]) => ({ name: label(row), r: axes.map((name) => labels[name]?.rate?.[0] ?? null) }));
    return rows.length ? radar(rows, axes, [0, 100]) : null;
  };
  async function locales({ chosen, rows, loadRun }) {
    const wanted = [...new Set([...chosen, ...rows])].slice(0, MOST);
    const runs = (await Promise.all(wanted.map(async (row) => [row, (await loadRun(row)).breakdowns.locale]))).filter(([, labels]) => labels);
    if (!runs.length) return null;
    const names = [...new Set(runs.flatMap(([, labels]) => Object.keys(labels)))].sort();
    runs.reverse();
    const z = runs.map(([, labels]) => names.map((name) => (labels[name]?.score ?? labels[name]?.exact_match)?.[0] ?? null));
    return {
      data: [{ type: "heatmap", z, x: names.map((n) => text(n)), y: runs.map((_, i) => i), colorscale: "Viridis", zmin: 0, zmax: 100, hoverongaps: false, xgap: 2, ygap: 2, colorbar: { thickness: 10, outlinewidth: 0, tickfont: { color: css("--soft") } },
        customdata: runs.map(([row]) => names.map(() => label(row))), hovertemplate: "%{customdata}<br>%{x}: %{z:.1f}<extra></extra>" }],
      layout: { yaxis: { tickvals: runs.map((_, i) => i), ticktext: runs.map(([row]) => text(label(row), 28)), showgrid: false }, xaxis: { showgrid: false, tickangle: -45 } },
    };
  }
  function grounding({ b, rows, refs }) {
    const [x, y] = ["miou", "accuracy"].map((name) => b.metrics.findIndex((metric) => metric.name === name));
    const found = rows.filter((row) => row.v[x] && row.v[y]).slice(0, 400);
    const floors = refs.filter((row) => row.kind === "baseline" && row.v[x]);
    if (!found.length && !floors.length) return null;
    const shapes = floors.map((row) => ({ type: "line", x0: value(row, x), x1: value(row, x), y0: 0, y1: 1, yref: "paper", line: { color: css("--floor"), width: 1.5, dash: "dot" } }));
    const annotations = floors.slice(0, 2).map((row, i) => ({ x: value(row, x), y: 1 - 0.07 * i, yref: "paper", xanchor: "left", text: ` floor: ${text(row.model, 24)}`, showarrow: false, font: { color: css("--floor"), size: 11 } }));
    return {
      data: [{ type: "scatter", mode: found.length > 15 ? "markers" : "markers+text", x: found.map((row) => value(row, x)), y: found.map((row) => value(row, y)), text: found.map((row) => text(label(row), 22)), textposition: "top center", textfont: { color: css("--soft"), size: 11 }, marker: { size: 10, color: css("--bar-line"), opacity: 0.85 }, hovertemplate: "%{text}<br>mIoU %{x:.1f}, accuracy %{y:.1f}<extra></extra>" }],
      layout: { xaxis: { title: "mIoU", rangemode: "tozero", range: [0, Math.max(50, ...found.map((r) => value(r, x) + 8), ...floors.map((r) => value(r, x) + 14))] }, yaxis: { title: "Accuracy", range: [0, 100] }, shapes, annotations, showlegend: false },
    };
  }
  function frames({ b, rows }) {
    const found = rows.filter((row) => row.n != null && row.v[0]).slice(0, 400);
    if (!found.length) return null;
    const models = [...new Set(found.map((row) => row.model))].slice(0, 12);
    return {
      data: models.map((model) => { const mine = found.filter((row) => row.model === model).sort((p, q) => p.n - q.n); return { type: "scatter", mode: "lines+markers", name: text(model, 26), x: mine.map((row) => row.n), y: mine.map((row) => value(row, 0)), marker: { size: 9 }, hovertemplate: "%{x} frames: %{y:.2f}<extra>%{fullData.name}</extra>" }; }),
      layout: { xaxis: { title: "Frames", rangemode: "tozero" }, yaxis: { title: b.metrics[0].title, rangemode: "tozero" } },
    };
  }

  const SETS = {
    moviecore: [["dimensions", "Five dimensions", "Each from 0 to 5.", dimensions]],
    curve: [["locales", "Score by locale", "From 0 to 100; a gap is a locale that was not run or not printed.", locales, true]],
    rextime: [["grounding", "Answering against grounding", "The dotted line is what the whole video as the answer gets.", grounding]],
    dramaqa_cogme: [["target", "CogME: what is asked about", "Questions answered right, in percent.", cogme("target")], ["content", "CogME: what has to be known", "Questions answered right, in percent.", cogme("content")], ["thinking", "CogME: how it is thought about", "Questions answered right, in percent.", cogme("thinking")]],
  };

  return {
    draw(holder, context) {
      this.clear();
      const pictures = [...(SETS[context.b.id] || []), ["bars", "Score with intervals", `${context.b.metrics[0].title}; whiskers are 95 % intervals, published numbers have none.`, bars], ["frames", "Score against frames", "Rows that say how many frames the model was shown.", frames]];
      holder.replaceChildren(...pictures.map(([id, title, about, make, wide]) => {
        const section = document.createElement("section");
        section.className = `card chart${wide ? " wide" : ""}`;
        const heading = document.createElement("h3"), p = document.createElement("p"), plot = document.createElement("div");
        heading.textContent = title; p.textContent = about;
        plot.className = "plot"; plot.id = `chart-${id}`; plot.setAttribute("role", "img"); plot.setAttribute("aria-label", `${title}; the numbers are in the table`);
        section.append(heading, p, plot);
        drawn.push([plot, () => make(context)]);
        return section;
      }));
      for (const [element] of drawn) seen.observe(element);
    },
    redraw() { for (const [element] of drawn) if (element.dataset.drawn) paint(element); },
    clear() { for (const [element] of drawn) { seen.unobserve(element); if (element.dataset.drawn) globalThis.Plotly?.purge(element); } drawn = []; },
  };
})();
