// Functions shared by the scripts of a page. Text from a case is inserted as text, never as HTML.
"use strict";

const planproof = {
  marks: {
    executed: "✓", partial: "◐", missing: "✗", ambiguous: "?", out_of_order: "⇅",
    left_out: "○", parent: "", major: "+", minor: "+", extra: "+",
  },

  /** Create an element with attributes and children; strings become text. */
  element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== ""));
    return node;
  },

  /** Create an SVG element. */
  createSvg(tag, attributes = {}, text = "") {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    return node;
  },

  /** Return a function that finds the slots of a template by name. */
  slots(root) {
    return (name) => root.querySelector(`[data-slot="${name}"]`);
  },

  /** Return the data of an embedded JSON element. */
  embedded(name) {
    return JSON.parse(document.getElementById(name).textContent);
  },

  /** Create the mark of a status, so that it is not shown by colour alone. */
  mark(status) {
    return planproof.element("span", { class: "mark", "aria-hidden": "true" }, planproof.marks[status]);
  },

  /** Format a count with its noun: `1 event`, `2 events`. */
  many(count, noun) {
    return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  },

  /** Create a button that toggles a filter. */
  chip(key, status, label, count) {
    const { element, mark } = planproof;
    return element(
      "button", { type: "button", "data-filter": key, "data-status": status, "aria-pressed": "false" },
      planproof.marks[status] ? mark(status) : null, label, element("b", {}, count.toLocaleString("en")),
    );
  },

  /** Limit calls of a function to one per animation frame. */
  throttleToFrame(callback) {
    let isScheduled = false;
    return () => {
      if (isScheduled) return;
      isScheduled = true;
      requestAnimationFrame(() => { isScheduled = false; callback(); });
    };
  },

  /** Call a function once no further call has followed for `delay` milliseconds. */
  debounce(callback, delay = 120) {
    let timer = 0;
    return () => { clearTimeout(timer); timer = setTimeout(callback, delay); };
  },
};
