// Parts of pages, fetched instead of whole ones. A document that XMLHttpRequest parses runs
// no scripts, and its nodes are the only way in which markup enters the page.

/**
 * load fetches a page, or a region of it, and returns the document, or null if it failed.
 * form, if given, is sent by POST.
 */
export const load = (url, { region, form, signal } = {}) =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(form ? "POST" : "GET", url);
    request.responseType = "document";
    if (region) request.setRequestHeader("Guidon-Fragment", region);
    request.onload = () => {
      const page = request.response;
      const kept = request.status === 200 || (form && (request.status === 422 || request.status === 409));
      if (page && kept) page.guidonRevision = request.getResponseHeader("Guidon-Revision");
      resolve(kept ? page : null);
    };
    request.onerror = request.onabort = () => resolve(null);
    signal?.addEventListener("abort", () => request.abort());
    if (form) request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.send(form ? form.toString() : null);
  });

const pending = new Map();

/**
 * replace fetches a region of a page and puts it in the place of the same one here. Of
 * several requests for a region only the latest counts. It returns the new element, null if
 * another request came later, or undefined if it failed.
 */
export const replace = async (url, region, form) => {
  pending.get(region)?.abort();
  const controller = new AbortController();
  pending.set(region, controller);
  const slow = setTimeout(() => find(region)?.setAttribute("aria-busy", "true"), 400);
  const page = await load(url, { region, form, signal: controller.signal });
  clearTimeout(slow);
  if (controller.signal.aborted) return null;
  pending.delete(region);
  const fresh = page && find(region, page);
  const old = find(region);
  old?.removeAttribute("aria-busy");
  if (!fresh || !old) return undefined;
  const focus = path(document.activeElement, old);
  old.replaceWith(document.adoptNode(fresh));
  if (page.guidonRevision) {
    document.body.dataset.revision = page.guidonRevision;
    for (const text of document.querySelectorAll("[data-revision-text]")) text.textContent = page.guidonRevision;
  }
  restore(focus, fresh);
  return fresh;
};

const find = (region, within = document) => within.querySelector(`[data-region="${CSS.escape(region)}"]`);

// path remembers which element of a region has the focus.
const path = (element, region) => {
  if (!element || !region.contains(element)) return null;
  return { id: element.id, name: element.name, value: element.tagName === "BUTTON" ? element.value : null, start: element.selectionStart ?? null };
};

const restore = (focus, region) => {
  if (!focus) return;
  const marked = region.querySelector("[autofocus]");
  let element = marked ?? (focus.id ? region.querySelector("#" + CSS.escape(focus.id)) : null);
  if (!element && focus.name) {
    element = [...region.querySelectorAll(`[name="${CSS.escape(focus.name)}"]`)].find((e) => focus.value === null || e.value === focus.value);
  }
  element ??= region.querySelector("button, a, input");
  element?.focus();
  if (!marked && focus.start !== null && element?.setSelectionRange && element.type !== "number") {
    try { element.setSelectionRange(focus.start, focus.start); } catch { /* this type has no selection */ }
  }
};
