// Running traces: the status of each step, the best score still possible, and deviations.
"use strict";

planproof.Live = class {
  constructor(root) {
    this.root = root;
    this.slot = planproof.slots(root);
    this.nodes = new Map();
    this.ceilings = new Map();
    const stream = new EventSource(root.dataset.events);
    stream.addEventListener("traces", (event) => this.show(JSON.parse(event.data)));
    stream.addEventListener("open", () => { this.slot("disconnected").hidden = true; });
    stream.addEventListener("error", () => { this.slot("disconnected").hidden = false; });
    addEventListener("pagehide", () => stream.close());
  }

  show(traces) {
    const judged = traces.filter((trace) => trace.outcome !== null);
    const running = traces.filter((trace) => trace.outcome === null);
    for (const { trace, ceiling } of traces) this.remember(trace, ceiling);
    this.fill(this.slot("running"), running, (trace) => this.card(trace));
    this.fill(this.slot("judged"), judged, (trace) => this.line(trace));
    this.slot("judged-section").hidden = !judged.length;
    this.slot("waiting").hidden = traces.length > 0;
    this.slot("live-count").textContent = `${running.length.toLocaleString("en")} running`;
    this.forget(new Set(traces.map(({ trace }) => trace)));
  }

  /** Record the ceilings of a trace as they fall while the page is open. */
  remember(trace, ceiling) {
    if (ceiling === null) return;
    const seen = this.ceilings.get(trace) ?? [1];
    if (seen.at(-1) !== ceiling) seen.push(ceiling);
    this.ceilings.set(trace, seen);
  }

  forget(shown) {
    for (const known of [this.nodes, this.ceilings]) {
      for (const trace of known.keys()) if (!shown.has(trace)) known.delete(trace);
    }
  }

  /** Update a list; nodes of unchanged traces stay, and keep the focus. */
  fill(list, traces, draw) {
    const focused = document.activeElement?.closest?.("[data-trace]")?.dataset.trace;
    const nodes = traces.map((trace) => {
      const json = JSON.stringify(trace);
      const known = this.nodes.get(trace.trace);
      const node = known?.json === json ? known.node : draw(trace);
      this.nodes.set(trace.trace, { json, node });
      return node;
    });
    if (nodes.length === list.children.length && nodes.every((node, index) => node === list.children[index])) return;
    list.replaceChildren(...nodes);
    if (focused) list.querySelector(`[data-trace="${CSS.escape(focused)}"] a`)?.focus();
  }

  card(trace) {
    const { element, many } = planproof;
    const level = planproof.Live.level(trace.ceiling);
    return element("li", { class: "running-trace", "data-trace": trace.trace, "data-level": level },
      element("header", {},
        element("p", { class: "ceiling" }, element("small", {}, trace.ceiling === null ? "no plan yet" : "at most"), this.fall(trace)),
        element("div", {},
          element("h2", {}, trace.service ?? "a trace"),
          element("p", { class: "about" }, element("code", {}, trace.trace.slice(0, 16)), element("span", {}, planproof.Live.clock(trace.first)),
            element("span", {}, `${many(trace.spans, "span")}, ${many(trace.events, "event")}`),
            trace.ended ? element("b", {}, "ended, waiting to be judged") : null))),
      element("ol", { class: "ticks" }, ...trace.steps.map((step) => this.step(step))),
      element("ul", { class: "off" }, ...trace.deviations.map((each) => this.deviation(each))));
  }

  /** The best score still possible, after the earlier ones, struck out. */
  fall(trace) {
    const { element } = planproof;
    const fallen = (this.ceilings.get(trace.trace) ?? []).map((each) => planproof.Live.digits(each));
    const now = fallen.pop() ?? "–";
    return element("span", { class: "falling" }, ...fallen.map((each) => element("s", {}, each)), element("b", {}, now));
  }

  step({ number, text, status }) {
    const { element } = planproof;
    const mark = status === "to_come" ? "·" : planproof.marks[status];
    return element("li", { "data-status": status },
      element("span", { class: "mark", "aria-hidden": "true" }, mark), element("span", { class: "number" }, number),
      element("span", { class: "text" }, text), element("span", { class: "label" }, status === "to_come" ? "" : status.replaceAll("_", " ")));
  }

  deviation({ certainty, severity, event, why }) {
    const { element } = planproof;
    return element("li", { "data-certainty": certainty, "data-status": severity },
      element("b", {}, certainty), element("span", {}, event ? `${event}: ${why}` : why));
  }

  line(trace) {
    const { element, many } = planproof;
    const scored = trace.score === null ? { "data-status": "unscored" } : { "data-level": planproof.Live.level(trace.score) };
    const root = this.root.dataset.events.replace(/live\/events$/, "");
    const name = trace.service ?? trace.trace.slice(0, 16);
    const named = trace.run === null ? name : element("a", { href: `${root}runs/${encodeURIComponent(trace.run)}/cases/${trace.position}` }, name);
    return element("li", { "data-trace": trace.trace, ...scored },
      element("b", { class: "digits" }, trace.score === null ? "–" : planproof.Live.digits(trace.score)),
      element("span", { class: "who" }, named, " ", element("code", {}, trace.trace.slice(0, 16))),
      element("span", { class: "strip" }, ...this.strip(trace.steps),
        trace.outcome === "scored" ? null : trace.outcome.replaceAll("_", " ")),
      element("span", { class: "about" }, `${many(trace.events, "event")}, ${planproof.Live.clock(trace.last)}`));
  }

  /** The marks of the steps, and the same as text. */
  *strip(steps) {
    const { element } = planproof;
    const counts = new Map();
    for (const { status } of steps) {
      counts.set(status, (counts.get(status) ?? 0) + 1);
      yield element("span", { class: "mark", "data-status": status, "aria-hidden": "true" }, planproof.marks[status] ?? "");
    }
    const words = [...counts].map(([status, count]) => `${count} ${status.replaceAll("_", " ")}`);
    yield element("span", { class: "unseen" }, words.join(", "));
  }

  static clock(seconds) {
    return new Date(seconds * 1000).toLocaleTimeString("en-GB");
  }

  static digits(score) {
    return Number.isInteger(score) ? score.toFixed(1) : String(Math.round(score * 100) / 100);
  }

  /** The level at or below a score. */
  static level(score) {
    return score === null ? null : String(Math.floor(score * 4) / 4);
  }
};

new planproof.Live(planproof.slots(document)("live"));
