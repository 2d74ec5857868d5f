
// The palette is loaded when it is first wanted.
const openPalette = async () => {
  const { open } = await import("./palette.js");
  open({ base, namespace });
};
on("click", "[data-palette]", (link, event) => {
  if (!isPlain(event)) return;
  event.preventDefault();
  openPalette();
});

// Shortcuts. A link or button with data-key is what its letter presses.
const go = (...path) => location.assign(base + "/" + path.join("/"));
const inNamespace = (place) => () => { if (namespace) go("namespaces", namespace, place); };
const press = (selector) => () => document.querySelector(selector)?.click();
const singles = {
  "/": () => document.querySelector("main [type=search]")?.focus(),
  "?": () => go("shortcuts"),
  n: () => openMenu(document.querySelector("details.ns")),
  c: press("[data-key=c]"), t: press("[data-key=t]"), e: press("[data-key=e]"), r: press("[data-key=r]"),
  "g f": inNamespace("flags"), "g s": inNamespace("segments"), "g p": inNamespace("playground"), "g h": inNamespace("changes"), "g c": inNamespace("compare"),
};
const commands = {
  k: openPalette,
  s: press("button[data-key=save]"),
  enter: press("dialog[open] [data-key=submit], [data-key=submit], button[data-key=save]"),
};
let prefix = "";
document.addEventListener("keydown", (event) => {
  const command = (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey && commands[event.key.toLowerCase()];
  if (command) {
    event.preventDefault();
    return command();
  }
  if (event.key === "Escape") {
    const menu = document.activeElement?.closest("details.menu[open]");
    closeMenus();
    return menu?.querySelector("summary").focus();
  }
  if (areSinglesOff(event)) return;
  const key = prefix + event.key;
  prefix = "";
  if (key === "g") {
    prefix = "g ";
    return setTimeout(() => { prefix = ""; }, 1200);
  }
  if (singles[key]) {
    event.preventDefault();
    singles[key]();
  }
});
