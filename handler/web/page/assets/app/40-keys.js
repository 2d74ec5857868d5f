
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

// Shortcuts. A link or button with data-key is what its letter presses: that of the rule or
// constraint with the focus, or else the first one.
const press = (selector) => () => {
  const within = document.activeElement?.closest(".rule, .cond, tr");
  const button = within?.querySelector(selector) ?? document.querySelector(selector);
  if (button?.closest(".savebar")?.checkVisibility() ?? true) button?.click();
};
const goTo = (place) => press(`.nav a[href$="/${place}"]`);
const letter = (key) => press(`[data-key=${key}]`);
// send presses the main button of the dialog or the form.
const send = () => {
  const dialog = document.querySelector("dialog[open]");
  if (dialog) return dialog.querySelector("[data-cancel] ~ button")?.click();
  const button = document.querySelector("[data-key=submit]") ?? document.activeElement?.form?.querySelector("button.primary");
  return button ? button.click() : save();
};
const save = press("body:not(:has(dialog[open])) button[data-key=save]");
const singles = {
  "/": () => document.querySelector("main [type=search]")?.focus(),
  "?": () => location.assign(base + "/shortcuts"),
  n: () => openMenu(document.querySelector("details.ns")),
  c: letter("c"), t: letter("t"), e: letter("e"), r: letter("r"),
  "g f": goTo("flags"), "g s": goTo("segments"), "g p": goTo("playground"), "g h": goTo("changes"), "g c": goTo("compare"),
};
const commands = {
  k: openPalette,
  s: save,
  enter: send,
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
    if (closeMenus()) event.preventDefault(); // nothing else is closed by it
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
