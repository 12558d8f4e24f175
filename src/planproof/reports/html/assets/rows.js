// The rows of a case: steps, events, folds; which of them are wanted, and what stands in them.
"use strict";

// Fewer events than this are all shown; of more, runs that no finding names are folded.
planproof.FEW = 40;
planproof.RUN = 4;
// So many rows are laid out, or left alone, together.
planproof.CHUNK = 40;

/** For each event, the steps that cite or cover it and the extra that it is. */
planproof.rolesOf = (data) => {
  const roles = data.events.map(() => ({ cited: [], covered: [], extra: null }));
  data.steps.forEach((step, index) => {
    for (const [place] of step.evidence) {
      if (place !== null && !roles[place].cited.includes(index)) roles[place].cited.push(index);
    }
    for (const [first, last] of step.covers) {
      for (let place = first; place <= last; place += 1) {
        if (!roles[place].cited.includes(index)) roles[place].covered.push(index);
      }
    }
  });
  data.extras.forEach((extra, index) => {
    const [[place]] = extra.evidence;
    if (place !== null) roles[place].extra = index;
  });
  return roles;
};

/** The steps and events that the filters and the search let through. */
planproof.wanted = (data, roles, filters, query) => {
  const holds = (text) => text.toLowerCase().includes(query);
  const ofSteps = [...filters].some((each) => each !== "extra");
  const passes = (step) => !ofSteps || filters.has(step.status);
  const found = (step) => !query || [step.number, step.text, step.note, ...step.evidence.map(([, , quote]) => quote)].some(holds);
  const steps = data.steps.flatMap((step, index) => (passes(step) && found(step) ? [index] : []));
  const events = data.events.flatMap((event, index) => {
    if (typeof event === "number") return filters.size || query ? [] : [index];
    const role = roles[index];
    const named = [...role.cited, ...role.covered].some((step) => ofSteps && filters.has(data.steps[step].status));
    const kept = !filters.size || named || (role.extra !== null && filters.has("extra"));
    return kept && (!query || planproof.textsOf(event).some(holds)) ? [index] : [];
  });
  return { steps, events, all: !filters.size && !query };
};

planproof.textsOf = (event) => {
  const texts = event.parts.map(([, pieces]) => pieces.map((piece) => (typeof piece === "string" ? piece : piece[0] ?? "")).join(""));
  return [event.id, event.name ?? "", event.kind, event.actor ?? "", ...texts];
};

/** The events to show, long runs that no finding names folded into one row each. */
planproof.folded = (view, wanted) => {
  const items = [];
  let run = [];
  const keyOf = (index) => {
    const { cited, covered, extra } = view.roles[index];
    if (cited.length || extra !== null || typeof view.data.events[index] === "number" || index === view.data.plan_at) return null;
    return covered.length ? `covered by step ${view.data.steps[covered[0]].number}` : "that no finding names";
  };
  let kind = null;
  const flush = () => {
    if (run.length >= planproof.RUN && !view.unfolded.has(run[0])) items.push({ fold: true, from: run[0], to: run.at(-1), count: run.length, kind, view });
    else items.push(...run.map((index) => ({ index })));
    run = [];
  };
  const fold = wanted.all && view.data.events.length > planproof.FEW;
  for (const index of wanted.events) {
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

/** Rows in lists of a few, so that those out of sight can be passed over together. */
planproof.chunked = (rows) => {
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
  const sure = step.confidence === null ? "" : `${Math.round(step.confidence * 100)}% sure`;
  const more = element("div", { class: "step-more", hidden: "" },
    element("p", { class: "note" }, [step.note, sure].filter(Boolean).join("; ")),
    element("ul", {}, ...step.evidence.map(([, id, quote], turn) => element("li", {},
      element("button", { type: "button", class: "cite", "data-turn": turn }, id), element("q", {}, quote)))));
  if (!step.evidence.length && step.status !== "parent") more.append(element("p", {}, "No event shows it."));
  const kind = `step ${step.status === "parent" ? "parent" : ""}`;
  return element("li", { class: kind, "data-status": step.status, "data-index": index, "data-depth": step.depth }, head, more);
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
  if (index === view.data.plan_at) badges.push(element("span", { class: "label" }, "the plan"));
  const name = event.name ? planproof.nameOf(view, event) : element("span", { class: "kind" }, event.actor ?? event.kind);
  const head = element("button", { type: "button", class: "event-head", "aria-expanded": "false" },
    element("span", { class: "id" }, event.id),
    element("span", { class: "brief" }, name, " ", element("span", { class: "says" }, ...planproof.brief(view, event))),
    element("span", { class: "badges" }, event.status === "error" ? element("span", { class: "failed" }, "failed") : null, ...badges));
  const role = found ? "named extra" : cited.length ? "named" : covered.length ? "covered" : "";
  return element("li", {
    class: `event ${role}`, "data-status": status, "data-kind": event.kind, "data-index": index,
    "data-finding": found ? `x${extra}` : null,
  }, head);
};

planproof.badge = (step) => planproof.element("span", { class: "badge", "data-status": step.status },
  `${planproof.marks[step.status]}${step.number}`, planproof.element("span", { class: "unseen" }, ` step ${step.number}, ${step.label}`));

planproof.nameOf = (view, event) => planproof.element("span", { class: "name" },
  event.named_by ? planproof.quoted(view, event.name, event.named_by) : event.name);

planproof.quoted = (view, text, by) => planproof.element("mark", { "data-by": by.join(" "), "data-status": view.statusOf(by[0]) }, text);

/** Pieces of a text as nodes: quotes marked, what was left out counted. */
planproof.pieces = (pieces, view) => pieces.map((piece) => {
  if (typeof piece === "number") {
    return planproof.element("span", { class: "cut" }, ` … ${planproof.many(piece, "character")} left out … `);
  }
  return typeof piece === "string" ? piece : planproof.quoted(view, ...piece);
});

/** The beginning of what an event says, or what stands around its first quote. */
planproof.brief = (view, event) => {
  const marked = event.parts.find(([, pieces]) => pieces.some(Array.isArray));
  const [, pieces] = marked ?? event.parts[0] ?? ["", []];
  const first = pieces.findIndex(Array.isArray);
  const nodes = [];
  let room = 260;
  pieces.forEach((piece, index) => {
    if (room <= 0 || typeof piece === "number") return;
    let text = typeof piece === "string" ? piece : piece[0];
    if (index === first - 1 && text.length > 36) text = `…${text.slice(-30)}`;
    else if (index < first - 1) return;
    text = text.slice(0, room);
    room -= text.length;
    nodes.push(typeof piece === "string" ? text : planproof.quoted(view, text, piece[1]));
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
    more.append(element("p", { class: "told" }, `${severity} extra: ${what}; ${Math.round(confidence * 100)}% sure`));
  }
  for (const [label, pieces] of event.parts) {
    more.append(element("div", { class: "part" }, label ? element("b", {}, label) : null,
      element("pre", { tabindex: "0" }, ...planproof.pieces(pieces, view))));
  }
  return more;
};
