// The lines between steps and their evidence. Only visible ones are drawn.
"use strict";

planproof.Lines = class {
  /** `view` has the rows of steps and events that are shown. */
  constructor(svg, proof, view) {
    this.svg = svg;
    this.proof = proof;
    this.view = view;
    this.seen = new Set();
    this.draw = planproof.throttleToFrame(() => this.redraw());
    this.watcher = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        if (isIntersecting) this.seen.add(target);
        else this.seen.delete(target);
      }
      this.draw();
    }, { rootMargin: "300px 0px" });
    addEventListener("scroll", this.draw, { passive: true, capture: true });
    addEventListener("resize", this.draw);
    new ResizeObserver(this.draw).observe(proof);
  }

  /** Observe the chunks of rows in which lines may end, after the rows were rebuilt. */
  watch(chunks) {
    this.watcher.disconnect();
    this.seen.clear();
    for (const chunk of chunks) this.watcher.observe(chunk);
    this.draw();
  }

  redraw() {
    const { proof, svg, view } = this;
    const box = proof.getBoundingClientRect();
    if (!box.height || !view.data) return;
    const plan = view.slot("steps").getBoundingClientRect();
    const right = view.slot("events").getBoundingClientRect().left;
    const from = Math.max(0, -box.top - 300);
    const to = Math.min(box.height, innerHeight - box.top + 300);
    const [left, width] = [plan.right - box.left, right - plan.right];
    Object.assign(svg.style, { left: `${left}px`, top: `${from}px`, width: `${width}px`, height: `${Math.max(0, to - from)}px` });
    this.width = width;
    this.top = box.top + from;
    this.plan = plan;
    svg.classList.toggle("selected", view.selected !== null);
    const lines = [...this.steps(), ...this.extras()];
    svg.replaceChildren(...lines, ...this.crossings());
  }

  /** Return where a line leaves a step; a step scrolled out of view uses the edge of the plan. */
  start(row) {
    const rect = row.getBoundingClientRect();
    const middle = rect.top + Math.min(rect.height / 2, 21);
    const y = Math.min(Math.max(middle, this.plan.top), this.plan.bottom);
    return { y: y - this.top, offscreen: y !== middle };
  }

  end(row) {
    const rect = row.getBoundingClientRect();
    return rect.top + Math.min(rect.height / 2, 17) - this.top;
  }

  *steps() {
    this.firstCurves = [];
    for (const [index, row] of this.view.stepRows) {
      const step = this.view.data.steps[index];
      const { y, offscreen } = this.start(row);
      const on = this.view.selected === `s${index}`;
      if (offscreen && !on) continue;
      if (step.status === "missing" && !step.evidence.length) yield this.stub(y, step.status, on);
      let first = true;
      for (const [place] of step.evidence.slice(0, on ? 500 : 30)) {
        const target = this.view.eventRows.get(place);
        if (!target) continue;
        const curve = { status: step.status, y0: y, y1: this.end(target), on, offscreen: offscreen || !this.seen.has(target.parentNode) };
        if (first && step.status !== "left_out") this.firstCurves.push(curve);
        yield this.curve(curve, first);
        first = false;
      }
    }
  }

  *extras() {
    for (const row of [...this.seen].flatMap((chunk) => [...chunk.querySelectorAll(".extra")])) {
      const on = row.dataset.finding === this.view.selected;
      const y = this.end(row);
      const end = this.width - 9;
      const from = Math.max(this.width - 46, 6);
      // On narrow screens there is only the label in the row.
      const mark = this.width > 60 ? [planproof.createSvg("circle", { cx: from, cy: y, r: 8 }), planproof.createSvg("text", { x: from, y }, "+")] : [];
      yield this.group(row.dataset.status, on, false, [planproof.createSvg("path", { d: `M${from + 9},${y}H${end}` }), ...mark]);
    }
  }

  /** Draw the line of a step without evidence. */
  stub(y, status, on) {
    const reach = Math.min(this.width - 10, 34);
    return this.group(status, on, false, [
      planproof.createSvg("path", { d: `M2,${y}H${reach - 9}` }),
      planproof.createSvg("text", { x: reach, y }, planproof.marks[status]),
    ]);
  }

  curve({ status, y0, y1, on, offscreen }, first) {
    const { createSvg } = planproof;
    const bend = this.width / 2;
    const parts = [
      createSvg("path", { d: `M1,${y0}C${bend},${y0} ${bend},${y1} ${this.width - 2},${y1}` }),
      createSvg("circle", { class: "end", cx: this.width - 4, cy: y1, r: 3.5 }),
    ];
    // Don't rely on colour alone: a line that is not `executed` also has its mark.
    if (first && status !== "executed" && this.width > 60) {
      parts.push(...this.badge(this.width * 0.16, y0 + (y1 - y0) * planproof.Lines.rise(0.16), planproof.marks[status]));
    }
    return this.group(status, on, offscreen, parts);
  }

  badge(x, y, mark) {
    const { createSvg } = planproof;
    return [createSvg("circle", { cx: x, cy: y, r: 9 }), createSvg("text", { x, y }, mark)];
  }

  /** Draw rings where the line of an out-of-order step crosses another line. */
  *crossings() {
    for (const moved of this.firstCurves) {
      if (moved.status !== "out_of_order") continue;
      for (const other of this.firstCurves) {
        const share = (other.y0 - moved.y0) / (moved.y1 - moved.y0 - (other.y1 - other.y0));
        if (other === moved || other.offscreen || !(share > 0 && share < 1)) continue;
        const x = this.width * planproof.Lines.reach(share);
        const y = moved.y0 + (moved.y1 - moved.y0) * share;
        yield this.group("out_of_order", moved.on || other.on, false, [planproof.createSvg("circle", { class: "crossing", cx: x, cy: y, r: 5 })]);
      }
    }
  }

  group(status, on, offscreen, parts) {
    const group = planproof.createSvg("g", { "data-status": status, class: `${on ? "on" : ""} ${offscreen ? "offscreen" : ""}` });
    group.append(...parts);
    return group;
  }

  /** Return the relative height of a curve at a relative width; `reach` is the inverse. */
  static rise(share) {
    let [low, high] = [0, 1];
    for (let turn = 0; turn < 20; turn += 1) {
      const t = (low + high) / 2;
      if (1.5 * t * (1 - t) + t ** 3 < share) low = t;
      else high = t;
    }
    return low * low * (3 - 2 * low);
  }

  static reach(rise) {
    let [low, high] = [0, 1];
    for (let turn = 0; turn < 20; turn += 1) {
      const t = (low + high) / 2;
      if (t * t * (3 - 2 * t) < rise) low = t;
      else high = t;
    }
    return 1.5 * low * (1 - low) + low ** 3;
  }
};
