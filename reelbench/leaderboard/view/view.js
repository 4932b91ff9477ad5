/* The page: its head, the address, the keys. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi } = R;
  const { runs, items } = data;
  const [benchmark] = data.benchmarks;
  const [primary] = benchmark.metrics;
  const $ = (id) => document.getElementById(id);

  // --- head ---
  const [alone, ...others] = runs;
  $("title").replaceChildren(others.length ? `${benchmark.title}: ${runs.length} runs side by side` : bdi(alone.model));
  const { count } = R;
  const about = [
    `${benchmark.title}, ${data.split}${data.version > 1 ? ` (version ${data.version})` : ""}: ${count(items.length)} questions`,
    `. Scores are ${R.short(primary.title)} (${data.units[primary.unit].label}).`,
    data.only && ` Only the questions of --only ${data.only} are here; the numbers are those of all.`,
  ];
  $("lead").append(...about.filter(Boolean));
  $("runs").replaceChildren(...R.legend());
  $("apart").replaceChildren(...R.apart());
  const missing = items.length - data.asked;
  $("local").textContent = [
    data.agreed
      ? "This benchmark’s data is under an agreement: neither this page nor its pictures may be passed on."
      : "This page may contain the data owners’ questions and frames. Do not publish this page.",
    missing &&
      ` ${missing === items.length ? "The questions are" : `${count(missing)} questions are`} not here (neither questions.jsonl nor the benchmark’s data), so their ids stand for them.`,
  ]
    .filter(Boolean)
    .join("");
  for (const [i, lines] of data.faults.entries())
    if (lines.length)
      $("lead").after(
        h(
          "div",
          { class: "card banner wrong", role: "alert" },
          h("b", {}, "The numbers of ", runs.length > 1 ? `${runs[i].letter} ` : "", bdi(runs[i].model), " are not what its samples say."),
          h("ul", {}, lines.map((line) => h("li", {}, bdi(line)))),
        ),
      );
  R.summary($("summary"));

  // --- going about ---
  let shown = null;
  /** Draw a question's card, and above it why it is this one; of a large page it is fetched first. */
  async function card(item, why) {
    shown = item;
    const banner = why && h("p", { class: "card banner" }, why);
    const draw = (content) => $("sample").replaceChildren(...[banner, content].filter(Boolean));
    if (!item) return draw(R.note("No question to show."));
    if (item.part != null) {
      draw(R.note("Loading the question…"));
      try {
        await R.items.complete(item);
      } catch (error) {
        if (item === shown) draw(R.note(`${error.message}: the folder beside the page is part of it.`));
        return;
      }
      if (item !== shown) return;
    }
    draw(R.sampleCard(item));
  }
  function show(item, why) {
    card(item, why);
    R.items.open(item);
  }
  R.follow = (item) => {
    if (item !== shown) card(item);
  };
  function render() {
    const asked = R.items.read();
    const item = R.items.byId(asked);
    const listed = item && R.items.holds(item);
    let why = null;
    if (asked !== null && !listed)
      why = item
        ? [bdi(asked), " is not in this list. ", R.link("Show it among all questions", `#${new URLSearchParams({ sample: asked })}`)]
        : ["No question has the id ", bdi(asked), "."];
    show(listed ? item : R.items.first(), why);
  }
  function step(by) {
    const item = R.items.step(by);
    if (!item) return;
    show(item);
    R.items.write(150);
    R.say(item.id);
  }
  // Also where Back and Forward lead, which say nothing else for addresses that a script wrote.
  addEventListener("popstate", () => {
    if (location.hash === "#sample" || location.hash === "#main") return;
    render();
    if ($("results").contains(document.activeElement)) $("tools").scrollIntoView();
    if (!$("sample").contains(document.activeElement)) $("sample").focus({ preventScroll: R.narrow.matches === false });
  });

  // --- keys ---
  const STEPS = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 };
  const typing = (element) => element.matches("input, select, textarea, [contenteditable]");
  const scrolls = (element) => element.closest(".scroll, video") !== null;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    if (typing(event.target)) {
      if (event.key !== "Escape" || event.target.id !== "q") return;
      $("sample").focus({ preventScroll: true });
      event.preventDefault(); // a search box would be emptied, without a word to the list
      return;
    }
    if (event.key in STEPS && !(event.key.startsWith("Arrow") && scrolls(event.target))) step(STEPS[event.key]);
    else if (event.key === "/") $("q").focus();
    else if (event.key === "?") $("help").showModal();
    else return;
    event.preventDefault();
  });
  $("keys").addEventListener("click", () => $("help").showModal());

  render();
  R.items.prepare();
})();
