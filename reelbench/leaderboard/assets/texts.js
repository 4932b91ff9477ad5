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
            `${data.install}\nreelbench run -- --tasks reelbench --model qwen2_5_vl \\\n  --model_args pretrained=ORG/MODEL --output_path runs`,
          ),
          note(
            "Any lmms-eval model works. Answers made elsewhere: reelbench score NAME --predictions FILE --model ORG/MODEL --output runs.",
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
              ? `${dataset} is the results dataset of this leaderboard. Its checks run the third command on your files. To mend what you handed in, run “reelbench leaderboard replace” and then the same command again: it goes into your open pull request.`
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
  function aboutPage(main) {
    const paragraphs = data.rules.split(/\n\s*\n/).map((text) =>
      h(
        "p",
        {},
        text
          .replace(/\s+/g, " ")
          .split(/(\*\*[^*]+\*\*|`[^`]+`)/)
          .map((part) =>
            part.startsWith("**")
              ? h("b", { text: part.slice(2, -2) })
              : part.startsWith("`")
                ? h("code", { text: part.slice(1, -1) })
                : part,
          ),
      ),
    );
    main.replaceChildren(
      h("h1", { text: "How it works" }),
      h("div", { class: "card" }, R.key([{ intervals: true, bounded: true, rules: [{ kind: "baseline" }, { kind: "human" }] }], true)),
      h("div", { class: "prose" }, paragraphs),
      h("h2", { text: "What a cell says" }),
      h(
        "div",
        { class: "prose" },
        h("p", {
          text: "A dash is a result that is not there: not run, not judged, or not printed by the source. It is never a zero. Whiskers are each score’s own 95 % interval over videos; published numbers have none. Adjusted ones (Holm) count all pairs of a table at once.",
        }),
        h("p", {
          text: "“recomputed” marks a run whose every number was computed again from its samples; “ids checked” says that its questions, references and labels were held to the benchmark’s own data as well.",
        }),
      ),
      h("h2", { text: "Metrics" }),
      ...data.benchmarks.map(metricTable),
    );
  }
  function metricTable(b) {
    const rows = b.metrics.map((metric) => [metric.title, h("td", { class: "nowrap", text: data.units[metric.unit].range }), metric.about || "–", h("td", { class: "sub", text: metric.cite || "–" })]);
    return h("div", {}, h("h3", { text: b.title }), scroll(`Metrics of ${b.title}`, table({}, ["Metric", "Scale", "What it measures", "Source"], rows)));
  }

  R.addPage("submit", submitPage);
  R.addPage("about", aboutPage);
})();
