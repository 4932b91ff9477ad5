/* From a difference to the questions that make it: what one model has right and the other wrong, and how to see them. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { h, bdi, num } = R;
  const SHOWN = 60;
  const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;

  /** All samples of a run, or why they are not here. */
  async function samplesOf(row) {
    const run = await R.loadRun(row);
    if (run.withheld) throw new Error(`${run.withheld} So no list of questions is shown.`);
    if (!run.samples) throw new Error("The answers of this run are not on this page.");
    const parts = await Promise.all(Array.from({ length: run.samples }, (_, i) => R.loadSamples(row, i)));
    return { key: run.key, samples: new Map(parts.flat().map((sample) => [sample.id, sample])) };
  }
  /** A sample's main score, as its benchmark makes it from the columns; nothing where it has none. */
  function scoreOf(b, sample) {
    const found = b.per_item.map(([column, scale, lowest]) => ((sample?.scores?.[column] ?? Number.NaN) - lowest) * scale);
    return found.length && found.every(Number.isFinite) ? mean(found) : null;
  }
  /** Questions, each with a link to the answer of `row`; `close` ends the dialog. */
  function list(title, row, found, { graded, metric, close }) {
    const item = ([id, sample, ours, theirs]) =>
      h("li", {}, h("a", { href: R.answerHref(row, id), onclick: close }, h("code", {}, bdi(id))), h("span", { class: "sub" }, [sample.video && ` video ${sample.video}`, graded && ` ${num(ours, metric.unit)} against ${num(theirs, metric.unit)}`].filter(Boolean).join(",")));
    return h(
      "section",
      {},
      h("h3", { text: `${title}: ${R.count(found.length)} question${found.length === 1 ? "" : "s"}` }),
      h("ul", { class: "ids" }, found.slice(0, SHOWN).map(item)),
      found.length > SHOWN && h("p", { class: "note" }, `and ${R.count(found.length - SHOWN)} more`),
    );
  }
  const quoted = (text) => (/^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  /** Open the list of questions behind `row` minus `base`. */
  R.questions = async (row, base, metric) => {
    const b = R.benchmarkOf(row),
      content = h("div", {}, R.note("Loading the answers of both…"));
    const close = h("button", { type: "button", class: "tool", onclick: () => box.close() }, "Close");
    const [a, c] = [R.brief(row.model), R.brief(base.model)];
    const box = h(
      "dialog",
      { class: "card questions", "aria-label": `Questions behind ${a} minus ${c}`, onclose: () => box.remove() },
      h("header", {}, h("h2", {}, bdi(a), " minus ", bdi(c), ` on ${b.title}`), close),
      content,
    );
    document.body.append(box);
    box.showModal();
    try {
      const [ours, theirs] = await Promise.all([samplesOf(row), samplesOf(base)]);
      const both = [...ours.samples].flatMap(([id, sample]) => {
        const scores = [scoreOf(b, sample), scoreOf(b, theirs.samples.get(id))];
        return scores.includes(null) ? [] : [[id, sample, ...scores]];
      });
      if (!both.length) throw new Error("No question has a score in both: the answers are hidden, or the metric isn’t one of single questions.");
      const right = (score) => score >= b.right;
      const graded = new Set(both.flatMap(([, , p, q]) => [p, q])).size > 2;
      const split = (test) => both.filter(test).sort((p, q) => Math.abs(q[2] - q[3]) - Math.abs(p[2] - p[3]));
      const [won, lost] = graded ? [split(([, , p, q]) => p > q), split(([, , p, q]) => p < q)] : [split(([, , p, q]) => right(p) && !right(q)), split(([, , p, q]) => right(q) && !right(p))];
      const shown = { graded, metric, close: () => box.close() };
      const how = graded ? (x, y) => `${x} higher than ${y}` : (x, y) => `${x} right, ${y} wrong`;
      content.replaceChildren(
        h("p", {}, `${R.count(both.length)} questions have a score in both: ${R.count(lost.length)} speak for `, bdi(c), `, ${R.count(won.length)} for `, bdi(a), `, ${R.count(both.length - won.length - lost.length)} for neither.`),
        h("p", { class: "note" }, "To see just these, question, film and answers side by side, with the store on your machine:"),
        h("pre", { class: "wraps" }, `reelbench view ${quoted(`results/${theirs.key}`)} ${quoted(`results/${ours.key}`)} --only ${graded ? "differ" : "A-not-B"}`),
        h("div", { class: "two" }, list(how(c, a), row, lost, shown), list(how(a, c), row, won, shown)),
      );
    } catch (error) {
      content.replaceChildren(R.note(error.message));
    }
  };
})();
