/* The table: sorted, searched, filtered and in pages. Only the rows of the page in view are made. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { h, ask, asked, count, compare } = R;
  const plain = (value) => (value == null || value === "" ? R.none() : value);
  /**
   * Rows by a column. Either way what isn't ranked (`below`) comes last, before it what has no value; equal ones keep
   * their order.
   */
  function sorted(rows, column, up, below) {
    const keyed = rows.map((row) => [column.get(row), row, Boolean(below?.(row))]);
    keyed.sort(([a, , aBelow], [b, , bBelow]) => {
      if (aBelow !== bBelow) return aBelow - bBelow;
      const missing = (a == null || a === "") - (b == null || b === "");
      return missing || (a == null || a === "" ? 0 : up ? compare(a, b) : compare(b, a));
    });
    return keyed.map(([, row]) => row);
  }

  /**
   * Make a table in `holder`.
   * A column is {id, title, about, group, cls, get(row), node(row, ticked), head(ticked), up, always, show, lane}: `get`
   * gives what is sorted and saved, `node` what is shown, `head` what stands under the title; `up` sorts the least first.
   * Options: rows, columns, label, sort "id:asc", then (a column's id), text(row) to search, keep(row), changed(),
   * below(row): whether it stands below all others however they are sorted, which a column's own `below` overrides;
   * id(row); compared(): ticked rows, the first of which stands pinned above all, as do others that are not on this page of
   * the table; verdict(view, ticked): what they say in words; hidden(row): left out
   * until all are asked for, by search or filter too, as the button `more(n)` says; range(row): its best and worst rank,
   * for bands in the order of ranks: one ends where no range reaches across.
   */
  function make(holder, { rows, columns, label, sort, then, text, keep, changed, below, id, compared, verdict, hidden, more, range, key }) {
    const size = rows.length > 500 ? 25 : 50;
    const chosen = asked("cols") ? new Set(asked("cols").split(",")) : null;
    for (const column of columns)
      column.shown = column.always || (chosen ? chosen.has(column.id) : column.show !== false);
    let [by, way] = (asked("sort") || sort).split(":");
    // What others may do with the table; `unseen(n)` is called with how many columns are out of view.
    const told = {};
    let order = [],
      view = [],
      page = 0;
    // What was pinned when the heads were made.
    let before = null;
    // What is searched: made once, when there is time or at the first search.
    let texts = null;
    const prepare = () => {
      texts ??= new Map(rows.map((row) => [row, text(row).join(" ").toLowerCase()]));
    };

    const head = h("thead"),
      pinned = h("tbody", { class: "pinned" }),
      note = h("p", { class: "compare-note", hidden: true }),
      body = h("tbody"),
      info = h("span"),
      all = h("button", { type: "button", class: "tool", onclick: () => all.reveal() }),
      pages = h("nav", { class: "pager", "aria-label": "Pages of the table" });
    const scroll = globalThis.Elements.scroll(label, h("table", { class: "rows", "aria-label": label, "data-marks": true }, head, body));
    holder.classList.toggle("fits", !R.narrow.matches); // as it mostly does: `edge` looks
    const parts = [note, scroll, key, h("div", { class: "table-foot" }, info, pages)].filter(Boolean);
    holder.replaceChildren(...parts);
    // A shadow at the edge says that more lies beyond it; where nothing does, the head stays under the page's own.
    const edge = () => {
      const cut = scroll.scrollLeft + scroll.clientWidth < scroll.scrollWidth - 2;
      holder.classList.toggle("cut", cut);
      holder.classList.toggle("fits", scroll.scrollWidth <= scroll.clientWidth + 1);
      const right = scroll.scrollLeft + scroll.clientWidth + 2;
      const beyond = [...(head.firstChild?.children || [])].filter((cell) => cell.offsetLeft + cell.offsetWidth > right).length;
      told.unseen?.(beyond + lacking().length);
      // On what sticks alone: a property of the holder would have every cell's style made anew.
      const under = document.querySelector(".top").offsetHeight;
      head.style.setProperty("--under", `${under}px`);
      pinned.style.setProperty("--under", `${under + (head.lastElementChild?.offsetHeight || 0)}px`);
    };
    scroll.addEventListener("scroll", edge, { passive: true });
    new ResizeObserver(() => {
      fit();
      edge();
    }).observe(scroll);
    /** Of the columns that nobody chose, as many as there is room for: what is of the score goes last. */
    let fitted = 0;
    // Titles of columns for which there was no room.
    let crowded = [];
    function fit() {
      const width = scroll.clientWidth;
      if (asked("cols") || !width || width === fitted) return;
      const wanted = (column) => column.always || column.show !== false;
      if (fitted) {
        for (const column of columns) column.shown = wanted(column);
        heads();
        fill();
      }
      fitted = width;
      crowded = [];
      for (let round = 0; round < 2; round++) {
        let over = scroll.scrollWidth - width;
        if (over <= 1) break;
        const weight = (column) => (column.vital ? 0 : column.group === "Other scores" ? 1 : column.id === "weights" ? 2 : 3);
        const last = columns.filter((column) => column.shown && !column.always && !column.lane && !column.picks).sort((p, q) => weight(p) - weight(q));
        const before = columns.filter((column) => column.shown);
        while (over > 0 && last.length) {
          const column = last.pop();
          over -= head.querySelector(`th[data-id="${CSS.escape(column.id)}"]`)?.offsetWidth || 0;
          column.shown = false;
          crowded.push(column.title);
        }
        heads();
        const gone = before.flatMap((column, i) => (column.shown ? [] : [i])).reverse();
        for (const row of holder.querySelectorAll("tr[data-row]")) for (const i of gone) row.deleteCell(i);
        edge();
      }
      tellRows();
    }
    // What a reader chose is shown, with room or without.
    const lacking = () => (asked("cols") ? [] : crowded);
    /** Which of the rows are in view, and which columns are not for want of room. */
    function tellRows() {
      const from = page * size;
      const rowsInView = view.length ? `${count(from + 1)} to ${count(Math.min(from + size, view.length))} of ${count(view.length)}` : "";
      const titles = lacking();
      const hiddenColumns = titles.length ? `no room for ${titles.slice(0, 4).join(", ")}${titles.length > 4 ? " …" : ""} (see Columns)` : "";
      info.textContent = [rowsInView, hiddenColumns].filter(Boolean).join("; ");
    }
    const clear = () => {
      ask({ pick: null });
      draw();
    };
    const tell = (ticked) =>
      note.replaceChildren(
        ...(verdict?.(view, ticked) || []),
        h("span", { class: "sub" }, "Paired over the videos of both, all pairs of the table counted at once (Holm, 5 %). "),
        h("button", { type: "button", class: "link", onclick: clear }, "Clear the ticks"),
      );
    all.reveal = () => {
      ask({ all: "1" });
      draw();
      body.querySelector("a")?.focus();
    };

    const second = columns.find((column) => column.id === then);
    // What decides between equal ones.
    const settled = second ? sorted(rows, second, false, below) : rows;
    function arrange() {
      const first = columns.find((column) => column.id === by);
      order = first ? sorted(settled, first, way === "asc", first.below || below) : settled;
    }
    function heads() {
      const shown = columns.filter((column) => column.shown),
        ticked = compared?.() || [];
      head.replaceChildren(
        h(
          "tr",
          {},
          shown.map((column) => {
            const active = column.id === by;
            const button = h(
              "button",
              { type: "button", class: "sort", title: [column.group, column.about].filter(Boolean).join(": "), onclick: () => choose(column) },
              column.title,
              h("span", { class: "arrow", "aria-hidden": "true" }, active ? (way === "asc" ? "↑" : "↓") : "↕"),
            );
            return h(
              "th",
              {
                scope: "col",
                class: column.cls,
                "data-id": column.id,
                "aria-sort": active ? (way === "asc" ? "ascending" : "descending") : null,
              },
              button,
              column.head?.(ticked),
            );
          }),
        ),
      );
    }
    function choose(column) {
      way = by === column.id ? (way === "asc" ? "desc" : "asc") : column.up ? "asc" : "desc";
      by = column.id;
      ask({ sort: `${by}:${way}` });
      page = 0;
      arrange();
      heads();
      draw();
      head.querySelector(`th[data-id="${CSS.escape(by)}"] button`).focus();
    }
    /** Search and filter. The order is kept from the last sort, so a key press costs one pass over the rows. */
    function find() {
      const words = asked("q").toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length) prepare();
      view = order.filter((row) => keep(row) && words.every((word) => texts.get(row).includes(word)));
      const left = hidden && !words.length && !asked("all") && !filtered() ? view.filter(hidden) : [];
      if (left.length && left.length < view.length) view = view.filter((row) => !hidden(row));
      else left.length = 0;
      all.remove();
      if (left.length) {
        all.textContent = more(left);
        info.after(all);
      }
    }
    const filtered = () => [...R.address.query.keys()].some((name) => !["sort", "cols", "pick", "lane", "all", "without"].includes(name));
    function turn(to) {
      page = to;
      fill();
      holder.scrollIntoView({ block: "nearest" });
    }
    function pager(last) {
      const wanted = [...new Set([0, page - 1, page, page + 1, last])].filter((p) => p >= 0 && p <= last);
      const button = (title, to, attributes) =>
        h("button", { type: "button", onclick: () => turn(to), ...attributes }, title);
      return [
        button("‹", page - 1, { "aria-label": "Page before", disabled: page === 0 }),
        ...wanted.flatMap((p, i) => [
          i && p - wanted[i - 1] > 1 ? h("span", {}, "…") : null,
          button(p + 1, p, { "aria-label": `Page ${p + 1}`, "aria-current": p === page ? "page" : null }),
        ]),
        button("›", page + 1, { "aria-label": "Page after", disabled: page === last }),
      ];
    }
    function fill() {
      const focused = holder.contains(document.activeElement) && document.activeElement.dataset.id;
      const shown = columns.filter((column) => column.shown);
      const last = Math.max(0, Math.ceil(view.length / size) - 1);
      page = Math.min(page, last);
      const ticked = compared?.() || [];
      const part = view.slice(page * size, (page + 1) * size);
      const line = (row, attributes) =>
        h(
          "tr",
          { ...attributes, "data-row": id?.(row), "data-compared": ticked.includes(row) },
          shown.map((column) =>
            h(
              column.id === "model" ? "th" : "td",
              { class: column.cls, scope: column.id === "model" ? "row" : null },
              column.node ? column.node(row, ticked) : plain(column.get(row)),
            ),
          ),
        );
      pinned.replaceChildren(...ticked.filter((row, i) => !i || !part.includes(row)).map((row) => line(row)));
      pinned.remove();
      if (pinned.children.length) body.before(pinned);
      note.hidden = !ticked.length;
      if (ticked.length) tell(ticked);
      // The lanes' axes are of differences, or no longer.
      if (before !== (ticked[0] ?? null) || before) heads();
      before = ticked[0] ?? null;
      const ranges = part.map((row) => (!below?.(row) && range?.(row)) || [Infinity, 0]);
      let reach = 0,
        band = 1;
      // The best rank from each row on.
      const next = ranges.map(([best]) => best);
      for (let i = next.length - 1; i-- > 0; ) next[i] = Math.min(next[i], next[i + 1]);
      const bands = ranges.map(([, worst], i) => {
        if (next[i] > reach) band = 1 - band;
        reach = Math.max(reach, worst);
        return band ? "band odd" : "band";
      });
      body.replaceChildren(
        ...part.filter((row) => row !== ticked[0]).map((row, i, rest) => {
          const low = below?.(row);
          const classes = [
            low && i && !below(rest[i - 1]) && "ruled",
            by === "rank" && range && !low && bands[part.indexOf(row)],
          ];
          return line(row, { class: classes.filter(Boolean).join(" ") || null });
        }),
      );
      holder.querySelector(".lane[data-tip]")?.setAttribute("tabindex", 0);
      if (focused) holder.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
      // When the frame is laid out anyway.
      if (holder.isConnected) requestAnimationFrame(edge);
      if (!part.length) {
        body.append(
          h(
            "tr",
            {},
            h(
              "td",
              { class: "empty", colspan: shown.length },
              rows.length ? "Nothing matches these filters." : "No results yet.",
            ),
          ),
        );
      }
      tellRows();
      pages.replaceChildren(...(last ? pager(last).filter(Boolean) : []));
    }
    function draw() {
      find();
      fill();
      R.say(`${view.length} rows`);
      changed?.();
    }
    arrange();
    heads();
    find();
    fill();
    fit();
    R.idle(prepare);
    // Who comes near the rows may pin one.
    for (const kind of ["pointerover", "focusin"]) holder.addEventListener(kind, () => columns.forEach((column) => column.shown && column.prepare?.()), { once: true });
    let waiting = 0;
    Object.assign(told, {
      draw() {
        page = 0;
        draw();
      },
      view: () => view,
      ticked: () => compared?.() || [],
      fill,
      /** Fill it once in the next frame, however often it is asked for until then. */
      fillSoon() {
        cancelAnimationFrame(waiting);
        waiting = requestAnimationFrame(fill);
      },
      columns,
      show(column, on) {
        column.shown = on;
        ask({
          cols: columns
            .filter((c) => c.shown)
            .map((c) => c.id)
            .join(","),
        });
        heads();
        fill();
      },
    });
    return told;
  }

  // --- what stands above it ---
  /** A button that opens what `make()` gives: made when it is first pressed. */
  // Pixels between a menu and the window.
  const EDGE = 8;
  /** Move what opens under a button into the window, however the buttons wrapped. */
  function inWindow(pop) {
    pop.style.right = "";
    const { left } = pop.getBoundingClientRect();
    if (left < EDGE) pop.style.right = `${left - EDGE}px`;
  }
  function menu(title, make, kind = "", opened = () => {}) {
    const pop = h("div", { class: "pop" });
    const fill = () => {
      if (!pop.firstChild) pop.append(...make().filter(Boolean));
      opened();
    };
    return h("details", { class: `menu ${kind}`, ontoggle: () => inWindow(pop) }, h("summary", { class: "tool", onclick: fill }, title), pop);
  }
  for (const kind of ["click", "focusin"])
    document.addEventListener(kind, (event) => {
      for (const one of document.querySelectorAll("details.menu[open]"))
        if (!one.contains(event.target)) one.open = false;
    });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const one of document.querySelectorAll("details.menu[open]")) {
      one.open = false;
      one.firstChild.focus();
    }
  });
  function columnMenu(table) {
    const boxes = new Map();
    const choice = (column) => {
      const box = h("input", { type: "checkbox", onchange: (event) => table.show(column, event.target.checked) });
      boxes.set(column, box);
      return h("label", { title: column.about }, box, column.title);
    };
    const made = menu("Columns", () => {
      const groups = Map.groupBy(table.columns.filter((column) => !column.always), (column) => column.group || "");
      return [...groups].map(([name, columns]) => h("div", { class: "part", role: "group", "aria-label": name }, name && h("b", { class: "sub", text: name }), columns.map(choice)));
    }, "", () => {
      // A wider window has room for more.
      for (const [column, box] of boxes) box.checked = column.shown;
    });
    table.unseen = (n) => {
      made.firstChild.textContent = n ? `Columns (${n} hidden)` : "Columns";
    };
    return made;
  }
  /** Save what the table shows now, with what its numbers can't be quoted without. */
  async function save(table, name, kind) {
    await R.more();
    const shown = table.columns.filter((column) => column.shown && !column.unsaved),
      ticked = table.ticked();
    const view = [...new Set([...ticked, ...table.view()])];
    const beside = (column, row) => column.beside?.(row, ticked) || [];
    const { csv, save: give } = globalThis.Plots;
    if (kind === "csv") {
      const heads = shown.flatMap((column) => [column.title, ...(view.length ? beside(column, view[0]).map(([what]) => `${column.title} ${what}`) : [])]);
      const rows = view.map((row) => shown.flatMap((column) => [column.get(row) ?? null, ...beside(column, row).map(([, value]) => value ?? null)]));
      give(csv([heads, ...rows]), "text/csv;charset=utf-8", `${name}.csv`);
    } else {
      const pairs = (column, row) => [[column.id, column.get(row) ?? null], ...beside(column, row).map(([what, value]) => [`${column.id}_${what.replaceAll(" ", "_")}`, value ?? null])];
      const records = view.map((row) => Object.fromEntries(shown.flatMap((column) => pairs(column, row))));
      give(JSON.stringify(records, null, 1), "application/json", `${name}.json`);
    }
  }
  function saveMenu(table, name, whole) {
    const view = (kind) => h("button", { type: "button", class: "item", id: `save-${kind}`, onclick: () => save(table, name, kind) }, `This view as ${kind.toUpperCase()}`);
    const file = (name, text) => h("a", { class: "item", href: `downloads/${name}`, download: name }, text);
    return menu("Download", () => [
      view("csv"),
      view("json"),
      whole && file(`${name}.csv`, "All rows of this benchmark as CSV"),
      file("leaderboard.json", "The whole leaderboard as JSON"),
    ]);
  }
  /** A button that copies the address of what is shown, or of what `changes` make of it. */
  function copyButton(title = "Copy link", changes = {}) {
    const button = h(
      "button",
      {
        type: "button",
        class: "tool",
        onclick: () => {
          ask(changes);
          navigator.clipboard?.writeText(location.href).then(
            () => R.say("Link copied"),
            () => {},
          );
          button.textContent = "Copied";
          setTimeout(() => {
            button.textContent = title;
          }, 1500);
        },
      },
      title,
    );
    return button;
  }
  function select(label, name, choices, apply) {
    const box = h(
      "select",
      {
        id: `f-${name}`,
        onchange: () => {
          ask({ [name]: box.value });
          apply(name);
        },
      },
      h("option", { value: "" }, "All"),
      choices.map(([value, text, n]) => h("option", { value }, n == null ? text : `${text} (${count(n)})`)),
    );
    box.value = asked(name);
    return h("label", { class: "field" }, label, box);
  }
  /** On a phone one lane at a time: which. */
  function lanePicker(table) {
    const lanes = [...table.columns.filter((column) => column.picks), ...table.columns.filter((column) => column.lane)];
    if (lanes.length < 2 || !R.narrow.matches) return null;
    const box = h(
      "select",
      {
        id: "lane",
        onchange: () => {
          ask({ lane: box.value, cols: null });
          R.render();
          document.getElementById("lane")?.focus();
        },
      },
      lanes.map((lane) => h("option", { value: lane.id }, lane.title)),
    );
    box.value = lanes.find((lane) => lane.shown)?.id;
    return h("label", { class: "field" }, h("span", { class: "sr" }, "Shown"), box);
  }
  /** Search, filters, columns, download, picture (`picture()`: its title, words, of), link. Filters are [label, name, how many choices, choices()]; `apply(name)` is called when one changed. */
  function toolbar(table, { before, filters, name, whole, apply, picture }) {
    const box = h("input", {
      type: "search",
      id: "q",
      placeholder: "Model, setting, judge…",
      autocomplete: "off",
      oninput: () => {
        ask({ q: box.value }, true);
        apply("q");
      },
    });
    box.value = asked("q");
    const useful = filters.filter(([, , n]) => n > 1);
    const write = () => {
      const n = useful.filter(([, id]) => asked(id)).length;
      popover.firstChild.textContent = n ? `Filters (${n})` : "Filters";
    };
    const clear = () => {
      ask(Object.fromEntries(useful.map(([, id]) => [id, null])));
      R.render();
    };
    const changed = (id) => {
      write();
      apply(id);
    };
    const popover = menu("", () => [
      ...useful.map(([label, id, , choices]) => select(label, id, choices(), changed)),
      h("button", { type: "button", class: "item", onclick: clear }, "Clear filters"),
    ], "filters");
    write();
    return h(
      "div",
      { class: "bar-row" },
      lanePicker(table),
      h("label", { class: "field grow" }, h("span", { class: "sr" }, "Search"), box),
      h("div", { class: "tools" }, before, useful.length > 0 && popover, columnMenu(table), saveMenu(table, name, whole), h("button", { type: "button", class: "tool", onclick: (event) => R.takePicture(event.currentTarget, name, { rows: table.view(), ticked: table.ticked(), lanes: table.columns.filter((column) => column.lane && column.shown), ...picture() }) }, "Copy as picture"), copyButton()),
    );
  }

  R.table = make;
  R.toolbar = toolbar;
  R.menu = menu;
  R.copyButton = copyButton;
})();
