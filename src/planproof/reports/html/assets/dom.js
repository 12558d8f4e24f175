// What the scripts of a page share. All text from a case goes in as text, never as HTML.
"use strict";

const planproof = {
  marks: {
    executed: "✓", partial: "◐", missing: "✗", ambiguous: "?", out_of_order: "⇅",
    left_out: "○", parent: "", major: "+", minor: "+", extra: "+",
  },

  /** An element with attributes and children; strings become text. */
  element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== ""));
    return made;
  },

  /** The same for a picture. */
  drawn(tag, attributes = {}, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  },

  /** Finds the places that a template left to be filled, by name. */
  slots(root) {
    return (name) => root.querySelector(`[data-slot="${name}"]`);
  },

  /** What stands in one of the embedded data elements. */
  embedded(name) {
    return JSON.parse(document.getElementById(name).textContent);
  },

  /** A mark before a word, so that colour is never alone. */
  mark(status) {
    return planproof.element("span", { class: "mark", "aria-hidden": "true" }, planproof.marks[status]);
  },

  many(count, noun) {
    return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  },

  /** A button that switches a filter on and off. */
  chip(key, status, label, count) {
    const { element, mark } = planproof;
    return element(
      "button", { type: "button", "data-filter": key, "data-status": status, "aria-pressed": "false" },
      planproof.marks[status] ? mark(status) : null, label, element("b", {}, count.toLocaleString("en")),
    );
  },

  /** Calls a function at most once a frame. */
  framed(work) {
    let asked = false;
    return () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => { asked = false; work(); });
    };
  },

  /** Calls a function when nothing more has come for a moment. */
  settled(work, pause = 120) {
    let timer = 0;
    return () => { clearTimeout(timer); timer = setTimeout(work, pause); };
  },
};
