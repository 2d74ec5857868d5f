
// Changes of others appear as they happen: one stream a page, open while it is visible.

const { stream, object } = document.body.dataset;
let seen = Number(document.body.dataset.revision);

const showRevision = () => {
  for (const text of document.querySelectorAll("[data-revision-text]")) text.textContent = seen;
};

// isHeld reports whether somebody is about to use a part of the page.
const isHeld = (element) =>
  element.matches(":hover") || element.contains(document.activeElement) || element.querySelector("details.menu[open], .pick input:checked, form[data-sent]") !== null;

const rowOf = (within, key) => within.querySelector(`[data-row="${CSS.escape(key)}"]`);
const rowKeys = (within) => [...within.querySelectorAll("[data-row]")].map((row) => row.dataset.row).join("\n");

const mark = (row) => {
  row.classList.add("changed");
  setTimeout(() => row.classList.remove("changed"), 2000);
};

// Rows that somebody is about to use wait, and so does a new order of rows.
const held = new Set(); // keys
let unordered = false;

const isFree = (list) =>
  unordered && !isHeld(list) || [...held].some((key) => rowOf(list, key) && !isHeld(rowOf(list, key)));

const updateList = async (list) => {
  const fresh = await fetchRegion(location.href, list.dataset.region);
  const now = regionOf(list.dataset.region);
  if (!fresh || !now) return;
  unordered = rowKeys(now) !== rowKeys(fresh);
  if (unordered && !isHeld(now)) {
    swap(now, fresh);
    for (const key of held) if (rowOf(fresh, key)) mark(rowOf(fresh, key));
    held.clear();
    unordered = false;
    return;
  }
  for (const key of held) {
    const [row, better] = [rowOf(now, key), rowOf(fresh, key)];
    if (row && isHeld(row)) continue;
    held.delete(key);
    if (!row || !better) continue;
    swap(row, better);
    mark(better);
  }
};

// Details without a draft are replaced; with one, somebody is told.
const hasDraft = () => document.querySelector("form[data-draft][data-dirty], form[data-draft] :focus, form[data-sent], dialog[open]") !== null;

const updateDetails = async (change) => {
  const name = change.actor?.name || (change.actor?.id === "anonymous" ? "Anonymous" : "Somebody");
  if (hasDraft()) return announceChange(change, name);
  const page = await load(location.href);
  const fresh = page?.querySelector("#main > .page");
  if (!fresh) return announceChange(change, name);
  if (hasDraft()) return announceChange(change, name); // since
  swap(document.querySelector("#main > .page"), fresh);
  showRevision();
  say(`${name} changed this just now`);
};

const linkHere = (textContent) => make("a", { href: location.pathname + location.search, textContent });

const announceChange = ({ kind, action, revision }, name) => {
  document.querySelector("[data-changed]")?.remove();
  const deleted = action === "delete";
  const text = make("span", {}, `${name} ${deleted ? "deleted" : "changed"} this ${kind} just now. `,
    make("a", { href: `${base}/namespaces/${namespace}/changes/${revision}`, target: "_blank", textContent: "See it" }));
  // It lies over the page: nothing moves away from under a pointer.
  const note = make("div", { className: "note warn arrived" }, text);
  note.dataset.changed = "yes";
  note.setAttribute("role", "status");
  const form = document.querySelector("form[data-draft]");
  if (!form) return document.querySelector("#main > .page").prepend(note);
  form.before(note);
  if (deleted) return;
  const merge = make("button", { className: "btn tiny", name: "do", value: "merge", textContent: "Merge now" });
  merge.setAttribute("form", form.id);
  text.append(" ", merge);
};

const announceNewer = (newer, count) => {
  newer.dataset.newer = Number(newer.dataset.newer || 0) + count;
  newer.hidden = false;
  const link = linkHere(`${newer.dataset.newer} newer ${newer.dataset.newer === "1" ? "change" : "changes"}`);
  link.className = "fresh-bar";
  newer.replaceChildren(link);
};

let waiting = []; // changes that are not shown yet
let timer;
const later = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(apply, wait);
};
const apply = async () => {
  const changes = waiting;
  waiting = [];
  showRevision();
  const newer = document.querySelector("[data-newer]");
  if (newer) return announceNewer(newer, changes.length);
  const list = document.querySelector("[data-region][data-live]");
  if (list) {
    for (const change of changes) held.add(change.key);
    if (changes.length > 0 || isFree(list)) await updateList(list);
    if (held.size > 0 || unordered) later(1000);
    return;
  }
  const mine = changes.findLast((c) => `${c.kind}/${c.key}` === object);
  if (mine) await updateDetails(mine);
};

let source;
let position = document.body.dataset.revision; // in the stream
const openStream = () => {
  if (source || document.visibilityState !== "visible") return;
  source = new EventSource(`${stream}?from=${position}`);
  source.addEventListener("change", (event) => {
    const change = JSON.parse(event.data);
    position = event.lastEventId || position;
    seen = Math.max(seen, Number(change.revision));
    waiting.push(change);
    later(150);
  });
};
const closeStream = () => { source?.close(); source = undefined; };

// Without a stream, a page that was in the background asks whether it is still current.
const askRevision = async () => {
  if (document.visibilityState !== "visible") return;
  const response = await fetch(location.href, { method: "HEAD" }).catch(() => null);
  const revision = Number(response?.headers.get("Guidon-Revision"));
  const shown = document.querySelector(".rev");
  if (!response?.ok || !shown || !(revision > seen)) return;
  seen = revision;
  shown.replaceChildren(`Now at revision ${revision} · `, linkHere("Reload"));
};

if (stream) {
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" ? openStream() : closeStream());
  addEventListener("pagehide", closeStream);
  addEventListener("pageshow", openStream);
  openStream();
} else if (namespace) {
  document.addEventListener("visibilitychange", askRevision);
}
