// The page of a run: the table of its cases.
"use strict";

planproof.Overview = class {
  constructor(root) {
    this.slot = planproof.slots(root);
    this.data = planproof.embedded("run");
    this.filters = new Set();
    this.sorted = { column: this.constructor.first, down: false };
    this.fillColumns();
    this.slot("distribution").addEventListener("click", (event) => this.onBar(event));
    this.slot("columns").addEventListener("click", (event) => this.onColumn(event));
    this.slot("case-search").addEventListener("input", planproof.debounce(() => this.refresh()));
    this.slot("more").addEventListener("click", () => this.appendRows());
    new IntersectionObserver(([end]) => { if (end.isIntersecting) this.appendRows(); }, { rootMargin: "600px" }).observe(this.slot("more"));
    addEventListener("beforeprint", () => this.appendRows(1000));
    this.refresh();
  }

  static columns = [
    ["position", "#", ([position]) => position],
    ["name", "case", ([, name]) => name.toLowerCase()],
    ["score", "score", ([, , , level]) => level ?? -1],
    ["steps", "steps", (row) => [...row[5]].filter((letter) => letter !== "e").length],
    ["extras", "extras", (row) => row[7] * 1000 + row[8]],
    ["events", "events", (row) => row[9]],
    ["seconds", "seconds", (row) => row[10]],
  ];

  static first = "score";
  static noun = "case";

  fillColumns() {
    const { element } = planproof;
    this.slot("columns").replaceChildren(...this.constructor.columns.map(([key, label]) => element("th", { scope: "col", class: key, "data-column": key },
      element("button", { type: "button" }, label, element("span", { "aria-hidden": "true" })))));
  }

  /** Filter and sort the rows, and show them. */
  refresh() {
    const query = this.slot("case-search").value.trim().toLowerCase();
    const { sorted } = this;
    const [, , value] = this.constructor.columns.find(([key]) => key === sorted.column);
    const keyed = this.data.rows
      .filter((row) => this.matches(row, query))
      .map((row) => [value(row), row]);
    const direction = sorted.down ? -1 : 1;
    keyed.sort(([one, first], [other, second]) => (one < other ? -direction : one > other ? direction : first[0] - second[0]));
    this.rows = keyed.map(([, row]) => row);
    this.order = this.rows.map((row) => row.at(-1)).filter((page) => page !== null);
    for (const head of this.slot("columns").children) {
      const on = head.dataset.column === sorted.column;
      if (on) head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    const [shown, all] = [this.rows.length, this.data.rows.length];
    this.slot("case-count").textContent = shown === all ? all.toLocaleString("en") : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")}`;
    this.slot("rows").replaceChildren();
    this.appendRows();
  }

  /** Return true if a row matches the filters and the search. */
  matches([, name, , level, label], query) {
    return (!this.filters.size || this.filters.has(level === null ? "none" : String(level)))
      && (!query || `${name} ${label}`.toLowerCase().includes(query));
  }

  /** Append more rows to the table. */
  appendRows(count = 100) {
    const body = this.slot("rows");
    const from = body.children.length;
    body.append(...this.rows.slice(from, from + count).map((row) => this.row(row)));
    const remaining = this.rows.length - body.children.length;
    this.slot("more").hidden = remaining <= 0;
    this.slot("more").textContent = `${planproof.many(remaining, `more ${this.constructor.noun}`)}`;
  }

  row([position, name, score, level, label, marks, steps, major, minor, events, seconds, page]) {
    const { element } = planproof;
    const caseName = page === null ? name : element("a", { href: `#case-${page}` }, name);
    const tone = level === null ? { "data-status": "unscored" } : { "data-level": String(level) };
    const extras = [["major", major], ["minor", minor]].filter(([, count]) => count).map(
      ([severity, count]) => element("span", {}, `+${count}`, element("span", { class: "word" }, ` ${severity}`)),
    );
    return element("tr", {},
      element("td", { class: "position" }, String(position)),
      element("th", { scope: "row", class: "name" }, caseName),
      element("td", { class: "level", ...tone }, element("b", {}, score ?? "–"), element("span", {}, label)),
      element("td", { class: "steps" }, ...this.marks(marks), steps > marks.length ? `+${steps - marks.length}` : null),
      element("td", { class: "extras", "data-status": "extra" }, ...extras),
      element("td", { class: "events" }, events.toLocaleString("en")),
      element("td", { class: "seconds" }, seconds.toFixed(seconds < 1 ? 3 : 1)));
  }

  *marks(letters) {
    const counts = new Map();
    for (const letter of letters) {
      const [, status, label] = this.data.statuses.find(([key]) => key === letter);
      counts.set(label, (counts.get(label) ?? 0) + 1);
      yield planproof.element("span", { class: "mark", "data-status": status, "aria-hidden": "true" }, planproof.marks[status]);
    }
    yield planproof.element("span", { class: "unseen" }, [...counts].map(([label, count]) => `${count} ${label}`).join(", "));
  }

  onBar(event) {
    const bar = event.target.closest("[data-filter]");
    if (!bar) return;
    const pressed = bar.getAttribute("aria-pressed") !== "true";
    bar.setAttribute("aria-pressed", String(pressed));
    if (pressed) this.filters.add(bar.dataset.filter);
    else this.filters.delete(bar.dataset.filter);
    this.refresh();
  }

  onColumn(event) {
    const column = event.target.closest("[data-column]")?.dataset.column;
    if (!column) return;
    this.sorted = { column, down: this.sorted.column === column && !this.sorted.down };
    this.refresh();
  }

  /** Return the page at an offset from this one, in the current order of the table. */
  getNeighbour(page, offset) {
    const index = this.order.indexOf(page);
    return index < 0 ? undefined : this.order[index + offset];
  }

  key(key) {
    if (key === "Escape" && this.slot("case-search").value) {
      this.slot("case-search").value = "";
      this.refresh();
      return true;
    }
    return planproof.walk([...this.slot("rows").querySelectorAll("a")], key);
  }
};
