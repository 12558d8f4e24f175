// The rows of a case: steps, events and folds; filters and contents.
"use strict";

// Above FEW events, runs of at least RUN events that no finding cites are folded.
planproof.FEW = 40;
planproof.RUN = 4;
// Number of rows that the browser lays out, or skips, together.
planproof.CHUNK = 40;

/** Return for each event the steps that cite or cover it, and its extra if it is one. */
planproof.computeRoles = (data) => {
  const roles = data.events.map(() => ({ cited: [], covered: [], extra: null }));
  data.steps.forEach((step, index) => {
    for (const [event] of step.evidence) {
      if (event !== null && !roles[event].cited.includes(index)) roles[event].cited.push(index);
    }
    for (const [first, last] of step.covers) {
      for (let event = first; event <= last; event += 1) {
        if (!roles[event].cited.includes(index)) roles[event].covered.push(index);
      }
    }
  });
  data.extras.forEach((extra, index) => {
    const [[event]] = extra.evidence;
    if (event !== null) roles[event].extra = index;
  });
  return roles;
};

/** Return the steps and events that match the filters and the search. */
planproof.filterRows = (data, roles, filters, query) => {
  const contains = (text) => text.toLowerCase().includes(query);
  const hasStepFilter = [...filters].some((filter) => filter !== "extra");
  const hasStatus = (step) => !hasStepFilter || filters.has(step.status);
  const matchesQuery = (step) => !query || [step.number, step.text, step.note, ...step.evidence.map(([, , quote]) => quote)].some(contains);
  const steps = data.steps.flatMap((step, index) => (hasStatus(step) && matchesQuery(step) ? [index] : []));
  const events = data.events.flatMap((event, index) => {
    if (typeof event === "number") return filters.size || query ? [] : [index];
    const role = roles[index];
    const isCited = [...role.cited, ...role.covered].some((step) => hasStepFilter && filters.has(data.steps[step].status));
    const isIncluded = !filters.size || isCited || (role.extra !== null && filters.has("extra"));
    return isIncluded && (!query || planproof.listTexts(event).some(contains)) ? [index] : [];
  });
  return { steps, events, all: !filters.size && !query };
};

planproof.listTexts = (event) => {
  const texts = event.parts.map(([, segments]) => segments.map((segment) => (typeof segment === "string" ? segment : segment[0] ?? "")).join(""));
  return [event.id, event.name ?? "", event.kind, event.actor ?? "", ...texts];
};

/** Return the events to show, with long runs that no finding cites folded into one row each. */
planproof.foldEvents = (view, matching) => {
  const items = [];
  let run = [];
  const keyOf = (index) => {
    const { cited, covered, extra } = view.roles[index];
    if (cited.length || extra !== null || typeof view.data.events[index] === "number" || index === view.data.plan_at) return null;
    return covered.length ? `covered by step ${view.data.steps[covered[0]].number}` : "not cited by any finding";
  };
  let kind = null;
  const flush = () => {
    if (run.length >= planproof.RUN && !view.unfolded.has(run[0])) items.push({ fold: true, from: run[0], to: run.at(-1), count: run.length, kind, view });
    else items.push(...run.map((index) => ({ index })));
    run = [];
  };
  const fold = matching.all && view.data.events.length > planproof.FEW;
  for (const index of matching.events) {
    const key = fold ? keyOf(index) : null;
    if (key !== kind) { flush(); kind = key; }
    if (key === null) items.push({ index });
    else run.push(index);
  }
  flush();
  return items;
};

planproof.foldRow = ({ from, to, count, kind, view }) => {
  const [first, last] = [view.data.events[from].id, view.data.events[to].id];
  return planproof.element("li", { class: "fold", "data-from": from },
    planproof.element("button", { type: "button" }, `${planproof.many(count, "event")} ${kind} (${first} to ${last})`));
};

/** Group rows into lists, so that the browser can skip lists that are out of view. */
planproof.chunkRows = (rows) => {
  const chunks = [];
  for (let from = 0; from < rows.length; from += planproof.CHUNK) {
    chunks.push(planproof.element("ol", { class: "chunk" }, ...rows.slice(from, from + planproof.CHUNK)));
  }
  return chunks;
};

planproof.stepRow = (view, index) => {
  const { element, mark } = planproof;
  const step = view.data.steps[index];
  const head = element("button", { type: "button", class: "step-head", "aria-expanded": "false" },
    mark(step.status), element("span", { class: "number" }, step.number),
    element("span", { class: "text" }, step.text), element("span", { class: "label" }, step.label));
  const confidence = step.confidence === null ? "" : `confidence ${Math.round(step.confidence * 100)}%`;
  const more = element("div", { class: "step-more", hidden: "" },
    element("p", { class: "note" }, [step.note, confidence].filter(Boolean).join("; ")),
    element("ul", {}, ...step.evidence.map(([, id, quote], turn) => element("li", {},
      element("button", { type: "button", class: "cite", "data-turn": turn }, id), element("q", {}, quote)))));
  if (step.checks.length) more.append(planproof.checkTable(step.checks));
  if (!step.evidence.length && step.status !== "parent") more.append(element("p", {}, "No evidence found."));
  const kind = `step ${step.status === "parent" ? "parent" : ""}`;
  return element("li", { class: kind, "data-status": step.status, "data-index": index, "data-depth": step.depth }, head, more);
};

/** Create the table of a step's requirements: what the contract asks for, and what was found. */
planproof.checkTable = (checks) => {
  const { element } = planproof;
  const marks = { match: "✓", mismatch: "✗", unknown: "?" };
  const rows = checks.map(([result, path, expected, found]) => element("tr", { "data-result": result },
    element("td", {}, element("span", { "aria-label": result }, marks[result])),
    element("th", { scope: "row" }, path), element("td", {}, expected), element("td", {}, found || "nothing")));
  return element("table", { class: "checks" },
    element("thead", {}, element("tr", {}, ...["", "requirement", "expected", "found"].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...rows));
};

planproof.eventRow = (view, index) => {
  const { element } = planproof;
  const event = view.data.events[index];
  const { cited, covered, extra } = view.roles[index];
  const found = extra === null ? null : view.data.extras[extra];
  const steps = cited.length ? cited : covered;
  const status = found ? found.severity : steps.length ? view.data.steps[steps[0]].status : null;
  const badges = steps.map((step) => planproof.badge(view.data.steps[step]));
  if (found) badges.push(element("span", { class: "label" }, `+ ${found.severity} extra`));
  if (index === view.data.plan_at) badges.push(element("span", { class: "label" }, "plan"));
  const name = event.name ? planproof.renderName(view, event) : element("span", { class: "kind" }, event.actor ?? event.kind);
  const head = element("button", { type: "button", class: "event-head", "aria-expanded": "false" },
    element("span", { class: "id" }, event.id),
    element("span", { class: "brief" }, name, " ", element("span", { class: "says" }, ...planproof.renderBrief(view, event))),
    element("span", { class: "badges" }, event.status === "error" ? element("span", { class: "failed" }, "failed") : null, ...badges));
  const role = found ? "named extra" : cited.length ? "named" : covered.length ? "covered" : "";
  return element("li", {
    class: `event ${role}`, "data-status": status, "data-kind": event.kind, "data-index": index,
    "data-finding": found ? `x${extra}` : null,
  }, head);
};

planproof.badge = (step) => planproof.element("span", { class: "badge", "data-status": step.status },
  `${planproof.marks[step.status]}${step.number}`, planproof.element("span", { class: "unseen" }, ` step ${step.number}, ${step.label}`));

planproof.renderName = (view, event) => planproof.element("span", { class: "name" },
  event.named_by ? planproof.markQuote(view, event.name, event.named_by) : event.name);

planproof.markQuote = (view, text, by) => planproof.element("mark", { "data-by": by.join(" "), "data-status": view.statusOf(by[0]) }, text);

/** Render the segments of a text: quotes are marked, omitted characters counted. */
planproof.renderSegments = (segments, view) => segments.map((segment) => {
  if (typeof segment === "number") {
    return planproof.element("span", { class: "cut" }, ` … ${planproof.many(segment, "character")} omitted … `);
  }
  return typeof segment === "string" ? segment : planproof.markQuote(view, ...segment);
});

/** Render the beginning of an event's text, or the text around its first quote. */
planproof.renderBrief = (view, event) => {
  const marked = event.parts.find(([, segments]) => segments.some(Array.isArray));
  const [, segments] = marked ?? event.parts[0] ?? ["", []];
  const first = segments.findIndex(Array.isArray);
  const nodes = [];
  let remaining = 260;
  segments.forEach((segment, index) => {
    if (remaining <= 0 || typeof segment === "number") return;
    let text = typeof segment === "string" ? segment : segment[0];
    if (index === first - 1 && text.length > 36) text = `…${text.slice(-30)}`;
    else if (index < first - 1) return;
    text = text.slice(0, remaining);
    remaining -= text.length;
    nodes.push(typeof segment === "string" ? text : planproof.markQuote(view, text, segment[1]));
  });
  return nodes;
};

planproof.eventMore = (view, index) => {
  const { element } = planproof;
  const event = view.data.events[index];
  const extra = view.roles[index].extra;
  const meta = [event.kind, event.name ? event.actor : null, event.time, event.status && `status ${event.status}`];
  const more = element("div", { class: "event-more" }, element("p", { class: "meta" }, meta.filter(Boolean).join(" · ")));
  if (extra !== null) {
    const { what, severity, confidence } = view.data.extras[extra];
    more.append(element("p", { class: "extra-note" }, `${severity} extra: ${what}; confidence ${Math.round(confidence * 100)}%`));
  }
  for (const [label, segments] of event.parts) {
    more.append(element("div", { class: "part" }, label ? element("b", {}, label) : null,
      element("pre", { tabindex: "0" }, ...planproof.renderSegments(segments, view))));
  }
  return more;
};
