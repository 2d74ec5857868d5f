
// Items of an order, such as rules, are moved by the arrow keys on the grip, or by dragging it.
// data-order is what one is called.
const orderOf = (element) => element.closest("[data-order]");
const itemsOf = (order) => [...order.querySelectorAll(":scope > li:not(.else)")];
const placeOf = (order, at) => `${order.dataset.order} ${at + 1} of ${itemsOf(order).length}`;

const reorder = async (grip, from, to) => {
  if (to < 0 || to >= itemsOf(orderOf(grip)).length) return say("It cannot go further");
  const data = fieldsOf(grip.form);
  data.set("do", `move:${from}:${to}`);
  const fresh = await update(grip.form, data);
  if (!fresh) return;
  const order = fresh.querySelector("[data-order]");
  itemsOf(order)[to]?.querySelector(".grip")?.focus();
  say(placeOf(order, to));
};

let moving = Promise.resolve(); // one step after the other
on("keydown", ".grip", (_, event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  moving = moving.then(() => {
    const grip = document.activeElement.closest(".grip"); // it has moved since
    const from = grip ? itemsOf(orderOf(grip)).indexOf(grip.closest("li")) : -1;
    return from < 0 ? undefined : reorder(grip, from, from + step);
  });
});

on("pointerdown", ".grip", (grip, event) => {
  if (event.button !== 0) return;
  const item = grip.closest("li");
  const items = itemsOf(orderOf(grip));
  const from = items.indexOf(item);
  let to = from;
  grip.setPointerCapture(event.pointerId);
  item.classList.add("dragged");
  const mark = () => {
    for (const [i, s] of items.entries()) {
      s.classList.toggle("before", i === to && to < from);
      s.classList.toggle("after", i === to && to > from);
    }
  };
  const move = (e) => {
    const under = items.findIndex((s) => e.clientY < s.getBoundingClientRect().bottom);
    to = under < 0 ? items.length - 1 : under;
    mark();
  };
  const stop = (e) => {
    for (const type of ["pointermove", "pointerup", "pointercancel"]) grip.removeEventListener(type, type === "pointermove" ? move : stop);
    const target = e.type === "pointerup" ? to : from;
    to = from;
    mark();
    item.classList.remove("dragged");
    if (target !== from) reorder(grip, from, target);
  };
  grip.addEventListener("pointermove", move);
  grip.addEventListener("pointerup", stop);
  grip.addEventListener("pointercancel", stop);
});
