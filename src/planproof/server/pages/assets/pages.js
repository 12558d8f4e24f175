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
  const listed = () => [...document.querySelectorAll("[data-walk] tbody a, [data-walk] li a")];
  planproof.frame(() => view ?? { key: (key) => planproof.walk(listed(), key) });
  if (!form) return;
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  slot("file").addEventListener("change", async () => {
    const [file] = slot("file").files;
    if (file) form.elements.trace.value = await file.text();
  });
})();
