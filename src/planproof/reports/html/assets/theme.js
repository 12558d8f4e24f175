// Light, dark or system theme. Runs before the page is rendered.
"use strict";

const planproofTheme = {
  names: { "": ["◐", "auto"], light: ["☀", "light"], dark: ["☾", "dark"] },

  // A page opened from a file may have no access to storage.
  get() {
    try {
      const stored = localStorage.getItem("planproof-theme") ?? "";
      return stored in planproofTheme.names ? stored : "";
    } catch { return ""; }
  },

  set(theme) {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("planproof-theme", theme); } catch { /* not stored */ }
  },
};
document.documentElement.dataset.theme = planproofTheme.get();
