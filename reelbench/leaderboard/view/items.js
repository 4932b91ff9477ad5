/* The questions: search, filters, and the list in pages, of which only the one in view is made. The address holds the
   whole state; each change of it is a step that Back undoes, but a search that is being typed is one step. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, bdi } = R;
  const { items, runs } = data;
  const [benchmark] = data.benchmarks;
  const several = runs.length > 1;
  const [primary] = benchmark.metrics;
  const SIZE = 25;
  const REST = 100; // ms: the list answers a key or press at once; the question and the address follow when these rest
  const $ = (id) => document.getElementById(id);

  // What the records call a state of an answer, where that is no English -> what a reader calls it.
  const STATES = {
    parse_failed: "unreadable answer",
    empty: "empty answer",
    extra: "answer to no question",
    duplicate: "second answer to a question",
    prediction_missing: "no answer",
    media_missing: "video missing",
    media_unreadable: "unreadable video",
    judge_unparsable: "unreadable judgement",
    judge_unavailable: "not judged",
    judge_cut_off: "judgement cut off",
    judge_refused: "refused by the judge",
    judge_rejected: "rejected by the judge’s server",
    judge_budget: "beyond the judge’s budget",
    judge_pending: "awaiting the judge",
    judge_not_drawn: "not drawn for the judge",
    answers_hidden: "answer hidden",
    left_out: "left out by errata",
    cut_off: "cut off",
    refused: "ended by the server’s filter",
    media_not_seen: "frames not seen",
    prompt_cut: "prompt cut",
    ended_unknown: "ended for an unknown reason",
    model_failed: "the model failed",
    scorer_failed: "not scored: an error",
  };
  const stateName = (code) => (Object.hasOwn(STATES, code) ? STATES[code] : code.replaceAll("_", " "));
  const titled = (name) => name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());

  // --- which ---
  /** Whether answers have scores between wrong and right: then it is the reader who says from where on one is right. */
  const graded = items.some((item) => item.runs.some((run) => run?.score != null && run.score > primary.low && run.score < primary.high));
  let from = data.right;
  const answers = (item) => item.runs.filter(Boolean);
  const some = (test) => (item) => answers(item).some(test);
  const told = (item) => item.runs.filter((run) => run && run.right != null);
  const onlyOne = (item) => told(item).length > 1 && told(item).filter((run) => run.right).length === 1;
  /** Whether the metric, or the judge, says different things of two runs: free texts always differ. */
  const scoresDiffer = (item) => new Set(told(item).map((run) => run.score)).size > 1;
  const CHIPS = [
    ["", () => "All", () => true],
    [
      "wrong",
      () => (graded ? `${several ? "All under" : "Under"} ${from}` : several ? "All wrong" : "Wrong"),
      (item) => told(item).length > 0 && told(item).every((run) => !run.right),
    ],
    ...(several ? [["one", () => (graded ? `Only one from ${from}` : "Only one is right"), onlyOne]] : []),
    ...(several
      ? runs.map((run, i) => [
          `only-${run.letter}`,
          () => (graded ? `Only ${run.letter} from ${from}` : `Only ${run.letter} is right`),
          (item) => onlyOne(item) && item.runs[i]?.right,
        ])
      : []),
    ...(several ? [["differ", () => "Scores differ", scoresDiffer]] : []),
    ["unreadable", () => "Unreadable", some((run) => run.flags)],
    ["unscored", () => "Not scored", some((run) => run.state === "unscored")],
    ["disagree", () => "Judges disagree", some((run) => run.disagree)],
  ];
  /** Chip -> the questions that it shows, looked up once: a press costs one pass over the list. */
  let hits = new Map();
  function count(least) {
    from = least;
    for (const item of items) for (const run of answers(item)) if (graded && run.score != null) run.right = run.score >= from - 1e-9;
    hits = new Map(CHIPS.map(([name, , test]) => [name, name ? new Set(items.filter(test)) : null]));
  }
  count(from);
  const labels = (name) => [...new Set(items.flatMap((item) => item.facets?.[name] || []))];
  const reasons = [...new Set(items.flatMap((item) => answers(item).flatMap((run) => run.reason || [])))];
  const SELECTS = [
    ...benchmark.facets.map((facet) => [
      facet.name,
      titled(facet.name),
      labels(facet.name),
      (item, label) => item.facets?.[facet.name]?.includes(label),
    ]),
    ["pair", graded ? "One from there, one under" : "One right, one wrong", several && runs.length > 2 ? runs.flatMap((a) => runs.flatMap((b) => (a === b ? [] : `${a.letter}-not-${b.letter}`))) : [], (item, pair) => {
      const [won, lost] = pair.split("-not-").map((letter) => item.runs[runs.findIndex((run) => run.letter === letter)]);
      return won?.right === true && lost?.right === false;
    }],
    ["reason", "Why not scored", reasons, (item, reason) => answers(item).some((run) => run.reason === reason)],
  ].filter(([, , choices]) => choices.length > 1 || (choices.length === 1 && choices !== reasons));
  const gap = (item) => {
    const scores = told(item).map((run) => run.score);
    return scores.length > 1 ? Math.max(...scores) - Math.min(...scores) : -1;
  };
  const lowest = (item) => Math.min(...told(item).map((run) => run.score), Number.POSITIVE_INFINITY);
  const ORDERS = [
    ["", "As in the file", null],
    ["low", "Lowest score first", (a, b) => (lowest(a) === lowest(b) ? 0 : lowest(a) - lowest(b))],
    ...(several ? [["gap", "Furthest apart first", (a, b) => gap(b) - gap(a)]] : []),
  ];

  // --- what is searched: made when there is time, at the latest for the first search ---
  const index = new Map(); // a word of the texts -> the places of the items that have it: fewer than all texts hold
  let prepared = 0;
  const textOf = (item) =>
    [
      item.id,
      item.video,
      item.question,
      item.options,
      item.target?.text,
      Object.values(item.facets || {}),
      item.runs.map((run) => run && [run.said, run.reason, run.flags]),
    ]
      .flat(4)
      .filter(Boolean)
      .join(" ")
      .toLowerCase();
  function prepare(until) {
    while (prepared < items.length && !until()) {
      addWords(items[prepared], prepared);
      prepared += 1;
    }
  }
  function addWords(item, place) {
    for (const word of textOf(item).split(" ")) {
      const places = index.get(word);
      if (!places) index.set(word, [place]);
      else if (places.at(-1) !== place) places.push(place);
    }
  }
  /** Which items have a word with this in it: a 1 at their places. */
  function having(part) {
    const has = new Uint8Array(items.length);
    for (const [word, places] of index) if (word.includes(part)) for (const place of places) has[place] = 1;
    return has;
  }
  const later = globalThis.requestIdleCallback || ((work) => setTimeout(() => work({ timeRemaining: () => 8 }), 1));
  const inTime = (idle) => {
    prepare(() => idle.timeRemaining() < 2);
    if (prepared < items.length) later(inTime);
  };

  // --- a large page's questions: in parts beside it, which are loaded for who looks at one, or searches ---
  const parts = 1 + items.reduce((most, item) => Math.max(most, item.part ?? -1), -1);
  const itemsOf = async (part) => R.unpacked(await R.load(`parts/${part}`));
  let lastPart = { part: null, items: [] }; // that somebody looked at
  /** Fetch what a question's card shows. */
  async function complete(item) {
    const { part } = item;
    const opened = lastPart.part === part ? lastPart : { part, items: await itemsOf(part) };
    lastPart = opened;
    const whole = opened.items.find(({ id }) => id === item.id);
    const withMark = (run, i) => run && { ...run, right: item.runs[i].right }; // by the reader's own bound
    Object.assign(item, whole, { runs: whole.runs.map(withMark), part: null });
  }
  const REFRESH = 500; // ms
  let searched = 0, // parts whose answers are searched
    searching = false;
  /** Take up the answers of all parts, and show what is found meanwhile. */
  async function searchParts() {
    if (searching || searched === parts) return;
    searching = true;
    const placeOf = new Map(items.map((item, place) => [item.id, place]));
    let refreshed = performance.now();
    try {
      while (searched < parts) {
        for (const item of await itemsOf(searched)) addWords(item, placeOf.get(item.id));
        searched += 1;
        if (performance.now() - refreshed < REFRESH && searched < parts) continue;
        refreshed = performance.now();
        refresh();
      }
    } catch (error) {
      $("count").append(` (${error.message}: not all answers are searched)`);
    }
    searching = false;
  }

  // --- the list ---
  const state = new URLSearchParams();
  let view = items,
    page = 0,
    turned = false, // to a page that the open question is not on
    current = null,
    found = null, // the search and filters that `view` is of
    typed = false, // the address was last written for a search that is being typed
    writing = 0,
    revealing = 0;
  function find() {
    const words = (state.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) {
      prepare(() => false);
      searchParts();
    }
    const had = words.map(having);
    const shown = hits.get(state.get("show") || "");
    const chosen = SELECTS.filter(([name]) => state.get(name)).map(
      ([name, , , test]) =>
        (item) =>
          test(item, state.get(name)),
    );
    view = items.filter(
      (item, place) =>
        (!shown || shown.has(item)) && chosen.every((test) => test(item)) && had.every((has) => has[place]),
    );
    const order = ORDERS.find(([name]) => name === (state.get("order") || ""))?.[2];
    if (order) view = view.toSorted(order);
    found = state.toString();
  }
  const MARKS = [
    ["–", "no score"],
    ["✗", "wrong"],
    ["✓", "right"],
  ];
  /** One run's cell of the heat map down the list: the stronger its ground, the higher its score. */
  function cell(run, i) {
    const scored = run?.score != null;
    const [mark, word] = MARKS[run?.right == null ? 0 : run.right ? 2 : 1];
    const sign = graded && scored ? +run.score.toFixed(1) : mark;
    const tells = `${several ? `${runs[i].letter}: ` : ""}${graded && scored ? "" : word}${scored ? `, ${R.num(run.score, primary.unit)}` : ""}`;
    const share = scored ? (run.score - primary.low) / (primary.high - primary.low) : 0;
    return h("i", { class: `cell${graded ? " graded" : ""}`, role: "img", "aria-label": tells, title: tells, style: `--share:${(60 * share).toFixed(0)}%` }, sign);
  }
  const address = (item) => `#${state}${state.size ? "&" : ""}sample=${encodeURIComponent(item.id)}`;
  const here = () => `${current ? address(current) : `#${state}`}${turned ? `&page=${page + 1}` : ""}`;
  const row = (item) =>
    h(
      "li",
      {},
      h(
        "a",
        { href: address(item), "aria-current": item === current ? "true" : null },
        h("span", { class: "marks" }, item.runs.map(cell)),
        h(
          "span",
          { class: "what" },
          bdi(item.id, { class: "id" }),
          item.question && h("span", { class: "sub" }, bdi(item.question.slice(0, 110))),
        ),
      ),
    );
  const turn = (title, label, to, last) =>
    h(
      "button",
      {
        type: "button",
        "aria-label": label,
        disabled: to < 0 || to > last,
        onclick: () => {
          page = to;
          turned = true;
          draw();
          write(0);
        },
      },
      title,
    );
  function draw() {
    const last = Math.max(0, Math.ceil(view.length / SIZE) - 1);
    page = Math.min(page, last);
    const part = view.slice(page * SIZE, (page + 1) * SIZE);
    $("list").replaceChildren(...part.map(row));
    if (!part.length) $("list").append(h("li", { class: "empty" }, "Nothing matches."));
    const { count } = R;
    $("count").textContent = part.length
      ? `${count(page * SIZE + 1)} to ${count(page * SIZE + part.length)} of ${count(view.length)}`
      : "";
    if (searching && searched < parts) $("count").append(` (${Math.floor((100 * searched) / parts)} % of the answers are searched)`);
    $("pager").replaceChildren(turn("‹", "Page before", page - 1, last), turn("›", "Page after", page + 1, last));
    for (const chip of $("chips").children)
      chip.setAttribute("aria-pressed", String(chip.dataset.name === (state.get("show") || "")));
  }
  function write(wait, typing = false) {
    clearTimeout(writing);
    writing = setTimeout(() => {
      R.follow(current);
      const same = here() === location.hash;
      if (!same) history[typing && typed ? "replaceState" : "pushState"](null, "", here());
      typed = typing;
    }, wait);
  }
  /** Show what is searched and filtered; the open question stays open where it is among that, else the first follows. */
  function apply(typing) {
    turned = false;
    find();
    open(view.includes(current) ? current : view[0]);
    R.say(`${view.length} questions`);
    write(REST, typing);
  }
  /** Show what is found so far. */
  function refresh() {
    find();
    if (view.includes(current)) return draw();
    open(view[0]);
    R.follow(current);
  }
  const set = (name, value) => (value ? state.set(name, value) : state.delete(name));

  function select(name, label, choices) {
    const box = h(
      "select",
      {
        id: `f-${name}`,
        onchange: () => {
          set(name, box.value);
          apply(false);
        },
      },
      choices.map(([value, text]) => h("option", { value }, text)),
    );
    box.value = state.get(name) || "";
    return h("label", { class: "field" }, label, box);
  }
  function tools() {
    const box = h("input", {
      type: "search",
      id: "q",
      placeholder: "Words of a question, an answer, an id",
      autocomplete: "off",
      oninput: () => {
        set("q", box.value);
        apply(true);
      },
    });
    box.value = state.get("q") || "";
    const again = () => {
      if (!least.checkValidity() || !least.value) return;
      set("from", +least.value === data.right ? "" : least.value);
      count(+least.value);
      tools();
      apply(false);
      $("least").focus();
    };
    const { low, high } = primary;
    const least = h("input", { type: "number", id: "least", min: low, max: high, step: (high - low) / 50, value: from, onchange: again });
    $("tools").replaceChildren(...[
      h("label", { class: "field grow" }, "Search", box),
      graded && h("label", { class: "field" }, "Counts as right from", least),
      ...SELECTS.map(([name, label, choices]) =>
        select(name, label, [["", "All"], ...choices.map((one) => [one, name === "reason" ? stateName(one) : name === "pair" ? `${one.replace("-not-", " ✓, ")} ✗` : one])]),
      ),
      select(
        "order",
        "Order",
        ORDERS.map(([name, title]) => [name, title]),
      ),
    ].filter(Boolean));
    $("chips").replaceChildren(
      ...CHIPS.map(([name, title]) => [name, title(), hits.get(name)?.size ?? items.length])
        .filter(([name, , count]) => !name || count)
        .map(([name, title, count]) =>
          h(
            "button",
            {
              type: "button",
              class: "chip",
              "data-name": name,
              onclick: () => {
                set("show", name);
                apply(false);
              },
            },
            title,
            h("b", {}, R.count(count)),
          ),
        ),
    );
  }

  /** Read the address: what is searched and filtered, and which question is looked at. */
  function read() {
    clearTimeout(writing);
    typed = false;
    const query = new URLSearchParams(location.hash.slice(1));
    const [asked, at] = [query.get("sample"), Number(query.get("page"))];
    query.delete("sample");
    query.delete("page");
    turned = at > 0;
    if (turned) page = at - 1;
    if (found !== query.toString()) {
      for (const name of [...state.keys()]) state.delete(name);
      for (const [name, value] of query) state.set(name, value);
      if (graded) count(Number(state.get("from")) || data.right);
      tools();
      find();
    }
    return asked;
  }
  /** Show a question, and the page of the list that it is on. */
  function open(item) {
    current = item || null;
    if (!turned) page = Math.floor(Math.max(0, view.indexOf(item)) / SIZE);
    draw();
    clearTimeout(revealing);
    // It measures the list, which costs nothing once a frame has been drawn.
    requestAnimationFrame(() => {
      clearTimeout(revealing);
      revealing = setTimeout(reveal);
    });
  }
  function reveal() {
    const row = $("list").querySelector("[aria-current]")?.parentElement;
    if (!row) return;
    const top = row.offsetTop - $("list").offsetTop;
    // The list alone is scrolled, never the page.
    if (top < $("list").scrollTop) $("list").scrollTop = top;
    else $("list").scrollTop = Math.max($("list").scrollTop, top + row.offsetHeight - $("list").clientHeight);
  }
  /** The question that stands so many places further on. */
  function step(by) {
    turned = false;
    const at = view.indexOf(current);
    const to = at < 0 ? 0 : at + by;
    return view[Math.max(0, Math.min(view.length - 1, to))];
  }

  const byId = (id) => items.find((item) => item.id === id);
  const holds = (item) => view.includes(item);
  Object.assign(R, { stateName, titled, graded });
  R.items = { read, complete, open, step, address, byId, holds, first: () => view[0], write, prepare: () => later(inTime) };
})();
