// Search over everything, from everywhere: a dialog over the page at /search.

import { load, make, recentPages } from "./app.js";

let dialog;
let input;
let list;
let place;
let latest;
let searching; // until the list is what was found

const build = () => {
  input = make("input", {});
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list",
    "aria-label": "Search or jump to", autocomplete: "off", spellcheck: "false", placeholder: "Search or jump to",
  })) input.setAttribute(name, value);
  list = make("ul", { className: "list", id: "found" });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Results");
  dialog = make("dialog", { className: "palette" }, make("div", { className: "ask" }, input, make("kbd", {}, "esc")), list);
  dialog.setAttribute("aria-label", "Search or jump to");
  document.body.append(dialog);
  input.addEventListener("input", begin);
  dialog.addEventListener("keydown", keys);
  list.addEventListener("click", (event) => follow(event.target.closest("[role=option]"), event));
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
};

const search = async () => {
  latest?.abort();
  latest = new AbortController();
  const { signal } = latest;
  const query = new URLSearchParams({ q: input.value });
  if (place.namespace) query.set("namespace", place.namespace);
  const page = await load(`${place.base}/search?${query}`, { region: "options", signal });
  if (signal.aborted) return;
  list.replaceChildren(...page?.querySelector('[data-region="options"]')?.childNodes ?? []);
  addRecent();
  choose(options().find((o) => !("creates" in o.dataset)));
};

const begin = () => { searching = search(); };

// Without a query there is a pattern for the pages that somebody was at last, in their place.
const addRecent = () => {
  const pattern = list.querySelector("[data-pattern]");
  const pages = pattern ? recentPages().filter((p) => p.path !== location.pathname) : [];
  const items = pages.slice(0, 8).map(({ path, title, namespace }, i) => {
    const item = pattern.cloneNode(true);
    item.hidden = false;
    item.id = `recent-${i + 1}`;
    item.dataset.href = path;
    const text = item.querySelector("span");
    text.append(title, " ", make("small", {}, namespace ?? ""));
    return item;
  });
  if (items.length === 0) return pattern?.remove();
  const heading = make("li", { className: "h" }, "Recent");
  heading.setAttribute("role", "presentation");
  pattern.replaceWith(heading, ...items);
};

const options = () => [...list.querySelectorAll("[role=option]")];

const chosen = () => options().find((o) => o.getAttribute("aria-selected") === "true");

const choose = (option) => {
  for (const other of options()) other.setAttribute("aria-selected", String(other === option));
  if (!option) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
};

const follow = (option, event) => {
  if (!option) return;
  if (event.metaKey || event.ctrlKey) return open_(option.dataset.href);
  location.assign(option.dataset.href);
};
const open_ = (address) => window.open(address, "_blank", "noopener");

const keys = async (event) => {
  if (event.isComposing) return; // the keys are those of an input method
  if (event.key === "Enter") {
    event.preventDefault();
    const search = searching;
    await search;
    if (search === searching && dialog.open) follow(chosen(), event);
    return;
  }
  const all = options();
  const at = all.indexOf(chosen()); // -1 if only something to create was found
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    choose(all.at(event.key === "ArrowDown" ? (at + 1) % all.length : Math.max(at, 0) - 1));
  }
};

/** open shows the palette. */
export const open = (where) => {
  place = where;
  if (!dialog) build();
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  begin();
};
