// One way to ask each kind of thing. `asks[type](ask, item, changed)` returns the elements; texts go in as text, never as markup.
const named = (item, ask) => [item.part, ask.title || ask.name].filter(Boolean).join(" ").toLowerCase();
const group = (ask, ...children) => h("fieldset", {},
  h("legend", {}, ask.title || ask.name, ...(ask.hint ? [h("span", { class: "hint", text: " " + ask.hint })] : [])), ...children);

const asks = {
  scale(ask, item, changed) {
    const scale = h("div", { class: "scale" });
    const { anchors } = ask;
    // A word on each score, not only on the ends: that of the one that is pointed at, or else chosen.
    const words = Object.keys(anchors).length > 2 ? h("p", { class: "meaning hint" }) : null;
    const chosen = () => scale.querySelector("input:checked");
    const tell = (input) => {
      if (words) words.textContent = input && anchors[input.value] ? `${input.value}: ${anchors[input.value]}` : "";
    };
    for (let value = ask.low; value <= ask.high; value++) {
      const input = h("input", { type: "radio", name: `${item.key}|${ask.name}`, value: String(value), checked: marksOf(item)[ask.name] === value, "aria-label": `${named(item, ask)} ${value}${anchors[value] ? `: ${anchors[value]}` : ""}` });
      input.addEventListener("change", () => { changed(value); tell(input); });
      const box = h("label", {}, input, String(value));
      box.addEventListener("pointerenter", () => tell(input));
      scale.append(box);
    }
    scale.addEventListener("focusin", (event) => tell(event.target));
    for (const name of ["pointerleave", "focusout"]) scale.addEventListener(name, () => tell(chosen()));
    tell(chosen());
    return group(ask, scale, h("div", { class: "ends" },
      h("span", { text: `${ask.low}: ${anchors[ask.low]}` }), h("span", { text: `${ask.high}: ${anchors[ask.high]}` })), words);
  },

  choice(ask, item, changed) {
    const options = ask.options.map(({ value, text }) => {
      const input = h("input", { type: "radio", name: `${item.key}|${ask.name}`, value, checked: marksOf(item)[ask.name] === value });
      input.addEventListener("change", () => changed(value));
      return h("label", {}, input, h("span", { text, dir: "auto", lang: item.language || "" }));
    });
    return group(ask, h("div", { class: ask.inline ? "choices inline" : "choices" }, ...options));
  },

  // What stands behind it is shown once all before it is said, and once it is pressed.
  reveal(ask, item, changed) {
    const button = h("button", { type: "button", text: ask.title });
    const before = item.asks.slice(0, item.asks.indexOf(ask));
    button.addEventListener("click", () => changed(true));
    const box = h("div", { class: "tools" }, button);
    box.settle = (marks) => {
      button.disabled = !before.every((one) => settled(one, marks));
      button.hidden = marks[ask.name] !== undefined;
    };
    return box;
  },

  labels(ask, item, changed) {
    const known = ask.labels.map(([name]) => name);
    const own = (marksOf(item)[ask.name] || []).filter((name) => !known.includes(name));
    const typed = ask.other ? h("input", { type: "text", class: "wide", value: own.join(", "), placeholder: ask.other, "aria-label": `${ask.other} on ${item.id}` }) : null;
    const others = () => (typed ? typed.value.split(",").map((name) => name.trim()).filter((name) => name && !known.includes(name)) : []);
    const chosen = () => [...inputs.filter((input) => input.checked).map((input) => input.value), ...new Set(others())];
    const inputs = [];
    if (typed) typed.addEventListener("input", () => changed(chosen()));
    const limit = () => {
      const full = chosen().length >= ask.most;
      for (const input of inputs) input.disabled = full && !input.checked;
    };
    const options = ask.labels.map(([name, meaning]) => {
      const input = h("input", { type: "checkbox", value: name, checked: (marksOf(item)[ask.name] || []).includes(name) });
      input.addEventListener("change", () => { limit(); changed(chosen()); });
      inputs.push(input);
      return h("label", {}, input, h("span", {}, name, h("span", { class: "hint", text: " – " + meaning })));
    });
    limit();
    return group(ask, h("div", { class: "choices" }, ...options), ...(typed ? [typed] : []));
  },

  text(ask, item, changed) {
    const box = h("textarea", { rows: ask.rows || 2, value: marksOf(item)[ask.name] ?? ask.start ?? "", "aria-label": `${ask.title || ask.name} on ${item.id}`, placeholder: ask.title || "", dir: "auto" });
    box.addEventListener("input", () => changed(box.value));
    return ask.start === undefined ? box : group(ask, box); // what is filled in hides the placeholder
  },

  verdict(ask, item, changed) {
    const reason = h("input", { type: "text", class: "wide", value: marksOf(item).reason || "", placeholder: "Why?", "aria-label": `Why is ${item.id} bad?` });
    const bad = h("input", { type: "checkbox", checked: marksOf(item).verdict === "bad", "aria-keyshortcuts": "B" });
    bad.dataset.key = "bad";
    const fit = () => { reason.hidden = !bad.checked; };
    bad.addEventListener("change", () => { fit(); changed(bad.checked ? "bad" : null); });
    reason.addEventListener("input", () => { mark(item, "reason", reason.value); });
    fit();
    return h("div", { class: "tools" }, h("label", {}, bad, " " + ask.title), reason);
  },

  span(ask, item, changed) {
    const read = () => marksOf(item)[ask.name] || [null, null];
    const warning = h("p", { class: "fault", role: "alert" });
    const between = h("div", { class: "between" });
    const bar = h("div", { class: "bar" }, between, h("div", { class: "now" }));
    const set = (end, time) => {
      const span = [...read()];
      span[end] = time === null || Number.isNaN(time) ? null : rounded(Math.min(Math.max(0, time), player.length || time));
      changed(span.every((one) => one === null) ? null : span);
      draw();
    };
    const ends = ["start", "end"].map((name, end) => {
      const handle = h("div", { class: "handle", role: "slider", tabindex: 0, "aria-label": `${ask.title} ${name}`, "aria-valuemin": 0 });
      const typed = h("input", { type: "text", inputmode: "decimal", "aria-label": `${ask.title} ${name}, in seconds`, placeholder: "seconds", autocomplete: "off" });
      typed.addEventListener("input", () => set(end, typed.value.trim() ? secondsOf(typed.value) : null));
      typed.addEventListener("change", () => draw(true));
      const nudge = (by) => { const time = (read()[end] ?? player.time) + by; set(end, time); player.seek(read()[end]); };
      const button = (text, act) => {
        const made = h("button", { type: "button", text: text, "aria-label": `${text}: ${ask.title} ${name}` });
        made.addEventListener("click", act);
        return made;
      };
      const key = end ? "O" : "I";
      const here = button(`Set (${key})`, () => set(end, player.time));
      here.setAttribute("aria-keyshortcuts", key);
      if (item.active === ask) here.dataset.key = name;
      handle.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: event.shiftKey ? -1 : -.1, ArrowDown: event.shiftKey ? -1 : -.1, ArrowRight: event.shiftKey ? 1 : .1, ArrowUp: event.shiftKey ? 1 : .1, PageDown: -1, PageUp: 1, ",": -player.frame, ".": player.frame }[event.key];
        if (event.key === "Home") set(end, 0);
        else if (event.key === "End") set(end, player.length);
        else if (by !== undefined) nudge(by);
        else return;
        event.preventDefault();
        event.stopPropagation();
      });
      const steps = [["−1 s", () => -1], ["−0.1", () => -.1], ["−1 f", () => -player.frame], ["+1 f", () => player.frame], ["+0.1", () => .1], ["+1 s", () => 1]];
      return { handle, typed, row: h("div", { class: "end", role: "group", "aria-label": `${ask.title} ${name}` },
        h("b", { text: end ? "End" : "Start" }), typed, here, ...steps.map(([text, by]) => button(text, () => nudge(by())))) };
    });
    bar.append(...ends.map(({ handle }) => handle));
    const timeAt = (event) => { const box = bar.getBoundingClientRect(); return (event.clientX - box.left) / box.width * player.length; };
    let dragged = null;
    bar.addEventListener("pointerdown", (event) => {
      if (!player.length) return;
      dragged = ends.findIndex(({ handle }) => handle === event.target);
      bar.setPointerCapture(event.pointerId);
      if (dragged < 0) player.seek(timeAt(event));
      else ends[dragged].handle.focus();
      event.preventDefault();
    });
    bar.addEventListener("pointermove", (event) => {
      if (dragged === null) return;
      if (dragged >= 0) set(dragged, timeAt(event));
      player.seek(timeAt(event));
    });
    for (const name of ["pointerup", "pointercancel"]) bar.addEventListener(name, () => { dragged = null; });
    const draw = (retype = false) => {
      const span = read();
      const share = (time) => player.length ? Math.min(100, 100 * time / player.length) : 0;
      ends.forEach(({ handle, typed }, end) => {
        const time = span[end] ?? (end ? player.length : 0);
        handle.style.left = `${share(time)}%`;
        handle.toggleAttribute("data-empty", span[end] === null);
        handle.setAttribute("aria-valuemax", String(rounded(player.length)));
        handle.setAttribute("aria-valuenow", String(rounded(time)));
        handle.setAttribute("aria-valuetext", span[end] === null ? "not set" : clock(time));
        if (retype || document.activeElement !== typed) typed.value = span[end] === null ? "" : String(span[end]);
      });
      between.hidden = span.includes(null) || span[1] < span[0];
      if (!between.hidden) Object.assign(between.style, { left: `${share(span[0])}%`, width: `${share(span[1]) - share(span[0])}%` });
      warning.textContent = fault(ask, marksOf(item)[ask.name]);
      if (item.active === ask) player.looped = at("loop").checked && !between.hidden && span[1] > span[0] ? span : null;
    };
    const clear = h("button", { type: "button", text: "Clear", "aria-label": `Clear ${ask.title}` });
    clear.addEventListener("click", () => { changed(null); draw(true); });
    const play = h("button", { type: "button", text: "Play it (L)", "aria-label": `Play it (L): ${ask.title}` });
    play.addEventListener("click", () => playSpan(read()));
    const box = group(ask, bar, ...ends.map(({ row }) => row), h("div", { class: "tools" }, play, clear), warning);
    box.draw = draw;
    draw(true);
    return box;
  },
};
function playSpan([start, end]) {
  if (start === null || end === null) return;
  player.looped = at("loop").checked ? [start, end] : null;
  player.seek(start);
  if (strip.hidden) video.play().catch(() => {});
}

// --- what is shown ---
const shows = {
  text({ heading, text, language, others }) {
    const words = h("p", { class: "text", text: text, dir: "auto" });
    if (language) words.lang = language;
    const list = (others || []).length ? [h("ul", { class: "others" }, ...others.map((other) => h("li", { text: other, dir: "auto" })))] : [];
    return [h("h2", { text: heading }), words, ...list];
  },
  span({ heading, span }) {
    const play = h("button", { type: "button", text: span[0] === span[1] ? `${span[0]} s: go there` : `${span[0]} to ${span[1]} s: play it` });
    play.addEventListener("click", () => playSpan(span));
    return [h("h2", { text: heading }), h("p", {}, play)];
  },
  marks({ heading, marks }, item) {
    const table = h("table", {}, h("caption", { class: "hint", text: heading }));
    for (const { who, said, take } of marks) {
      const button = h("button", { type: "button", text: "Take", "aria-label": `Take what ${who} said` });
      button.addEventListener("click", () => {
        state.marks[item.key] = { ...take, ...(marksOf(item).note ? { note: marksOf(item).note } : {}) };
        keep();
        show();
      });
      const tools = [button];
      if (take.span) {
        const play = h("button", { type: "button", text: "Play", "aria-label": `Play the span of ${who}` });
        play.addEventListener("click", () => playSpan(take.span));
        tools.push(play);
      }
      table.append(h("tr", {}, h("th", { scope: "row", text: who }), h("td", { text: said, dir: "auto" }), h("td", {}, h("div", { class: "tools" }, ...tools))));
    }
    return [table];
  },
};
