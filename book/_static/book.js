// Formulas and outputs wider than the screen scroll by themselves; whoever has no mouse must be able to reach them.
(function () {
  "use strict";
  function reach() {
    document.querySelectorAll("mjx-container[display], div.math, div.cell_output .output, .vw-pan").forEach(function (box) {
      var style = getComputedStyle(box).overflowX;
      if ((style === "auto" || style === "scroll") && box.scrollWidth > box.clientWidth) {
        box.setAttribute("tabindex", "0");
      } else if (box.getAttribute("tabindex") === "0") {
        box.removeAttribute("tabindex");
      }
    });
  }
  // A formula that is a little too wide is set smaller, as far as it can still be read.
  function shrink() {
    document.querySelectorAll("mjx-container[display]").forEach(function (formula) {
      formula.style.fontSize = "";
      var fit = formula.clientWidth / formula.scrollWidth;
      if (fit < 1) {
        var size = parseFloat(getComputedStyle(formula).fontSize);
        formula.style.fontSize = Math.max(12, 0.98 * fit * size) + "px";
      }
    });
    reach();
  }
  window.addEventListener("load", function () {
    var formulas = window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    Promise.resolve(formulas).then(shrink);
  });
  window.addEventListener("resize", shrink);

  // Fifty buttons of one name cannot be told apart by ear. They are added some time after the page.
  function name(tries) {
    var buttons = document.querySelectorAll("button.copybtn");
    buttons.forEach(function (button, index) { button.setAttribute("aria-label", "Copy code " + (index + 1)); });
    if (!buttons.length && tries) { setTimeout(name, 250, tries - 1); }
  }
  window.addEventListener("load", function () { name(20); });

  // What an address names may lie in a fold; the anchor of a judged cell stands below the fold that holds its code.
  function unfold() {
    var named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!named) { return; }
    for (var fold = named.closest("details"); fold; fold = fold.parentElement.closest("details")) { fold.open = true; }
    var cell = /^judged-/.test(named.id) && named.closest(".cell");
    var code = cell && cell.querySelector("details.hide");
    if (code) { code.open = true; }
    (code || named).scrollIntoView();
  }
  window.addEventListener("load", unfold);
  window.addEventListener("hashchange", unfold);
})();
// What a reader may try on a claim is fetched when the first one is opened.
(function () {
  "use strict";
  var here = document.currentScript.src;
  var fetched;
  document.addEventListener("toggle", function (event) {
    var box = event.target;
    if (!box.open || !box.matches(".vw-try, .vw-row[data-numbers]")) { return; }
    fetched = fetched || new Promise(function (done) {
      var script = document.createElement("script");
      script.src = new URL("whatif.js", here).href;
      script.onload = done;
      document.head.appendChild(script);
    });
    fetched.then(function () { window.vwWhatIf.open(box); });
  }, true);
})();
// Pages whose code runs in the browser: the button is all that is there before the click.
(function () {
  "use strict";
  var here = document.currentScript.src;
  document.addEventListener("DOMContentLoaded", function () {
    var bar = document.querySelector(".vw-live");
    if (!bar) { return; }
    var button = bar.querySelector("button");
    var said = bar.querySelector("span");
    bar.hidden = false;
    if (location.protocol === "file:") {
      button.disabled = true;
      said.textContent = "Opened as a file, this page can be read, not run: in the book's folder, start " +
        "“python -m http.server --bind 127.0.0.1” and open the address that it names.";
      return;
    }
    button.addEventListener("click", function () {
      button.disabled = true;
      bar.vwPage = import(new URL("live/live.mjs", here).href).then(function (live) { return live.begin(bar); });
      bar.vwPage.catch(function (error) {
        bar.vwPage = null;
        button.disabled = false;
        said.textContent = "Python could not be started: " + error.message;
      });
    });
  });
})();
