// The page of a calibration: the table of variants, and the figures that each of them fails.
"use strict";

planproof.Calibration = class extends planproof.Overview {
  static columns = [
    ["name", "case", ([, name]) => name.toLowerCase()],
    ["change", "change", ([, , change]) => change],
    ["score", "score", ([, , , , lowest]) => lowest ?? -1],
    ["baseline", "baseline", ([, , , , , baseline]) => baseline],
    ["result", "result", ([, , , , , , failed]) => -failed.length],
  ];

  static first = "result";
  static noun = "variant";

  matches([, name, change, , , , failed, passed, keys], query) {
    if (this.filters.size && !keys.some((key) => this.filters.has(key))) return false;
    return !query || [name, change, ...failed, ...passed].join(" ").toLowerCase().includes(query);
  }

  row([, name, change, scores, , baseline, failed, passed, , page]) {
    const { element } = planproof;
    const caseName = page === null ? name : element("a", { href: `#case-${page}` }, name);
    const results = [...failed.map((label) => ["missing", "✗", label]), ...passed.map((label) => ["executed", "✓", label])];
    return element("tr", {},
      element("th", { scope: "row", class: "name" }, caseName),
      element("td", { class: "change" }, change),
      element("td", { class: "level" }, element("b", {}, scores)),
      element("td", { class: "baseline" }, baseline),
      element("td", { class: "result" }, ...results.map(([status, mark, label]) => element("span", { class: "status-count", "data-status": status },
        element("span", { class: "mark", "aria-hidden": "true" }, mark), ` ${label}`))));
  }

  /** Scroll to the table after a figure was selected. */
  onBar(event) {
    super.onBar(event);
    if (this.filters.size && event.target.closest("[data-filter]")) this.slot("rows").closest("section").scrollIntoView();
  }
};
