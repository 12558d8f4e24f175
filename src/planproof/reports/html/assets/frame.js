// The frame of every page: light and dark, the list of keys, and what a key does.
"use strict";

/** What a key does stands in the page: an element with `data-key` is clicked, a field gets the focus. */
planproof.press = (key) => {
  const target = [...document.querySelectorAll("[data-key]")].find(
    (each) => each.dataset.key === key && each.checkVisibility() && !each.disabled,
  );
  if (!target) return false;
  if (target.matches("input, select, textarea")) target.focus();
  else target.click();
  return true;
};

/** `j` and `k` go down and up a list of links. */
planproof.walk = (links, key) => {
  const by = { j: 1, k: -1 }[key];
  if (!by || !links.length) return false;
  const at = links.indexOf(document.activeElement);
  const next = Math.min(Math.max(at < 0 && by < 0 ? 0 : at + by, 0), links.length - 1);
  links[next].focus();
  return true;
};

planproof.fillLegend = (list) => {
  const { element, drawn } = planproof;
  const legend = {
    executed: "executed", partial: "partial", ambiguous: "ambiguous", out_of_order: "out of order, a ring where it crosses another",
    missing: "missing: the line ends", major: "an extra: the line comes from nowhere",
  };
  list.replaceChildren(...Object.entries(legend).map(([status, label]) => {
    const line = drawn("svg", { class: "lines", "aria-hidden": "true", viewBox: "0 0 50 18" });
    const group = drawn("g", { "data-status": status });
    group.append(drawn("path", { d: status === "missing" ? "M2,9H24" : status === "major" ? "M26,9H48" : "M2,9H48" }));
    if (status === "missing") group.append(drawn("text", { x: 34, y: 9 }, "✗"));
    if (status === "major") group.append(drawn("circle", { cx: 16, cy: 9, r: 8 }), drawn("text", { x: 16, y: 9 }, "+"));
    if (status === "out_of_order") group.append(drawn("circle", { cx: 25, cy: 9, r: 5 }));
    line.append(group);
    return element("li", {}, line, `${planproof.marks[status]} ${label}`);
  }));
};

/** Bring the frame to life. `current()` is the view that is asked about a key first. */
planproof.frame = (current) => {
  const slot = planproof.slots(document);
  const paint = () => {
    const [sign, name] = planproofTheme.names[document.documentElement.dataset.theme];
    const { element } = planproof;
    slot("theme").replaceChildren(element("span", { class: "unseen" }, "Colours: "), sign, element("span", { class: "word" }, ` ${name}`));
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
    // Back is the way up, once there is nothing left to close.
    const done = current()?.key(event.key) || (!typing && planproof.press(event.key === "Escape" ? "u" : event.key));
    if (done) event.preventDefault();
  });
};
