// Parts of every page: theme, list of keyboard shortcuts, and key handling.
"use strict";

/** Handle a key: click the element with this `data-key`, or focus it if it is a field. */
planproof.press = (key) => {
  const target = [...document.querySelectorAll("[data-key]")].find(
    (node) => node.dataset.key === key && node.checkVisibility() && !node.disabled,
  );
  if (!target) return false;
  if (target.matches("input, select, textarea")) target.focus();
  else target.click();
  return true;
};

/** Move the focus down (`j`) or up (`k`) a list of links. */
planproof.walk = (links, key) => {
  const offset = { j: 1, k: -1 }[key];
  if (!offset || !links.length) return false;
  const current = links.indexOf(document.activeElement);
  const next = Math.min(Math.max(current < 0 && offset < 0 ? 0 : current + offset, 0), links.length - 1);
  links[next].focus();
  return true;
};

planproof.fillLegend = (list) => {
  const { element, createSvg } = planproof;
  const legend = {
    executed: "executed", partial: "partial", ambiguous: "ambiguous", out_of_order: "out of order; a ring marks a crossing",
    missing: "missing: a step without an event", major: "extra: an event without a step",
  };
  list.replaceChildren(...Object.entries(legend).map(([status, label]) => {
    const line = createSvg("svg", { class: "lines", "aria-hidden": "true", viewBox: "0 0 50 18" });
    const group = createSvg("g", { "data-status": status });
    group.append(createSvg("path", { d: status === "missing" ? "M2,9H24" : status === "major" ? "M26,9H48" : "M2,9H48" }));
    if (status === "missing") group.append(createSvg("text", { x: 34, y: 9 }, "✗"));
    if (status === "major") group.append(createSvg("circle", { cx: 16, cy: 9, r: 8 }), createSvg("text", { x: 16, y: 9 }, "+"));
    if (status === "out_of_order") group.append(createSvg("circle", { cx: 25, cy: 9, r: 5 }));
    line.append(group);
    return element("li", {}, line, `${planproof.marks[status]} ${label}`);
  }));
};

/** Attach the handlers of the page. `current()` returns the view that handles a key first. */
planproof.frame = (current) => {
  const slot = planproof.slots(document);
  const paint = () => {
    const [icon, name] = planproofTheme.names[document.documentElement.dataset.theme];
    const { element } = planproof;
    slot("theme").replaceChildren(element("span", { class: "unseen" }, "Theme: "), icon, element("span", { class: "word" }, ` ${name}`));
  };
  paint();
  slot("theme").addEventListener("click", () => {
    const names = Object.keys(planproofTheme.names);
    planproofTheme.set(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
    paint();
  });
  if (slot("legend")) planproof.fillLegend(slot("legend"));
  slot("ask").addEventListener("click", () => slot("help").showModal());
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || slot("help").open) return;
    const typing = event.target.matches?.("input, textarea, select");
    if (typing && event.key !== "Escape") return;
    if (typing) event.target.blur();
    // Escape goes up once there is nothing left to close.
    const isHandled = current()?.key(event.key) || (!typing && planproof.press(event.key === "Escape" ? "u" : event.key));
    if (isHandled) event.preventDefault();
  });
};
