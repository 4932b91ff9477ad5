/* The text pages: how to submit, how it works. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h } = R;
  const { table, scroll } = globalThis.Elements;

  function submitPage(main) {
    const code = (text) => h("pre", { tabindex: 0 }, text);
    const { note } = R;
    const dataset = data.dataset || "ORG/RESULTS";
    const judges = data.benchmarks
      .filter((b) => b.judge)
      .map((b) => `${b.title}: ${b.judge}`)
      .join("; ");
    main.replaceChildren(
      h("h1", { text: "Submit in four commands" }),
      h(
        "p",
        { class: "lead" },
        "A submission is a folder with every answer. All numbers are computed again from it before anything is listed.",
      ),
      h(
        "ol",
        { class: "steps" },
        h(
          "li",
          {},
          h("h2", { text: "Run your model" }),
          code(
            `${data.install}\nreelbench eval NAME --model ORG/MODEL --about setting=zero-shot --output runs`,
          ),
          note(
            "NAME is a benchmark; with --base-url URL the model is one that a server serves. “reelbench run” takes any lmms-eval model and its arguments. Answers made elsewhere: reelbench score NAME --predictions FILE --model ORG/MODEL --output runs.",
          ),
        ),
        h(
          "li",
          {},
          h("h2", { text: "Judge what needs a judge" }),
          code("reelbench score --run runs --judge MODEL --judge-prompts official"),
          note(
            `Some benchmarks have no score without one. To be listed beside the published numbers, take the authors’ judge and their prompts. ${judges ? `The authors’ judges: ${judges}.` : ""}`,
          ),
        ),
        h(
          "li",
          {},
          h("h2", { text: "Check it as we will" }),
          code("reelbench leaderboard add runs --store results"),
          note("It names every number, id, count or hash that does not follow from the samples."),
        ),
        h(
          "li",
          {},
          h("h2", { text: "Open a pull request" }),
          code(`reelbench leaderboard publish --store results --dataset ${dataset} --create-pr`),
          note(
            data.dataset
              ? `${dataset} is the results dataset of this leaderboard. Its checks run the third command on your files. To fix your submission, run “reelbench leaderboard replace” and then the same command again: it goes into your open pull request.`
              : "ORG/RESULTS is the results dataset of the leaderboard that you submit to. Its checks run the third command on your files.",
          ),
        ),
      ),
      h("h2", { text: "What gets a rank" }),
      h(
        "div",
        { class: "prose" },
        h("p", {
          text: "Complete runs on a split whose answers are public, with one entry per model and setting. Runs with --limit are listed and not ranked. A run in which at most 2 % of the questions have no score is ranked by its lower bound. Judged benchmarks are listed by the judge that answered and its prompts, which are never mixed.",
        }),
      ),
    );
  }
  const { track, ticks } = globalThis.Plots;
  /** Marks on one scale: [name, value, its ends, in words, more of `track`]; `kind` colours a line. */
  const drawn = (steps, rules, lines) =>
    [null, lines.map(([name, value, ends, words, { kind = "", ...more } = {}]) => [name, h("td", { class: "lane-cell" }, h("span", { class: kind }, track({ value, ends, steps, rules, tip: `${name}: ${words}`, ...more }))), words])];
  /** A drawn example of each rule, by its heading: heads (or none) and lines of a table. */
  const EXAMPLES = {
    "Which model is better": drawn(ticks(-2, 8), [{ at: 0, kind: "zero" }], [
      ["A minus B", 4, [1.2, 6.8], "A is better", { kind: "above" }],
      ["A minus C", 2, [-1, 5], "not told apart", { kind: "level", hollow: true }],
    ]),
    "A score's own interval": drawn(ticks(0, 100), [], [["A", 62, [54, 69], "54 to 69"], ["B", 1, [0.2, 5], "never under 0"]]),
    "Range of ranks": drawn([1, 2, 3], [], [["A", 1, [1, 2], "1–2"], ["B", 2, [1, 3], "1–3"], ["C", 3, [2, 3], "2–3"]]),
    "Not ranked": drawn(ticks(0, 60), [{ at: 20, kind: "baseline" }], [["A", 50, [45, 55], "rank 1"], ["A, blind", 28, [23, 33], "–", { hollow: true }]]),
    "Questions without a score": drawn(ticks(35, 50), [], [["A", 43, [40, 46], "43.0"], ["B", 41.2, [38, 47], "≥ 41.2"]]),
    "Judges and data": [["Model", "Judge", "Rank"], [["A", "first", "1 of 2"], ["B", "first", "2 of 2"], ["C", "second", "1 of 1"]]],
    "Small differences": drawn(ticks(0, 4), [{ at: 2.1, kind: "zero" }], [["A minus B", 3, null, "found"], ["A minus C", 1, null, "often missed"]]),
    Overall: [["Model", "First benchmark", "Second", "Mean"], [["A", "beats B, C: 100", "beats C, ties B: 75", "87.5"], ["B", "ties C: 25", "beats C, ties A: 75", "50"], ["C", "ties B: 25", "0", "12.5"]]],
  };
  const example = (title) => EXAMPLES[title] && h("figure", { class: "example" }, table({ "aria-label": `Example: ${title}` }, ...EXAMPLES[title]));
  /** A paragraph of the rules, or a heading: bold words and code as Markdown has them. */
  function ruleText(text) {
    const line = text.replace(/\s+/g, " ").replaceAll(" %", "\u00a0%");
    if (line.startsWith("## ")) return [h("h2", { text: line.slice(3) }), example(line.slice(3))];
    const part = (words) => (words.startsWith("`") ? h("code", { text: words.slice(1, -1) }) : words);
    return h("p", {}, line.split(/(`[^`]+`)/).map(part));
  }
  function aboutPage(main) {
    const explained = { intervals: true, bounded: true, rules: [{ kind: "baseline" }, { kind: "human" }] };
    main.replaceChildren(
      h("h1", { text: "How it works" }),
      h("div", { class: "card" }, R.key([explained], true)),
      h(
        "div",
        { class: "prose rules" },
        h("h2", { text: "What a cell says" }),
        h("p", {
          text: "A dash is no result, never a zero. “recomputed”: from every answer; “ids checked”: questions and references are the benchmark’s own too.",
        }),
        data.rules.split(/\n\s*\n/).flatMap(ruleText),
      ),
      h(
        "details",
        { class: "explained" },
        h("summary", { text: "What each metric measures" }),
        data.benchmarks.map(metricTable),
      ),
    );
  }
  function metricTable(b) {
    const rows = b.metrics.map((metric) => [metric.title, h("td", { class: "nowrap", text: data.units[metric.unit].range }), metric.about || "–", h("td", { class: "sub", text: metric.cite || "–" })]);
    return h("div", {}, h("h3", { text: b.title }), scroll(`Metrics of ${b.title}`, table({}, ["Metric", "Scale", "What it measures", "Source"], rows)));
  }

  R.addPage("submit", submitPage);
  R.addPage("about", aboutPage);
})();
