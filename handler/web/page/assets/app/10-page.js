
// What every page has.

const root = document.documentElement;
const base = document.body.dataset.base ?? "";
const namespace = document.body.dataset.namespace;

/** on calls fn for events of the type inside of elements that match the selector. */
export const on = (type, selector, fn, options) =>
  document.addEventListener(type, (event) => {
    const target = event.target instanceof Element ? event.target.closest(selector) : null;
    if (target) fn(target, event);
  }, options);

/** make returns a new element with the properties and children. */
export const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// A live region tells screen readers what has happened.
const status = make("p", { className: "vh" });
status.setAttribute("role", "status");
(document.getElementById("main") ?? document.body).append(status);

/** say announces a text. */
export const say = (text) => {
  status.textContent = "";
  setTimeout(() => { status.textContent = text; }, 50);
};

/** isTyping reports whether keys belong to a field. */
export const isTyping = (target) =>
  target instanceof Element && target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]") !== null;

/** areSinglesOff reports whether single letters are no shortcuts now. */
export const areSinglesOff = (event) =>
  event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented || isTyping(event.target) ||
  root.dataset.shortcuts === "off" || document.querySelector("dialog[open]") !== null;

/** addressOf returns where a form that is sent by GET leads. */
export const addressOf = (form) => {
  const url = new URL(form.action);
  for (const [name, value] of new FormData(form)) if (value) url.searchParams.append(name, value);
  return url;
};

/** isPlain reports whether a click on a link opens it here. */
export const isPlain = (event) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

// Copy buttons.
on("click", "[data-copy]", async (button) => {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.classList.add("copied");
    say("Copied");
    setTimeout(() => button.classList.remove("copied"), 1500);
  } catch {
    say("The browser does not allow copying here");
  }
});

// Menus close on Escape, on a click elsewhere, and when another opens. Arrows move in them.
const closeMenus = (except) => {
  const open = [...document.querySelectorAll("details.menu[open]")].filter((menu) => menu !== except);
  for (const menu of open) menu.open = false;
  return open.length > 0;
};
/** openMenu opens a menu, if there is one. */
export const openMenu = (menu) => {
  if (!menu) return;
  menu.open = true;
  menu.querySelector(".pop :is(a, button, [type=search])")?.focus();
};
document.addEventListener("click", (event) => closeMenus(event.target.closest?.("details.menu")));
on("keydown", "details.menu", (menu, event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !menu.open || isTyping(event.target) && event.target.type !== "search") return;
  event.preventDefault();
  const items = [...menu.querySelectorAll(".pop :is(a, button, [type=search])")];
  const at = items.indexOf(document.activeElement);
  items.at(at < 0 && step < 0 ? -1 : (at + step) % items.length)?.focus();
});

// The server filters the menu of namespaces as somebody types; Enter opens the first.
let namespaces;
const filterNamespaces = (form) => replace(addressOf(form), "namespaces");
on("input", ".ns form", (form) => {
  clearTimeout(namespaces);
  namespaces = setTimeout(filterNamespaces, 120, form);
});
onSubmit(".ns form", async (form) => {
  clearTimeout(namespaces);
  const found = await filterNamespaces(form);
  found?.querySelector("a")?.click();
  return found !== undefined;
});

// What is wrong with a form comes first.
document.querySelector("[role=alert][autofocus]")?.focus();

// Of links in a line, the current one is in sight. Browsers with scroll-initial-target need no help.
for (const link of document.querySelectorAll(":is(.tabs, .subnav, .langs) > [aria-current]")) {
  const line = link.parentElement;
  line.scrollLeft = link.offsetLeft - line.offsetLeft - (line.clientWidth - link.offsetWidth) / 2;
}

// An address of Flipt, such as /#/namespaces/default/flags/a, leads to the page here.
const old = /^#\/namespaces\/([\w-]+)(?:\/(flags|segments)(?:\/([\w-]+))?)?/.exec(location.hash);
if (old) location.replace(base + "/namespaces/" + old[1] + "/" + (old[2] ?? "flags") + (old[3] ? "/" + old[3] : ""));
