// How Sphinx's search orders what it finds. Pages for developers of xtensor come after those for its users.
var Scorer = {
  score: ([docname, , , , score]) => {
    const isForUsers = /^(docs|examples|README|start|user-guide|neighbours|index)/.test(docname);
    const isForDevelopers = /^docs\/(decisions|upstream|pipeline|layout|autodiff)$/.test(docname);
    if (/^reference\/(?!passes-|dialect)/.test(docname)) return score;
    return isForUsers && !isForDevelopers ? score : score - 30;
  },
  // The numbers of Sphinx's own scorer.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
