// The report in one file: the way between the run and its cases.
"use strict";

(() => {
  const slot = planproof.slots(document);
  const view = new planproof.CaseView(slot("case"));
  const Table = slot("overview")?.matches(".calibration") ? planproof.Calibration : planproof.Overview;
  const run = slot("overview") ? new Table(slot("overview")) : null;
  let shown = null;

  const follow = () => {
    const wanted = /^#case-(\d+)$/.exec(location.hash);
    const page = wanted ? Number(wanted[1]) : run ? null : 0;
    shown = page !== null && document.getElementById(`case-${page}`) ? page : run ? null : 0;
    slot("case").hidden = shown === null;
    if (run) {
      slot("overview").hidden = shown !== null;
      slot("nav").hidden = shown === null;
      slot("previous").disabled = run.beside(shown, -1) === undefined;
      slot("next").disabled = run.beside(shown, 1) === undefined;
    }
    if (shown !== null) view.show(planproof.embedded(`case-${shown}`));
    scrollTo(0, 0);
  };
  const step = (by) => { location.hash = `#case-${run.beside(shown, by)}`; };
  slot("previous")?.addEventListener("click", () => step(-1));
  slot("next")?.addEventListener("click", () => step(1));
  addEventListener("hashchange", follow);
  planproof.frame(() => (shown === null ? run : view));
  follow();
})();
