// Light, dark, or as the system has it. Runs before anything is drawn.
"use strict";

const planproofTheme = {
  names: { "": ["◐", "auto"], light: ["☀", "light"], dark: ["☾", "dark"] },

  // A page that was opened from a file may not be allowed to keep anything.
  get() {
    try {
      const kept = localStorage.getItem("planproof-theme") ?? "";
      return kept in planproofTheme.names ? kept : "";
    } catch { return ""; }
  },

  set(theme) {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("planproof-theme", theme); } catch { /* not kept */ }
  },
};
document.documentElement.dataset.theme = planproofTheme.get();
