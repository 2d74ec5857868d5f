
// Steps are reordered by the arrow keys on the grip, or by dragging it.
const stepsOf = (ladder) => [...ladder.querySelectorAll(":scope > .step:not(.else)")];
const stepAt = (grip) => stepsOf(grip.closest("[data-ladder]")).indexOf(grip.closest(".step"));

const reorder = async (grip, from, to) => {
  const count = stepsOf(grip.closest("[data-ladder]")).length;
  if (to < 0 || to >= count) return say("It cannot go further");
  const data = fieldsOf(grip.form);
  data.set("do", `move:${from}:${to}`);
  if (!await update(grip.form, data)) return;
  stepsOf(document.querySelector("[data-ladder]"))[to]?.querySelector(".grip")?.focus();
  say(`${to + 1} of ${count}`);
};

on("keydown", "[data-ladder] .grip", (grip, event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  reorder(grip, stepAt(grip), stepAt(grip) + step);
});

on("pointerdown", "[data-ladder] .grip", (grip, event) => {
  if (event.button !== 0) return;
  const step = grip.closest(".step");
  const steps = stepsOf(grip.closest("[data-ladder]"));
  const from = steps.indexOf(step);
  let to = from;
  grip.setPointerCapture(event.pointerId);
  step.classList.add("dragged");
  const mark = () => {
    for (const [i, s] of steps.entries()) {
      s.classList.toggle("before", i === to && to < from);
      s.classList.toggle("after", i === to && to > from);
    }
  };
  const move = (e) => {
    const under = steps.findIndex((s) => e.clientY < s.getBoundingClientRect().bottom);
    to = under < 0 ? steps.length - 1 : under;
    mark();
  };
  const stop = (e) => {
    for (const type of ["pointermove", "pointerup", "pointercancel"]) grip.removeEventListener(type, type === "pointermove" ? move : stop);
    const target = e.type === "pointerup" ? to : from;
    to = from;
    mark();
    step.classList.remove("dragged");
    if (target !== from) reorder(grip, from, target);
  };
  grip.addEventListener("pointermove", move);
  grip.addEventListener("pointerup", stop);
  grip.addEventListener("pointercancel", stop);
});
