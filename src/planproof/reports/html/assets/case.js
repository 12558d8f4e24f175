// The page of a case: fills the template `case_view` with data, and handles clicks and keys.
"use strict";

planproof.CaseView = class {
  constructor(root) {
    this.root = root;
    this.slot = planproof.slots(root);
    this.data = null;
    this.lines = new planproof.Lines(this.slot("lines"), this.slot("proof"), this);
    this.slot("steps").addEventListener("click", (event) => this.onStep(event));
    this.slot("steps").addEventListener("keydown", (event) => this.onArrow(event));
    this.slot("events").addEventListener("click", (event) => this.onEvent(event));
    this.slot("filters").addEventListener("click", (event) => this.onFilter(event));
    this.slot("search").addEventListener("input", planproof.debounce(() => this.refresh()));
  }

  /** Show a case. */
  show(data) {
    this.data = data;
    this.selected = null;
    this.filters = new Set();
    this.open = new Set();
    this.unfolded = new Set();
    this.roles = planproof.computeRoles(data);
    this.slot("search").value = "";
    this.fillVerdict();
    this.fillFilters();
    this.refresh();
  }

  fillVerdict() {
    const { data, slot } = this;
    const { element, many } = planproof;
    const level = data.level === null ? "" : String(data.level);
    slot("verdict").dataset.level = level;
    slot("score").textContent = data.score ?? "–";
    slot("levels").replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map(
      (level) => element("i", { class: data.level !== null && level <= data.level ? "reached" : "" }),
    ));
    slot("id").textContent = data.id ?? "";
    slot("headline").replaceChildren(data.headline, data.tally ? element("small", {}, data.tally) : "");
    slot("reason").textContent = data.reason;
    slot("better").replaceChildren(...(data.better ? ["→ ", element("b", {}, data.better[0]), ` ${data.better[1]}`] : []));
    slot("task").hidden = !data.task.length;
    slot("task").open = false;
    slot("task-text").replaceChildren(...planproof.renderSegments(data.task, this));
    slot("step-count").textContent = many(data.steps.filter((step) => step.status !== "parent").length, "step");
    const events = data.events.reduce((sum, event) => sum + (typeof event === "number" ? event : 1), 0);
    slot("event-count").textContent = many(events, "event");
    slot("notes").replaceChildren(...data.notes.map((note) => element("li", {}, note)));
  }

  fillFilters() {
    const counts = new Map();
    const labels = new Map();
    for (const step of this.data.steps) {
      if (step.status === "parent") continue;
      counts.set(step.status, (counts.get(step.status) ?? 0) + 1);
      labels.set(step.status, step.label);
    }
    if (this.data.extras.length) {
      counts.set("extra", this.data.extras.length);
      labels.set("extra", this.data.extras.length === 1 ? "extra" : "extras");
    }
    const order = Object.keys(planproof.marks).filter((status) => counts.has(status));
    this.slot("filters").replaceChildren(...order.map(
      (status) => planproof.chip(status, status, labels.get(status), counts.get(status)),
    ));
  }

  statusOf(finding) {
    const index = Number(finding.slice(1));
    return finding[0] === "s" ? this.data.steps[index].status : this.data.extras[index].severity;
  }

  evidenceOf(finding) {
    const list = finding[0] === "s" ? this.data.steps : this.data.extras;
    return list[Number(finding.slice(1))].evidence;
  }

  /** Rebuild the rows that match the search and the filters. */
  refresh() {
    const query = this.slot("search").value.trim().toLowerCase();
    const matching = planproof.filterRows(this.data, this.roles, this.filters, query);
    this.stepRows = new Map(matching.steps.map((index) => [index, planproof.stepRow(this, index)]));
    this.slot("steps").replaceChildren(...(this.stepRows.size ? this.stepRows.values() : [this.nothing("no steps")]));
    this.eventRows = new Map();
    const rows = [];
    for (const item of planproof.foldEvents(this, matching)) {
      if (item.fold) {
        rows.push(planproof.foldRow(item));
      } else if (typeof this.data.events[item.index] === "number") {
        const omitted = planproof.many(this.data.events[item.index], "event");
        rows.push(planproof.element("li", { class: "gap" }, `${omitted} not shown, to limit the size of the report`));
      } else {
        const row = planproof.eventRow(this, item.index);
        this.eventRows.set(item.index, row);
        rows.push(row);
      }
    }
    this.slot("events").replaceChildren(...planproof.chunkRows(rows.length ? rows : [this.nothing("no events")]));
    for (const index of this.open) this.expand(index);
    const isFiltered = query || this.filters.size;
    const [steps, events] = [matching.steps.length, matching.events.length];
    this.slot("found").textContent = isFiltered
      ? `${planproof.many(steps, "step")} and ${planproof.many(events, "event")} of ${this.data.events.length.toLocaleString("en")}` : "";
    this.highlight();
    this.lines.watch(this.slot("events").children);
  }

  nothing(what) {
    return planproof.element("li", { class: "nothing" }, what);
  }

  /** Select a finding, and open and show its evidence; selecting it again deselects it. */
  select(finding) {
    for (const index of this.openedFor ?? []) this.collapse(index);
    this.openedFor = [];
    this.selected = this.selected === finding ? null : finding;
    this.turn = 0;
    if (this.selected) {
      const indexes = this.evidenceOf(this.selected).map(([index]) => index);
      for (const index of indexes.slice(0, 12)) {
        if (this.eventRows.has(index) && !this.open.has(index)) {
          this.expand(index);
          this.openedFor.push(index);
        }
      }
    }
    this.highlight();
    if (this.selected) {
      this.stepRows.get(Number(this.selected.slice(1)))?.scrollIntoView({ block: "nearest" });
      this.reveal(0);
    }
    this.lines.draw();
  }

  reveal(turn, block = "nearest") {
    const [index] = this.evidenceOf(this.selected)[turn] ?? [];
    const row = this.eventRows.get(index);
    row?.scrollIntoView({ block });
    return row;
  }

  /** Highlight the rows and marks of the selected finding. */
  highlight() {
    const { selected } = this;
    this.slot("proof").classList.toggle("selected", selected !== null);
    const cited = new Set(selected ? this.evidenceOf(selected).map(([index]) => index) : []);
    for (const [index, row] of this.stepRows) {
      const on = selected === `s${index}`;
      row.classList.toggle("on", on);
      row.firstChild.setAttribute("aria-expanded", String(on));
      row.lastChild.hidden = !on;
    }
    for (const [index, row] of this.eventRows) row.classList.toggle("on", cited.has(index));
    for (const mark of this.slot("events").querySelectorAll("mark")) {
      mark.classList.toggle("on", selected !== null && mark.dataset.by.split(" ").includes(selected));
    }
  }

  expand(index) {
    const row = this.eventRows.get(index);
    if (!row) return;
    this.open.add(index);
    if (row.children.length === 1) row.append(planproof.eventMore(this, index));
    row.lastChild.hidden = false;
    row.firstChild.setAttribute("aria-expanded", "true");
  }

  collapse(index) {
    const row = this.eventRows.get(index);
    this.open.delete(index);
    if (!row || row.children.length === 1) return;
    row.lastChild.hidden = true;
    row.firstChild.setAttribute("aria-expanded", "false");
  }

  onStep(event) {
    const cite = event.target.closest(".cite");
    if (cite) {
      this.reveal(Number(cite.dataset.turn), "center")?.firstChild.focus({ preventScroll: true });
    } else if (event.target.closest(".step-head")) {
      this.select(`s${event.target.closest(".step").dataset.index}`);
    }
  }

  onArrow(event) {
    const offset = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!offset || !event.target.matches(".step-head")) return;
    event.preventDefault();
    this.move(offset);
  }

  onEvent(event) {
    const fold = event.target.closest(".fold");
    if (fold) {
      this.unfolded.add(Number(fold.dataset.from));
      this.refresh();
      this.eventRows.get(Number(fold.dataset.from))?.firstChild.focus({ preventScroll: true });
      return;
    }
    const head = event.target.closest(".event-head");
    if (!head) return;
    const index = Number(head.parentNode.dataset.index);
    if (this.open.has(index)) this.collapse(index);
    else this.expand(index);
    this.highlight();
    this.lines.draw();
  }

  onFilter(event) {
    const chip = event.target.closest("[data-filter]");
    if (!chip) return;
    const pressed = chip.getAttribute("aria-pressed") !== "true";
    chip.setAttribute("aria-pressed", String(pressed));
    if (pressed) this.filters.add(chip.dataset.filter);
    else this.filters.delete(chip.dataset.filter);
    this.refresh();
  }

  /** Select the next or the previous step. */
  move(offset) {
    const indexes = [...this.stepRows.keys()];
    if (!indexes.length) return;
    const current = this.selected?.[0] === "s" ? indexes.indexOf(Number(this.selected.slice(1))) : offset > 0 ? -1 : indexes.length;
    const next = indexes[Math.min(Math.max(current + offset, 0), indexes.length - 1)];
    if (`s${next}` !== this.selected) this.select(`s${next}`);
    this.stepRows.get(next).firstChild.focus({ preventScroll: true });
  }

  /** Select the next extra. */
  moveToExtra() {
    const extras = this.data.extras.map((_, index) => `x${index}`).filter((name) => this.eventRows.has(this.evidenceOf(name)[0][0]));
    if (!extras.length) return;
    const next = extras[(extras.indexOf(this.selected) + 1) % extras.length];
    if (next !== this.selected) this.select(next);
    this.reveal(0, "center")?.firstChild.focus({ preventScroll: true });
  }

  /** Handle a key; return whether it was handled. */
  key(key) {
    if (key === "j") this.move(1);
    else if (key === "k") this.move(-1);
    else if (key === "x") this.moveToExtra();
    else if (key === "n" && this.selected) {
      this.turn = (this.turn + 1) % Math.max(this.evidenceOf(this.selected).length, 1);
      this.reveal(this.turn, "center")?.firstChild.focus({ preventScroll: true });
    } else if (key === "Escape") return this.back();
    else return false;
    return true;
  }

  back() {
    if (this.slot("search").value) {
      this.slot("search").value = "";
      this.refresh();
    } else if (this.selected) this.select(this.selected);
    else return false;
    return true;
  }
};
