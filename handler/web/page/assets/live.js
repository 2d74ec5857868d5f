// Changes of others appear as they happen: one stream a page, open while it is visible.

import { say } from "./app.js";
import { replace } from "./fragment.js";

const { stream, revision } = document.body.dataset;
let source;
let seen = Number(revision);
let waiting = [];
let timer;

const busy = (region) =>
  region.contains(document.activeElement) || region.matches(":hover") ||
  region.querySelector("details.menu[open], .pick input:checked") !== null;

// apply shows the changes that have come together.
const apply = async () => {
  const region = document.querySelector("[data-region][data-live]");
  if (region && busy(region)) {
    timer = setTimeout(apply, 1000);
    return;
  }
  const changes = waiting;
  waiting = [];
  for (const text of document.querySelectorAll("[data-revision-text]")) text.textContent = seen;
  document.body.dataset.revision = seen;
  const newer = document.querySelector("[data-newer]");
  if (newer) return announceNewer(newer, changes);
  const object = document.body.querySelector("[data-object]")?.dataset.object;
  const mine = object && changes.find((c) => `${c.kind}/${c.key}` === object);
  if (document.querySelector("form[data-draft][data-dirty]") || document.querySelector("form[data-draft] :focus")) {
    if (mine) announceChange(mine);
    return;
  }
  if (!region || object && !mine && !region.dataset.all) return;
  const fresh = await replace(location.href, region.dataset.region);
  if (!fresh) return;
  for (const change of changes) {
    const row = fresh.querySelector(`[data-row="${CSS.escape(change.key)}"]`);
    row?.classList.add("changed");
    setTimeout(() => row?.classList.remove("changed"), 2000);
  }
  if (mine) say(`${mine.actor?.name || "Somebody"} changed this`);
};

const reload = (text) => {
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = text;
  return link;
};

const announceChange = (change) => {
  document.querySelector("[data-changed]")?.remove();
  const note = document.createElement("p");
  note.className = "note warn";
  note.dataset.changed = "yes";
  note.setAttribute("role", "status");
  const text = document.createElement("span");
  text.append(`${change.actor?.name || "Somebody"} changed this just now. Saving shows you both. `, reload("See it"));
  note.append(text);
  document.querySelector("form[data-draft]").before(note);
};

const announceNewer = (newer, changes) => {
  const count = Number(newer.dataset.newer || 0) + changes.length;
  newer.dataset.newer = count;
  newer.hidden = false;
  const link = reload(`${count} newer ${count === 1 ? "change" : "changes"}`);
  link.className = "fresh-bar";
  newer.replaceChildren(link);
};

const open = () => {
  source = new EventSource(`${stream}?from=${seen}`);
  source.addEventListener("change", (event) => {
    const change = JSON.parse(event.data);
    seen = Math.max(seen, Number(change.revision));
    waiting.push(change);
    clearTimeout(timer);
    timer = setTimeout(apply, 150);
  });
};
const close = () => { source?.close(); source = undefined; };
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") { if (!source) open(); } else close();
});
addEventListener("pagehide", close);
if (document.visibilityState === "visible") open();
