// Scripts of the server pages: keyboard shortcuts, the case view, and the form to try a case.
"use strict";

(() => {
  const slot = planproof.slots(document);
  const form = slot("try");
  let view = null;
  if (slot("case")) {
    view = new planproof.CaseView(slot("case"));
    view.show(planproof.embedded("case-0"));
  }
  const listed = () => [...document.querySelectorAll("[data-walk] tbody th > a:first-of-type, [data-walk] li a")];
  planproof.frame(() => view ?? { key: (key) => planproof.walk(listed(), key) });
  if (!form) return;
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  const judge = form.querySelector("button");
  form.addEventListener("submit", () => { judge.textContent = "Judging …"; });
  // Restore the label when the browser returns to the page.
  addEventListener("pageshow", () => { judge.textContent = "Judge"; });
  slot("file").addEventListener("change", async () => {
    const [file] = slot("file").files;
    if (file) form.elements.trace.value = await file.text();
  });
})();
