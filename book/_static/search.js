// Excerpts below what was searched for, from texts that lie beside the pages: they work from a file, too, hold no hints
// of the glossary, and no page has to be fetched for them.
(function () {
  "use strict";
  var LENGTH = 240, BEFORE = 90;
  var root = new URL(".", window.location.href).href;
  var query = new URLSearchParams(window.location.search).get("q") || "";
  var words = query.toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u).filter(Boolean);

  function first(text) { // where the earliest of the words stands, -1 for none
    var small = text.toLowerCase();
    return words.reduce(function (found, word) {
      var at = small.indexOf(word);
      return at >= 0 && (found < 0 || at < found) ? at : found;
    }, -1);
  }

  function excerpt(link) {
    var parts = link.href.slice(root.length).split("#"), page = window.vwTexts[parts[0].replace(/\.html.*$/, "")];
    if (!page) { return ""; }
    var own = page.filter(function (section) { return section[0] === parts[1]; });
    var section = own.concat(page).find(function (one) { return first(one[1]) >= 0; }) || own[0] || page[0];
    var text = section[1], at = Math.max(0, first(text) - BEFORE);
    at = at ? text.indexOf(" ", at) + 1 : 0; // from a word's beginning
    return (at ? "… " : "") + text.slice(at, at + LENGTH).replace(/\S*$/, "") + (at + LENGTH < text.length ? "…" : "");
  }

  new MutationObserver(function () {
    document.querySelectorAll("#search-results ul.search > li:not([data-told])").forEach(function (item) {
      item.dataset.told = "";
      var link = item.querySelector("a"), said = link && window.vwTexts ? excerpt(link) : "";
      if (said) {
        var paragraph = document.createElement("p");
        paragraph.className = "context";
        paragraph.textContent = said;
        item.append(paragraph);
      }
    });
  }).observe(document.documentElement, { childList: true, subtree: true });
})();
