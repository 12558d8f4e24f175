// What the pages of the server do besides: keys, the case that is shown, the form to try one.
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
  // Whoever comes back finds the form as it was.
  addEventListener("pageshow", () => { judge.textContent = "Judge"; });
  slot("file").addEventListener("change", async () => {
    const [file] = slot("file").files;
    if (file) form.elements.trace.value = await file.text();
  });
})();
