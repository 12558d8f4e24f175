// The page of a calibration: the table of variants, and the figures that they spoil.
"use strict";

planproof.Calibration = class extends planproof.Overview {
  static columns = [
    ["name", "case", ([, name]) => name.toLowerCase()],
    ["made", "what was made of it", ([, , made]) => made],
    ["score", "score", ([, , , , lowest]) => lowest ?? -1],
    ["against", "against", ([, , , , , against]) => against],
    ["told", "found", ([, , , , , , wrong]) => -wrong.length],
  ];

  static first = "told";
  static noun = "variant";

  keeps([, name, made, , , , wrong, right, keys], query) {
    if (this.filters.size && !keys.some((key) => this.filters.has(key))) return false;
    return !query || [name, made, ...wrong, ...right].join(" ").toLowerCase().includes(query);
  }

  row([, name, made, scores, , against, wrong, right, , page]) {
    const { element } = planproof;
    const named = page === null ? name : element("a", { href: `#case-${page}` }, name);
    const told = [...wrong.map((word) => ["missing", "✗", word]), ...right.map((word) => ["executed", "✓", word])];
    return element("tr", {},
      element("th", { scope: "row", class: "name" }, named),
      element("td", { class: "made" }, made),
      element("td", { class: "level" }, element("b", {}, scores)),
      element("td", { class: "against" }, against),
      element("td", { class: "told" }, ...told.map(([status, mark, word]) => element("span", { class: "counted", "data-status": status },
        element("span", { class: "mark", "aria-hidden": "true" }, mark), ` ${word}`))));
  }

  /** Whoever asks for the cases behind a figure wants to see them. */
  onBar(event) {
    super.onBar(event);
    if (this.filters.size && event.target.closest("[data-filter]")) this.slot("rows").closest("section").scrollIntoView();
  }
};
