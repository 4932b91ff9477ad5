// A graph as lines that are mended in place; what is wrong with a line is said while it is typed.
function graphFault(text, line) {
  const pattern = new RegExp(line, "u");
  const parents = new Map();
  for (const [place, one] of text.split("\n").entries()) {
    if (!one.trim()) continue;
    const found = pattern.exec(one);
    if (!found) return `Line ${place + 1} is not “name [time] <- names: evidence”.`;
    if (parents.has(found[1])) return `Line ${place + 1}: the name ${found[1]} is there already.`;
    parents.set(found[1], (found[3] || "").split(",").map((name) => name.trim()).filter(Boolean));
  }
  if (!parents.size) return "There is no line.";
  for (const [name, above] of parents) {
    const stranger = above.find((one) => one === name || !parents.has(one));
    if (stranger !== undefined) return stranger === name ? `${name} rests on itself.` : `${name} rests on ${stranger}, which is not there.`;
  }
  const settled = new Set();
  for (let before = -1; before < settled.size;) {
    before = settled.size;
    for (const [name, above] of parents) if (above.every((one) => settled.has(one))) settled.add(name);
  }
  const around = [...parents.keys()].find((name) => !settled.has(name));
  return around === undefined ? "" : `${around} rests on itself, by way of others.`;
}
asks.graph = (ask, item, changed) => {
  const warning = h("p", { class: "fault", role: "alert" });
  const text = marksOf(item)[ask.name] ?? ask.start;
  const box = h("textarea", { rows: Math.max(4, text.split("\n").length + 2), class: "graph", value: text, "aria-label": `Graph on ${item.id}`, spellcheck: "true", dir: "auto" });
  const tell = () => { warning.textContent = graphFault(box.value, ask.line); };
  box.addEventListener("input", () => {
    tell();
    changed(box.value === ask.start ? null : box.value);
  });
  const back = h("button", { type: "button", text: "As it was" });
  back.addEventListener("click", () => { box.value = ask.start; tell(); changed(null); });
  tell();
  return group(ask, box, h("div", { class: "tools" }, back), warning);
};
