/* What a table was at each publication: what changed, and a model's places over time. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi, num } = R;
  const { table, scroll } = globalThis.Elements;
  const MOST = 12; // models named in one line

  const dayOf = (day) => (day ? R.day(day) : "Not published yet");
  /** A group's editions, the first one first: {day, models, places: row's id -> [rank, value], if it has one}. */
  async function editions(g) {
    const { days, models, rows } = await R.load(g.history);
    const found = days.map((day, i) => ({ day, models: models[i], places: new Map() }));
    for (const [id, places] of Object.entries(rows)) {
      let last = null;
      places.forEach((place, i) => {
        last = place === 0 ? last : place;
        if (last) found[i].places.set(id, last);
      });
    }
    return found;
  }
  const listed = (names) => [...names.slice(0, MOST).flatMap((name, i) => [i > 0 && ", ", name]).filter(Boolean), names.length > MOST && ` and ${R.count(names.length - MOST)} more`];
  const rowOf = new Map(data.rows.map((row) => [row.id, row]));
  /** What an edition changed, in a line for each kind of change. */
  function changes(edition, before, unit) {
    const named = (id, text) => h("span", {}, bdi(R.brief(rowOf.get(id).model)), text);
    const [fresh, moved, scored] = [[], [], []];
    for (const [id, [rank, value]] of edition.places) {
      const old = before.places.get(id);
      if (!old) fresh.push(named(id, ` (${rank})`));
      else if (old[0] !== rank) moved.push(named(id, ` ${old[0]} → ${rank}`));
      if (old && old[1] !== value) scored.push(named(id, ` ${num(old[1], unit)} → ${num(value, unit)}`));
    }
    const gone = before.models + fresh.length - edition.models;
    return [["New", fresh], ["Rank", moved], ["Score", scored]]
      .filter(([, names]) => names.length)
      .map(([what, names]) => h("p", {}, h("b", { text: `${what}: ` }), listed(names)))
      .concat(gone > 0 ? h("p", { text: `${R.count(gone)} without a place any more` }) : []);
  }
  /** What changed in a table since it was published first, the last change first. */
  R.whatChanged = async (g) => {
    const unit = R.benchmarks.get(g.benchmark).metrics[0].unit;
    const all = await editions(g);
    const items = all.slice(1).map((edition, i) => h("li", {}, h("b", { text: dayOf(edition.day) }), changes(edition, all[i], unit)));
    return h("ul", { class: "changes" }, items.reverse(), h("li", {}, h("b", { text: dayOf(all[0].day) }), ` first published, ${R.count(all[0].models)} models`));
  };
  /** A model's places in a table over time, or nothing. */
  R.placesOverTime = async (row) => {
    const g = R.group(row);
    if (!g.history) return null;
    const { unit } = R.benchmarkOf(row).metrics[0];
    const all = (await editions(g)).filter((edition) => edition.places.has(row.id));
    if (!all.length) return null;
    const lines = all.map(({ day, models, places }) => {
      const [rank, value] = places.get(row.id);
      return [dayOf(day), h("td", { class: "num", text: `${rank} of ${models}` }), h("td", { class: "num", text: num(value, unit) })];
    });
    return h("div", { class: "breakdown" }, h("h3", { text: "Rank and score over time" }), scroll("Rank and score over time", table({}, ["Published", ...["Rank", "Score"].map((title) => h("th", { scope: "col", class: "num" }, title))], lines.reverse())));
  };
})();
