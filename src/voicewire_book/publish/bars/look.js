// What one page shows: run in the page by voicewire_book.publish.bars, which hands over the woven pieces of its notebook.
(woven) => {
  const article = document.querySelector("article.bd-article") || document.body;
  const seen = (tag) => tag.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && tag.offsetHeight > 0;
  const box = (tag) => tag.getBoundingClientRect();
  const even = (text) => text.replace(/\s+/g, "");
  const pieces = new Set(woven.map(even));

  // A picture counts where its middle is: one of which only the edge shows says nothing. Icons and badges are none.
  const large = (tag) => box(tag).height >= 60 && box(tag).width >= 120 && tag.checkVisibility();
  const shown = [...article.querySelectorAll("img, svg, canvas, video, .vw-slider")].filter(
    (tag) => large(tag) && !tag.closest("mjx-container")
  );
  const players = [...article.querySelectorAll("audio, .vw-audio, .vw-player")].filter((tag) => tag.checkVisibility());
  const middles = [...shown, ...players].map((tag) => box(tag).top + window.scrollY + box(tag).height / 2);

  const cells = [...article.querySelectorAll(".cell_input pre")].filter(seen).map((pre) => {
    const text = pre.textContent.replace(/\n+$/, "");
    const lines = text.split("\n");
    return {
      lines: lines.length,
      columns: Math.max(...lines.map((line) => line.length)),
      woven: pieces.has(even(text)),
      judges: /\bledger\.judge\(/.test(text),
      first: lines[0].slice(0, 40),
    };
  });

  const boxes = [...article.querySelectorAll("*")].filter((tag) => {
    const style = getComputedStyle(tag).overflowX;
    return (style === "auto" || style === "scroll") && tag.scrollWidth > tag.clientWidth + 1 && seen(tag);
  });
  const sideways = boxes.map((tag) => ({
    code: tag.closest(".cell_input, pre, div.highlight") !== null,
    what: `${tag.tagName.toLowerCase()}.${tag.className} in ${(tag.closest(".cell_input, .cell_output, .vw-claims, details, div.math") || article).className}`.slice(0, 60),
  }));

  // A claim is printed where its row or card stands, and where a cell's output says its verdict.
  const printed = {};
  article.querySelectorAll("[id^='claim-'], tr:has(> td code)").forEach((tag) => {
    if (tag.closest(".vw-row")) return;
    const codes = [...tag.querySelectorAll("code")].map((code) => code.textContent);
    const own = tag.id.startsWith("claim-") ? tag.id.slice(6) : codes.find((text) => /^[a-z]+(\.[a-z0-9-]+)+$/.test(text));
    if (own && tag.closest(".vw-claims, .vw-card, .vw-told")) printed[own] = (printed[own] || 0) + 1;
  });
  article.querySelectorAll(".cell_output .text_plain pre, .cell_output .stream pre").forEach((pre) => {
    const said = pre.textContent.match(/^[✓✎◐✗⊘–⇄≈] [a-z ,]+: ([a-z]+(?:\.[a-z0-9-]+)+): /);
    if (said) printed[said[1]] = (printed[said[1]] || 0) + 1;
  });

  const pictures = [...article.querySelectorAll(".cell_output img, .vw-slider img, figure img")]
    .filter((image) => large(image) && image.naturalWidth && !/\.svg|image\/svg/.test(image.src.slice(0, 200)))
    .map((image) => image.naturalWidth / image.clientWidth);

  return {
    first: middles.length ? Math.min(...middles) : null,
    cells,
    sideways,
    printed,
    cards: article.querySelectorAll(".vw-card").length,
    sharp: pictures.length ? Math.min(...pictures) : null,
  };
}
