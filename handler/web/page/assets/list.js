// Lists: rows follow the filter as somebody types; rows are selected and opened by keys.

import { addressOf, areSinglesOff, on, onSubmit, openMenu, replace, say } from "./app.js";

const filterForm = document.querySelector("form[data-filter]");

let timer;
const filter = async () => {
  const url = addressOf(filterForm);
  const list = await replace(url, filterForm.dataset.filter);
  if (list === undefined) return location.assign(url);
  if (!list) return;
  history.replaceState(history.state, "", url);
  for (const link of filterForm.querySelectorAll("a[href]")) { // other filters are added to this one
    const to = new URL(link.href);
    for (const name of ["q", "page"]) to.searchParams.delete(name);
    if (url.searchParams.get("q")) to.searchParams.set("q", url.searchParams.get("q"));
    link.href = to;
  }
  if (list.dataset.announce) say(list.dataset.announce);
};
if (filterForm) {
  filterForm.addEventListener("input", (event) => {
    if (event.target.type !== "search") return;
    clearTimeout(timer);
    timer = setTimeout(filter, 120);
  });
  onSubmit("form[data-filter]", () => {
    clearTimeout(timer);
    return filter();
  });
}

// Selection. The style sheet shows the bar with the acts from the first tick.
const count = (form) => {
  const chosen = form.querySelectorAll("tbody .pick input:checked").length;
  const all = form.querySelectorAll("tbody .pick input").length;
  const head = form.querySelector("thead .pick input");
  if (head) {
    head.checked = chosen > 0 && chosen === all;
    head.indeterminate = chosen > 0 && chosen < all;
  }
  for (const text of form.querySelectorAll("[data-count]")) text.textContent = chosen;
};
on("change", ".pick input", (box) => {
  if (box.closest("thead")) for (const other of box.form.querySelectorAll("tbody .pick input")) other.checked = box.checked;
  count(box.form);
});

// Buttons for all or none of the rows that are shown.
on("click", "[data-pick]", (button, event) => {
  event.preventDefault();
  for (const box of button.form.querySelectorAll("tbody .pick input")) if (box.checkVisibility()) box.checked = button.value === "all";
  count(button.form);
});

// Keys: j and k move, x selects, e edits, t asks whether to turn on or off, . opens the menu.
const rows = () => [...document.querySelectorAll("tr:has(a.row)")];
const current = () => document.activeElement?.closest?.("tr");
const keys = {
  j: () => move(1), k: () => move(-1),
  x: () => current()?.querySelector(".pick input")?.click(),
  ".": () => openMenu(current()?.querySelector("details.menu")),
  t: () => current()?.querySelector("[data-turn]")?.click(),
  e: () => { const link = current()?.querySelector("a[data-edit]"); if (link) location.assign(link.dataset.edit); },
};
const move = (step) => {
  const all = rows();
  const at = all.indexOf(current());
  all[Math.min(Math.max(at + step, 0), all.length - 1)]?.querySelector("a.row").focus();
};
document.addEventListener("keydown", (event) => {
  if (areSinglesOff(event) || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
}, true); // before the keys of all pages
