/* What the head of every page of ours does: light and dark, which the page remembers where it may. */
"use strict";
globalThis.Shell = (() => {
  const KEY = "reelbench-theme";
  const attempt = (work) => {
    try {
      return work();
    } catch {
      return null; // private mode
    }
  };
  /** Follow the system, or what the button said last. */
  function theme(button) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const set = (name) => {
      document.documentElement.dataset.theme = name;
      button.setAttribute("aria-pressed", String(name === "dark"));
    };
    const stored = () => attempt(() => localStorage.getItem(KEY));
    const follow = () => set(stored() || (dark.matches ? "dark" : "light"));
    button.addEventListener("click", () => {
      const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      attempt(() => localStorage.setItem(KEY, name));
      set(name);
    });
    dark.addEventListener("change", follow);
    follow();
  }
  return { theme };
})();
