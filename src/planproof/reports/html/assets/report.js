// Self-contained report: navigation between the run and its cases.
"use strict";

(() => {
  const slot = planproof.slots(document);
  const view = new planproof.CaseView(slot("case"));
  const Table = slot("overview")?.matches(".calibration") ? planproof.Calibration : planproof.Overview;
  const run = slot("overview") ? new Table(slot("overview")) : null;
  let shown = null;

  const showHash = () => {
    const match = /^#case-(\d+)$/.exec(location.hash);
    const page = match ? Number(match[1]) : run ? null : 0;
    shown = page !== null && document.getElementById(`case-${page}`) ? page : run ? null : 0;
    slot("case").hidden = shown === null;
    if (run) {
      slot("overview").hidden = shown !== null;
      slot("nav").hidden = shown === null;
      slot("previous").disabled = run.getNeighbour(shown, -1) === undefined;
      slot("next").disabled = run.getNeighbour(shown, 1) === undefined;
    }
    if (shown !== null) view.show(planproof.embedded(`case-${shown}`));
    scrollTo(0, 0);
  };
  const goTo = (offset) => { location.hash = `#case-${run.getNeighbour(shown, offset)}`; };
  slot("previous")?.addEventListener("click", () => goTo(-1));
  slot("next")?.addEventListener("click", () => goTo(1));
  addEventListener("hashchange", showHash);
  planproof.frame(() => (shown === null ? run : view));
  showHash();
})();
