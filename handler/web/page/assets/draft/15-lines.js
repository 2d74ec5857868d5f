
// Lines of a text have numbers, which scroll with it. The style sheet shows them, so that they
// are no text of the page.
const number = (lines) => {
  const text = document.getElementById(lines.dataset.lines);
  const count = text.value.split("\n").length;
  if (Number(lines.dataset.count) !== count) {
    lines.dataset.numbers = Array.from({ length: count }, (_, i) => i + 1).join("\n");
    lines.dataset.count = count;
  }
  lines.scrollTop = text.scrollTop;
};
const linesOf = (text) => document.querySelector(`[data-lines="${CSS.escape(text.id)}"]`);
const numberAll = (within) => {
  for (const lines of within.querySelectorAll("[data-lines]")) number(lines);
};
numberAll(document);
document.addEventListener("guidon:fresh", (event) => numberAll(event.detail));
for (const type of ["input", "scroll"]) {
  document.addEventListener(type, ({ target }) => {
    const lines = target.id && linesOf(target);
    if (lines) number(lines);
  }, true);
}
