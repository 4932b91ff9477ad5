/* The overall order over some of the benchmarks: the rule of `overall.py`, from each benchmark's win rates and pairs. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const LEAST = 3; // models from which on there is an order
  const NAMED = 3; // models below that are named
  const EPS = 1e-9;
  const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const known = new Map(); // group -> its pairs, once they are here

  /** The largest p alone that is told apart where the pairs of all these groups are adjusted together (Holm). */
  function largestTold(groups) {
    const all = groups.flatMap((group) => group.rows.flatMap((row, i) => group.rows.slice(i + 1).map((other) => pAlone(group, row, other)))).filter((p) => p != null);
    all.sort((a, b) => a - b);
    const end = all.findIndex((p, i) => p * (all.length - i) > 0.05);
    return end < 0 ? 1 : (all[end - 1] ?? -1);
  }
  const pAlone = (group, row, other) => {
    const [, p, , , alone = p] = known.get(group.i)(row, other) || [];
    return alone;
  };
  /** Best and worst ranks of placed models: they hold together at 95 %, over the pairs of all benchmarks. */
  function ranges(placed, groups) {
    const ends = new Map(),
      told = largestTold(groups);
    for (const model of placed) {
      const [low, high] = [[], []];
      for (const group of groups) {
        const row = rowIn(model, group);
        const others = group.rows.filter((other) => other !== row);
        if (!row || !others.length) continue;
        const surely = others.map((other) => {
          const p = pAlone(group, row, other);
          return p != null && p <= told ? Math.sign(known.get(group.i)(row, other)[0]) : 0;
        });
        low.push(surely.filter((sign) => sign > 0).length / others.length);
        high.push(1 - surely.filter((sign) => sign < 0).length / others.length);
      }
      ends.set(model, [mean(low), mean(high)]);
    }
    const all = [...ends.values()];
    const best = (model) => 1 + all.filter(([low]) => low > ends.get(model)[1] + EPS).length;
    const worst = (model) => placed.length - all.filter(([, high]) => high < ends.get(model)[0] - EPS).length;
    return (model, rank) => [Math.min(best(model), rank), Math.max(worst(model), rank)];
  }
  /** A model's ranked row in a group. */
  const rowIn = (model, group) => {
    const row = R.data.rows[model.cells[group.i]];
    return row?.rank == null ? null : row;
  };
  /** Which of two models is better in a group: 1, -1, or 0 where that can't be told. Published numbers go by rank. */
  function sign(group, model, other) {
    const [row, its] = [rowIn(model, group), rowIn(other, group)];
    if (!row || !its) return 0;
    if (!group.pairs) return row.source === "published" ? Math.sign(its.rank - row.rank) : 0;
    const [by, p] = known.get(group.i)(row, its) || [];
    return p != null && p <= 0.05 ? Math.sign(by) : 0;
  }
  /** Which models below are better where both ran, in the words of `headline.better_below`. */
  function betterBelow(model, placed, groups, found) {
    const better = [];
    for (const other of placed) {
      if (found.get(other).rank <= found.get(model).rank) continue;
      const signs = groups.map((group) => sign(group, model, other));
      const lost = groups.filter((_, i) => signs[i] < 0).map((group) => R.benchmarks.get(group.benchmark).title.replace(/ \(.*/, ""));
      if (lost.length && !signs.includes(1)) better.push(`${other.model} (rank ${found.get(other).rank}) is better on ${new Intl.ListFormat("en-GB").format(lost)}`);
    }
    const more = better.length - NAMED;
    return [...better.slice(0, NAMED), ...(more > 0 ? [`${more} more are better where both ran`] : [])].join("; ");
  }

  /**
   * How each model stands on these groups alone: model -> {rank, ranks, rate, covered, of}. Ranges come once the pairs
   * have been loaded; `again` is called then.
   */
  R.standings = (models, over, again) => {
    const groups = over.map((group) => ({ ...group, rows: models.map((model) => R.data.rows[model.cells[group.i]]).filter((row) => row?.rank != null) }));
    const found = new Map();
    for (const model of models) {
      const rates = groups.map((group) => model.rates[group.i]).filter((rate) => rate != null);
      const covered = groups.filter((group) => rowIn(model, group)).length;
      found.set(model, { rank: null, ranks: null, rate: rates.length ? mean(rates) : null, covered, of: groups.length, below: "" });
    }
    if (groups.length === 1) {
      // One question has one answer: the order is the table's own.
      for (const model of models) {
        const row = rowIn(model, groups[0]);
        if (row) Object.assign(found.get(model), { rank: row.rank, ranks: R.rangeEnds(row) });
      }
      return found;
    }
    const placed = models.filter((model) => found.get(model).rate != null && 2 * found.get(model).covered >= groups.length);
    if (placed.length < LEAST) return found;
    for (const model of placed) {
      const own = found.get(model);
      own.rank = 1 + placed.filter((other) => found.get(other).rate > own.rate + EPS).length;
    }
    const wanted = groups.filter((group) => group.pairs && !known.has(group.i));
    if (wanted.length) {
      Promise.all(wanted.map(async (group) => known.set(group.i, await R.loadPairs(group)))).then(again, () => {});
      return found;
    }
    for (const model of placed) found.get(model).below = betterBelow(model, placed, groups, found);
    if (groups.some((group) => !group.pairs)) return found;
    const range = ranges(placed, groups);
    const ran = (model) => groups.every((group) => rowIn(model, group)?.source !== "published");
    for (const model of placed.filter(ran)) found.get(model).ranks = range(model, found.get(model).rank);
    return found;
  };
})();
