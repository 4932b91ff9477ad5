/* The one maker of elements for every page of ours: what comes from a file becomes text, never markup. */
"use strict";
globalThis.Elements = (() => {
  // What a user can change has an attribute for its default alone.
  const PROPERTIES = new Set(["checked", "value"]);

  function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value == null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "text") element.textContent = value;
      else if (PROPERTIES.has(name)) element[name] = value;
      else if (name === "style") element.style.cssText = value; // a policy may forbid the attribute
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child != null && child !== false));
    return element;
  }
  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  /** A whole number with its commas; a browser's own way loads its words for all numbers first. */
  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const cells = (tag, scope, ones) => ones.map((one) => (one instanceof HTMLTableCellElement ? one : h(tag, { scope }, one)));
  /** A table of heads (or none) and rows, each begun by its own head. A cell is what stands in it, or is a cell already. */
  const table = (attributes, heads, rows) =>
    h(
      "table",
      attributes,
      heads && h("thead", {}, h("tr", {}, cells("th", "col", heads))),
      h("tbody", {}, rows.map(([name, ...rest]) => h("tr", {}, cells("th", "row", [name]), cells("td", null, rest)))),
    );
  /** A place that scrolls sideways, by the keyboard too. */
  const scroll = (label, ...children) => h("section", { class: "scroll", tabindex: 0, "aria-label": `${label}, scrolls sideways` }, children);
  return { h, svg, count, table, scroll };
})();
