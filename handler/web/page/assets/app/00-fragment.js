// Pages work without modules. With them they do the same sooner: nothing here is needed to
// read or to save.

// Parts of pages are fetched instead of whole ones. A document that XMLHttpRequest parses
// runs no scripts, and its nodes are the only way in which markup enters a page.

// A button or link that is replaced while somebody presses it is not clicked. So what arrives
// meanwhile waits, but not for a release that is never reported.
let released = Promise.resolve();
let release = () => {};
const hold = ({ target, key }) => {
  if ((key && key !== " ") || !target.closest?.("button, a, summary, label")) return;
  release();
  released = new Promise((resolve) => { release = resolve; setTimeout(resolve, 5000); });
};
for (const type of ["pointerdown", "keydown"]) document.addEventListener(type, hold, true);
for (const type of ["pointerup", "pointercancel", "keyup"]) addEventListener(type, () => setTimeout(release), true); // after the click
addEventListener("blur", () => release());

let reached = true; // the server answered the last request

/**
 * load fetches a page, or a region of it, and returns the document, or null if it failed.
 * form, if given, is sent by POST. The answer to a form may be the form with its problems.
 * any is for a document whatever its status is.
 */
export const load = (url, { region, form, signal, any } = {}) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(form ? "POST" : "GET", url);
    request.responseType = "document";
    if (region) request.setRequestHeader("Guidon-Fragment", region);
    if (form) request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onload = async () => {
      reached = request.status < 500 || request.getResponseHeader("Content-Security-Policy") !== null; // a proxy's own answer has none
      await released;
      const usable = any || request.status === 200 || (form && request.status === 422);
      resolve(usable ? request.response : null);
    };
    request.onerror = () => { reached = false; resolve(null); };
    request.onabort = () => resolve(null);
    signal?.addEventListener("abort", () => request.abort());
    request.send(form ? form.toString() : null);
  });

/** regionOf returns the region with the name in the page or another document, or null. */
export const regionOf = (name, within = document) => within.querySelector(`[data-region="${CSS.escape(name)}"]`);

const pending = new Map();

/**
 * fetchRegion fetches a region of a page. Of several requests for a region only the latest
 * counts. It returns the new element, null if there is nothing to do because another request
 * came later or the visitor did not sign in, or undefined if it failed.
 */
export const fetchRegion = async (url, name, form) => {
  pending.get(name)?.abort();
  const controller = new AbortController();
  pending.set(name, controller);
  const slow = setTimeout(() => regionOf(name)?.setAttribute("aria-busy", "true"), 400);
  const ask = () => load(url, { region: name, form, signal: controller.signal });
  let page = await ask();
  if (!page && form && !controller.signal.aborted) {
    const session = await ensureSession();
    if (session === "renewed") page = await ask();
    if (!session) controller.abort();
  }
  clearTimeout(slow);
  if (controller.signal.aborted) return null;
  pending.delete(name);
  regionOf(name)?.removeAttribute("aria-busy");
  return (page && regionOf(name, page)) ?? undefined;
};

/** fieldsOf returns what is in a form, and its button. */
export const fieldsOf = (form, button) => new URLSearchParams(new FormData(form, button));

/**
 * fetchAnswer sends data, which is for a form, and returns the region of the answer, as
 * fetchRegion does. What somebody enters meanwhile is not in that, so then it is sent instead.
 */
export const fetchAnswer = async (form, name, data) => {
  const before = fieldsOf(form).toString();
  const fresh = await fetchRegion(form.action, name, data);
  const again = fieldsOf(form);
  if (!fresh || again.toString() === before) return fresh;
  again.set("do", data.get("do") ?? "");
  return fetchAnswer(form, name, again);
};

/** replace fetches a region and puts it in the place of the same one here; see fetchRegion. */
export const replace = async (url, name) => {
  const fresh = await fetchRegion(url, name);
  const old = regionOf(name);
  if (fresh && !old) return undefined;
  if (fresh) swap(old, fresh);
  return fresh;
};

/**
 * swap puts an element in the place of another one. The focus, and the place of the caret,
 * stay where they were if the new element has the same field or button.
 */
export const swap = (old, fresh) => {
  const focus = old.contains(document.activeElement) ? place(document.activeElement) : null;
  old.replaceWith(document.adoptNode(fresh));
  document.dispatchEvent(new CustomEvent("guidon:fresh", { detail: fresh }));
  if (focus) restore(focus, fresh);
};

const place = (element) => ({
  id: element.id, name: element.name, href: element.getAttribute("href"),
  value: element.matches("button, input[type=checkbox], input[type=radio]") ? element.value : null, start: element.selectionStart ?? null,
});

const restore = (focus, within) => {
  const same = [...within.querySelectorAll("input, select, textarea, button, a")].find((e) =>
    focus.id ? e.id === focus.id
      : focus.name ? e.name === focus.name && (focus.value === null || e.value === focus.value)
        : focus.href !== null && e.getAttribute("href") === focus.href);
  same?.focus();
  if (!same || focus.start === null) return;
  try { same.setSelectionRange(focus.start, focus.start); } catch { /* this type of field has no selection */ }
};
