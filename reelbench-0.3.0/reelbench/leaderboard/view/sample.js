/* One question: what was asked, what the models saw and said, what was read, and what judges made of it. */
"use strict";
(() => {
  const R = globalThis.Reelbench;
  const { data, h, svg, bdi, badge } = R;
  const { table, scroll } = globalThis.Elements;
  const { runs, strips, unseen } = data;
  const [benchmark] = data.benchmarks;
  const several = runs.length > 1;
  const primary = benchmark.metrics[0];
  const seconds = (time) => `${String(+time.toFixed(2)).replace("-", "−")} s`;
  const letter = (i) => String.fromCharCode(65 + i);
  const timesOf = (run) => data.times[run?.times] || [];
  const list = (value) => (value == null ? [] : Array.isArray(value) ? value : [value]);

  // --- what was asked ---
  function question(item) {
    if (!item.question) return R.note("The question is not on this machine.");
    return h("p", { class: "question", dir: "auto" }, item.question);
  }
  function options(item) {
    if (!item.options?.length) return null;
    const true_ = item.target.answer;
    return h(
      "ul",
      { class: "options" },
      item.options.map((text, i) => {
        const chosen = item.runs.flatMap((run, j) => (run?.parsed?.answer === letter(i) ? [runs[j].letter] : []));
        return h(
          "li",
          { class: true_ === letter(i) ? "true" : "" },
          h("b", {}, `${letter(i)} `),
          bdi(text),
          true_ === letter(i) && badge("reference", "human"),
          chosen.length > 0 && badge(several ? `chosen by ${chosen.join(", ")}` : "chosen", "run"),
        );
      }),
    );
  }
  function reference(item) {
    const { text, answer } = item.target;
    if (text != null) return [h("h3", { text: "Reference" }), R.longText(text)];
    return item.options?.length || answer == null ? null : h("p", {}, "Reference: ", h("b", {}, bdi(String(answer))));
  }

  // --- on the time axis ---
  const spansOf = (item) => item.target.spans || [];
  const spanOf = (run) => (Array.isArray(run?.parsed?.span) ? [run.parsed.span] : []);
  const tellSpan = ([from, to]) => `${seconds(from)} to ${seconds(to)}`;
  /** 45 s, 12:30, 1:05:00: as long as it must be. */
  function clock(time, whole) {
    if (whole < 120) return seconds(time);
    const [hours, minutes, rest] = [Math.floor(time / 3600), Math.floor(time / 60) % 60, Math.round(time % 60)];
    const two = (n) => String(n).padStart(2, "0");
    return whole < 3600 ? `${minutes}:${two(rest)}` : `${hours}:${two(minutes)}:${two(rest)}`;
  }
  const STEPS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600]; // s between the axis' marks
  /** A span's box: its left and width are its times' shares of the axis, however short it is. */
  function box(span, share, kind) {
    const [from, to] = [Math.min(...span), Math.max(...span)];
    const short = share(to) - share(from) < 0.5 ? " short" : "";
    const place = `left:${share(from)}%;width:${share(to) - share(from)}%`;
    return h("i", { class: `span ${kind}${short}`, style: place, "data-start": from, "data-end": to });
  }
  /** A picture's address: beside the page, or in it. */
  const picture = (files, k) => (Array.isArray(files) ? files[k] : `${files}${k}.jpg`);
  const THUMBS = 12; // % of the axis that a picture takes
  /** Pictures of the first run's frames that the page has, each at its time; of those too close to each other the first. */
  function thumbs(item, share) {
    const i = item.runs.findIndex((run) => run?.strip != null);
    if (i < 0) return null;
    const { times, files } = strips[item.runs[i].strip];
    let free = Number.NEGATIVE_INFINITY;
    const pictures = times.flatMap((time, k) => {
      const left = Math.max(0, Math.min(share(time) - THUMBS / 2, 100 - THUMBS));
      if (left < free) return [];
      free = left + THUMBS;
      const place = `left:${left}%;width:${THUMBS}%`;
      return h("img", { src: picture(files, k), alt: "", loading: "lazy", style: place });
    });
    const whose = several && !shared(item) ? ` of ${runs[i].letter}` : "";
    return h("div", { class: "line" }, h("span", { class: "sub" }, `frames${whose}`), h("div", { class: "thumbs" }, pictures), h("span", {}));
  }
  /** A line across the axis at the video's time; a press on the axis, or keys on it, move both. */
  function slider(video, low, high) {
    const head = h("i", { class: "playhead" });
    const follow = () => {
      head.style.left = `${(100 * (video.currentTime - low)) / (high - low)}%`;
      cover.setAttribute("aria-valuenow", video.currentTime.toFixed(2));
      cover.setAttribute("aria-valuetext", seconds(video.currentTime));
    };
    video.ontimeupdate = video.onseeking = follow;
    const go = (time) => {
      video.currentTime = Math.max(0, Math.min(time, video.duration || high));
      follow();
    };
    const seek = (event) => {
      const { left, width } = head.parentElement.getBoundingClientRect();
      go(low + ((high - low) * (event.clientX - left)) / width);
    };
    const press = (event) => {
      const now = video.currentTime;
      const keys = { ArrowLeft: now - 1, ArrowRight: now + 1, PageDown: now - 10, PageUp: now + 10, Home: 0, End: high };
      if (event.key in keys) go(keys[event.key]);
      else if (event.key === " ") video.paused ? video.play() : video.pause();
      else return;
      event.preventDefault();
      event.stopPropagation(); // the arrows go from question to question elsewhere
    };
    const spoken = { role: "slider", tabindex: 0, "aria-label": "Time in the video", "aria-valuemin": 0, "aria-valuemax": +high.toFixed(2) };
    const drag = (event) => event.buttons && seek(event);
    const cover = h("div", { class: "cover", ...spoken, onpointerdown: seek, onpointermove: drag, onkeydown: press }, head);
    follow();
    return cover;
  }
  function line({ title, name, spans, times, kind }, share) {
    const told = spans.map(tellSpan).join(", ") || "none";
    const ticks = times.map((time) =>
      svg("line", { class: "tick", x1: `${share(time)}%`, x2: `${share(time)}%`, y1: 0, y2: "100%" }),
    );
    return h(
      "div",
      { class: "line" },
      h("span", { class: "sub" }, title),
      h(
        "div",
        { class: "rail" },
        svg("svg", { role: "img", "aria-label": `${name}: ${told}` }, ticks),
        spans.map((span) => box(span, share, kind)),
      ),
      h("span", { class: "at" }, told),
    );
  }
  /** The video and the axis under it, which is drawn anew where only the video knows how long it is. */
  function timeline(item) {
    if (!item.file) return h("div", {}, axis(item));
    const video = h("video", { src: item.file, controls: true, preload: "metadata", "aria-label": `Video ${item.video}` });
    const place = h("div", {}, axis(item, video));
    video.onloadedmetadata = () => {
      if (item.duration || !Number.isFinite(video.duration)) return;
      item.duration = video.duration;
      place.replaceChildren(...axis(item, video));
    };
    return [video, place];
  }
  /** One linear axis for the reference and every run; it holds the video, all spans and all frames. */
  function axis(item, video) {
    const lines = item.runs.flatMap((run, i) => {
      const name = several ? runs[i].letter : "predicted";
      return run ? { title: several ? R.letter(i) : name, name, spans: spanOf(run), times: timesOf(run), kind: `c${i % 6}` } : [];
    });
    if (spansOf(item).length)
      lines.unshift({ title: "reference", name: "reference", spans: spansOf(item), times: [], kind: "span-true" });
    const asked = lines.some(({ spans }) => spans.length);
    if (!asked && !video) return null;
    const times = lines.flatMap((line) => [...line.spans.flat(), ...line.times]);
    const low = Math.min(0, ...times),
      high = Math.max(item.duration || 0, low + 1, ...times);
    const share = (time) => (100 * (time - low)) / (high - low);
    const every = STEPS.find((step) => (high - low) / step <= 5) || (high - low) / 5;
    const steps = Array.from({ length: 6 }, (_, i) => i * every).filter((step) => share(step) < 84);
    const past = item.duration && high > item.duration + 0.05;
    const grid = h(
      "div",
      { class: "lines" },
      video && slider(video, low, high),
      thumbs(item, share),
      asked && lines.map((one) => line(one, share)),
      h(
        "div",
        { class: "line", "aria-hidden": "true" },
        h("span", {}),
        h(
          "div",
          { class: "ruler" },
          [...steps, high].map((step) => h("i", { style: `left:${share(step)}%` }, clock(step, high))),
        ),
        h("span", {}),
      ),
    );
    const note = h(
        "p",
        { class: "note" },
        !item.duration
          ? `The axis ends at ${seconds(high)}; the length of the video is not known here.`
          : past
            ? `The video is ${seconds(item.duration)} long; the axis goes on to ${seconds(high)}, where the longest span ends.`
            : `The axis is the video, ${seconds(item.duration)}.`,
        asked && lines.some((line) => line.times.length) && " Ticks are the frames shown.",
        video && " Press on it, or use the arrow keys on it, to go there in the video.",
      );
    return [grid, note];
  }

  // --- what was seen ---
  function strip(item, run, whose) {
    if (run.strip == null) return h("p", { class: "note", text: unseen[run.unseen] });
    const { times, files, of } = strips[run.strip];
    const within = (time) => spansOf(item).some(([from, to]) => from <= time && time <= to);
    return h(
      "div",
      {},
      scroll(
        whose,
        h(
          "ol",
          { class: "strip" },
          times.map((time, i) =>
            h(
              "li",
              { class: within(time) ? "within" : "" },
              h("img", { src: picture(files, i), alt: `Frame at ${seconds(time)}`, loading: "lazy", height: 96 }),
              h("span", { class: "sub" }, seconds(time)),
            ),
          ),
        ),
      ),
      of > times.length && h("p", { class: "note" }, `${times.length} of the ${of} frames that the model saw.`),
    );
  }
  const shared = (item) => new Set(item.runs.filter(Boolean).map((run) => `${run.strip} ${run.unseen}`)).size === 1;

  // --- what was answered ---
  const SHOWN = new Set(
    "id state reason flags facets scores parsed judge_replies said cut thoughts raw score right disagree times strip unseen tokens seconds".split(
      " ",
    ),
  );
  const scalar = (value) => value === null || typeof value !== "object";
  const number = (value) =>
    typeof value === "number" ? String(+value.toFixed(4)).replace("-", "−") : value === null ? "–" : String(value);
  /** Anything that a record holds: texts as a list, values by name, lists of objects as a table. */
  function anything(name, value, label) {
    if (scalar(value)) return R.longText(number(value));
    if (Array.isArray(value) && value.every((one) => typeof one === "string"))
      return h(
        "ol",
        {},
        value.map((one) => h("li", {}, R.longText(one))),
      );
    const place = (i) => (name === "option_scores" ? letter(i) : String(i + 1));
    const entries = Object.entries(value).map(([key, one]) => [Array.isArray(value) ? place(+key) : key, one]);
    const columns = [
      ...new Set(entries.flatMap(([, one]) => (scalar(one) || Array.isArray(one) ? [] : Object.keys(one)))),
    ];
    const cell = (one) => (one === undefined ? "" : scalar(one) ? bdi(number(one)) : bdi(JSON.stringify(one)));
    const rows = entries.map(([name, one]) => [
      name,
      ...(columns.length && !scalar(one) && !Array.isArray(one) ? columns.map((column) => cell(one[column])) : [h("td", { colspan: columns.length || null }, cell(one))]),
    ]);
    return scroll(label, table({ class: "values" }, columns.length ? [h("td", {}), ...columns] : null, rows));
  }
  function read(run) {
    const { output, ...rest } = run.parsed || {};
    const pairs = Object.entries(rest).map(([name, value]) => [
      name,
      value == null
        ? R.none("Could not be read")
        : bdi(name === "span" && Array.isArray(value) ? value.map(seconds).join(" to ") : String(value)),
    ]);
    return [
      pairs.length > 0 &&
        h(
          "p",
          { class: "read" },
          "Read: ",
          pairs.flatMap(([name, node], i) => [i ? ", " : "", `${name} `, h("b", {}, node)]),
        ),
      output && h("details", {}, h("summary", { text: "The whole output" }), R.longText(output)),
    ];
  }
  // --- what the answers have in common ---
  const PAIRS = 160_000; // of words held against each other: more would be felt, and is an essay
  const pieces = (text) => text.match(/\s+|\d+(?:[.,:]\d+)*|[^\s\p{P}]+|\p{P}/gu) || [];
  /** Which pieces of a text are in the longest common subsequence with another, or null where there is too little of it. */
  function inCommon(ours, theirs) {
    const [n, m] = [ours.length, theirs.length];
    if (!n || !m || n * m > PAIRS) return null;
    const best = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i -= 1)
      for (let j = m - 1; j >= 0; j -= 1)
        best[i][j] = ours[i] === theirs[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    if (best[0][0] < Math.max(n, m) / 3) return null;
    const common = new Array(n).fill(false);
    for (let i = 0, j = 0; i < n && j < m; ) {
      if (ours[i] === theirs[j]) {
        common[i] = true;
        i += 1;
        j += 1;
      } else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
      else j += 1;
    }
    return common;
  }
  /** A text with what another does not say marked; as it stands where they have little in common. */
  function compared(text, other) {
    const ours = pieces(text);
    const common = other == null ? null : inCommon(ours, pieces(other));
    const box = R.longText(text);
    if (!common || !box.matches(".text") || common.every(Boolean)) return box;
    const parts = [];
    for (const [i, piece] of ours.entries()) {
      // A space between two marked words is marked with them.
      const marked = !common[i] && (piece.trim() || (i && !common[i - 1] && common[i + 1] === false));
      const last = parts.at(-1);
      if (last?.marked === Boolean(marked)) last.text += piece;
      else parts.push({ marked: Boolean(marked), text: piece });
    }
    box.replaceChildren(...parts.map((part) => (part.marked ? h("mark", { text: part.text }) : part.text)));
    return box;
  }
  /** What a run's answer is compared with: the first run's, and the first run's against the next. */
  const otherThan = (item, i) => item.runs.find((run, k) => k !== i && run && !run.cut)?.said;

  function words(run, other) {
    const raw = run.raw || (run.thoughts && run.thoughts + run.said);
    const all =
      raw &&
      h(
        "details",
        {},
        h("summary", { text: `As it came, with the reasoning (${R.count(raw.length)} characters)` }),
        R.longText(raw),
      );
    if (run.cut)
      return [
        R.note("The reasoning was never closed, so there is no answer."),
        h("details", {}, h("summary", { text: "As it came" }), R.longText(run.said)),
      ];
    return [compared(run.said, other), all];
  }
  function facts(run) {
    const place = (column) => benchmark.metrics.findIndex(({ title }) => title === data.scored[column]?.[0]);
    // What the badge says, once.
    const inOrder = Object.entries(run.scores || {}).filter(([column]) => data.scored[column]?.[0] !== primary.title).sort(([p], [q]) => place(p) - place(q));
    const scores = inOrder.map(([column, value]) => {
      const [title, unit, scale, lowest] = data.scored[column] || [R.titled(column)];
      return [R.short(title), unit && value !== null ? R.num(scale * (value - lowest), unit) : number(value)];
    });
    const tokens = Object.entries(run.tokens || {}).map(([name, value]) => [
      `${name} tokens`,
      value.toLocaleString("en"),
    ]);
    const pairs = [...scores, ...tokens, ...(run.seconds == null ? [] : [["took", seconds(run.seconds)]])];
    return pairs.length
      ? h(
          "ul",
          { class: "pairs" },
          pairs.map(([name, value]) => h("li", {}, h("span", { class: "sub" }, `${name} `), bdi(value))),
        )
      : null;
  }
  /** Whether the choice is right and what makes the answer wrong is its span. */
  const spanMissed = (run) => {
    const column = Object.keys(data.scored).find((name) => data.scored[name][0] === "Accuracy");
    return primary.title !== "Accuracy" && run.right === false && run.scores?.[column] * data.scored[column]?.[2] === 100;
  };
  function answer(item, run, i) {
    const head = [
      several && R.letter(i),
      several ? " " : null,
      several ? bdi(runs[i].model, { class: "name" }) : "Answer",
    ];
    if (!run)
      return h(
        "section",
        { class: "answer" },
        h("h3", {}, head),
        R.note("This run does not have the question."),
      );
    const others = Object.entries(run).filter(([name]) => !SHOWN.has(name));
    return h(
      "section",
      { class: "answer" },
      h(
        "h3",
        {},
        head,
        R.graded && run.score != null && badge(`${R.short(primary.title)} ${R.num(run.score, primary.unit)}`, run.right ? "human" : ""),
        !R.graded && run.right != null && badge(run.right ? "right" : spanMissed(run) ? "span missed" : "wrong", run.right ? "human" : "warn"),
        run.reason && badge(`not scored: ${R.stateName(run.reason)}`, "warn"),
        list(run.flags).map((flag) => badge(R.stateName(flag), "warn")),
        run.disagree && badge("judges disagree", "floor"),
      ),
      several && runs[i].heading && h("p", { class: "sub" }, bdi(runs[i].heading)),
      words(run, otherThan(item, i)),
      read(run),
      facts(run),
      others.flatMap(([name, value]) => [
        h("h4", { text: R.titled(name) }),
        anything(name, value, several ? `${R.titled(name)} of ${runs[i].letter}` : R.titled(name)),
      ]),
      run.judge_replies?.length > 0 && [
        h("h4", { text: `Judge’s replies (${run.judge_replies.length})` }),
        h("div", { class: "replies" }, run.judge_replies.map(R.replyCard)),
      ],
      !shared(item) && [
        h("h4", { text: "Frames it saw" }),
        strip(item, run, `Frames that ${runs[i].letter} saw`),
      ],
    );
  }

  function sampleCard(item) {
    const named = ([facet, labels]) => labels.map((label) => (/^\d/.test(label) ? `${facet} ${label}` : label.replaceAll("_", " ")));
    const labels = Object.entries(item.facets || {}).flatMap(named);
    return h(
      "article",
      { class: "card entry", "aria-labelledby": "sample-id" },
      h(
        "header",
        {},
        h("h2", { id: "sample-id" }, bdi(item.id)),
        h(
          "div",
          { class: "badges" },
          labels.map((label) => badge(label)),
          h("a", { class: "sub", href: R.items.address(item), text: "link" }),
        ),
      ),
      h("p", { class: "sub" }, "Video ", bdi(item.video), !item.file && (data.sent ? " (not in this file)" : " is not on this machine: name its folder in REELBENCH_MEDIA, and make this page again.")),
      h(
        "div",
        { class: "bench" },
        h(
          "div",
          {},
          question(item),
          timeline(item),
          options(item),
          reference(item),
          shared(item) && [
            h("h3", { text: several ? "Frames they saw" : "Frames it saw" }),
            strip(item, item.runs.find(Boolean), "Frames"),
          ],
        ),
        h(
          "div",
          { class: several ? "pair answers" : "answers" },
          item.runs.map((run, i) => answer(item, run, i)),
        ),
      ),
    );
  }

  R.sampleCard = sampleCard;
})();
