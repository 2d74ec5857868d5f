
// A slider and its number are two views of one value; the number is sent.
const fill = (range) => range.style.setProperty("--p", `${range.value}%`);
const fillAll = (within) => {
  for (const range of within.querySelectorAll("input[type=range]")) fill(range);
};
fillAll(document);
document.addEventListener("guidon:fresh", (event) => fillAll(event.detail));

document.addEventListener("input", (event) => {
  const field = event.target;
  if (field.matches("input[type=range][data-pair]")) {
    fill(field);
    document.getElementById(field.dataset.pair).value = field.value;
  } else if (field.id) {
    const range = document.querySelector(`input[type=range][data-pair="${CSS.escape(field.id)}"]`);
    if (!range || field.value === "" || !Number.isFinite(Number(field.value))) return;
    range.value = field.value;
    fill(range);
  }
}, true);
on("keydown", "input[type=range][data-pair]", (range, event) => {
  const step = event.shiftKey && { ArrowRight: 10, ArrowUp: 10, ArrowLeft: -10, ArrowDown: -10 }[event.key];
  if (!step) return;
  event.preventDefault();
  range.value = Number(range.value) + step;
  range.dispatchEvent(new Event("input", { bubbles: true }));
});
