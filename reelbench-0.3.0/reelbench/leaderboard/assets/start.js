/* The head is painted before the table's script runs; a tab in the background paints nothing. */
"use strict";
(() => {
  globalThis.Shell.theme(document.getElementById("theme"));
  const next = () => globalThis.Reelbench.load("table.js").catch((error) => document.getElementById("main").append(error.message));
  if (document.hidden) next();
  else requestAnimationFrame(() => setTimeout(next));
})();
