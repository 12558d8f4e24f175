// The page around: light and dark, the keys, and the way between the run and its cases.
"use strict";

(() => {
  const { element, drawn } = planproof;
  const slot = planproof.slots(document);
  const themes = { "": "◐ auto", light: "☀ light", dark: "☾ dark" };

  const kept = {
    // A page that was opened from a file may not be allowed to keep anything.
    get() { try { return localStorage.getItem("planproof-theme") ?? ""; } catch { return ""; } },
    set(theme) { try { localStorage.setItem("planproof-theme", theme); } catch { /* not kept */ } },
  };
  const paint = (theme) => {
    document.documentElement.dataset.theme = theme;
    slot("theme").replaceChildren(element("span", { class: "unseen" }, "Colours: "), themes[theme]);
  };
  const turnTheme = () => {
    const names = Object.keys(themes);
    const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
    kept.set(next);
    paint(next);
  };
  paint(kept.get() in themes ? kept.get() : "");
  slot("theme").addEventListener("click", turnTheme);

  const legend = {
    executed: "executed", partial: "partial", ambiguous: "ambiguous", out_of_order: "out of order, a ring where it crosses another",
    missing: "missing: the line ends", major: "an extra: the line comes from nowhere",
  };
  slot("legend").replaceChildren(...Object.entries(legend).map(([status, label]) => {
    const line = drawn("svg", { class: "lines", "aria-hidden": "true", viewBox: "0 0 50 18" });
    const group = drawn("g", { "data-status": status });
    group.append(drawn("path", { d: status === "missing" ? "M2,9H24" : status === "major" ? "M26,9H48" : "M2,9H48" }));
    if (status === "missing") group.append(drawn("text", { x: 34, y: 9 }, "✗"));
    if (status === "major") group.append(drawn("circle", { cx: 16, cy: 9, r: 8 }), drawn("text", { x: 16, y: 9 }, "+"));
    if (status === "out_of_order") group.append(drawn("circle", { cx: 25, cy: 9, r: 5 }));
    line.append(group);
    return element("li", {}, line, `${planproof.marks[status]} ${label}`);
  }));
  slot("ask").addEventListener("click", () => slot("help").showModal());

  const view = new planproof.CaseView(slot("case"));
  const run = slot("overview") ? new planproof.Overview(slot("overview")) : null;
  let shown = null;

  const follow = () => {
    const wanted = /^#case-(\d+)$/.exec(location.hash);
    const page = wanted ? Number(wanted[1]) : run ? null : 0;
    shown = page !== null && document.getElementById(`case-${page}`) ? page : run ? null : 0;
    slot("case").hidden = shown === null;
    if (run) {
      slot("overview").hidden = shown !== null;
      slot("nav").hidden = shown === null;
      slot("previous").disabled = run.beside(shown, -1) === undefined;
      slot("next").disabled = run.beside(shown, 1) === undefined;
    }
    if (shown !== null) view.show(planproof.embedded(`case-${shown}`));
    scrollTo(0, 0);
  };
  const step = (by) => {
    const next = run?.beside(shown, by);
    if (next !== undefined) location.hash = `#case-${next}`;
  };
  slot("previous")?.addEventListener("click", () => step(-1));
  slot("next")?.addEventListener("click", () => step(1));
  addEventListener("hashchange", follow);

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || slot("help").open) return;
    const typing = event.target.matches?.("input, textarea");
    if (typing && event.key !== "Escape") return;
    if (typing) event.target.blur();
    const own = {
      "?": () => slot("help").showModal(), t: turnTheme, "[": () => step(-1), "]": () => step(1),
      u: () => { if (run) location.hash = ""; },
    }[event.key];
    const current = shown === null ? run : view;
    if (own) own();
    else if (!current.key(event.key)) {
      if (event.key !== "Escape" || !run || shown === null || typing) return;
      location.hash = "";
    }
    event.preventDefault();
  });
  follow();
})();
