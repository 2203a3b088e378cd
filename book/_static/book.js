// Formulas and outputs wider than the screen scroll by themselves; whoever has no mouse must be able to reach them.
(function () {
  "use strict";
  function reach() {
    document.querySelectorAll("mjx-container[display], div.math, div.cell_output .output").forEach(function (box) {
      var style = getComputedStyle(box).overflowX;
      if ((style === "auto" || style === "scroll") && box.scrollWidth > box.clientWidth) {
        box.setAttribute("tabindex", "0");
      } else if (box.getAttribute("tabindex") === "0") {
        box.removeAttribute("tabindex");
      }
    });
  }
  window.addEventListener("load", function () {
    var formulas = window.MathJax && window.MathJax.startup && window.MathJax.startup.promise;
    Promise.resolve(formulas).then(reach);
  });
  window.addEventListener("resize", reach);
})();
