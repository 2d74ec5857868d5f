
// A form is sent once, however often its button is pressed. It can be sent again if the
// browser is still here after a while, as it is after a download. Before that the visitor must
// have a session: a form that was checked for that is sent by the browser.
on("submit", "form[method=post]", async (form, event) => {
  if (event.defaultPrevented || (event.submitter?.formTarget || form.target) === "_blank") return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 10000);
  if (form.dataset.checked || form.getAttribute("action").startsWith(`${base}/sign-in`)) return;
  event.preventDefault();
  const session = await ensureSession();
  delete form.dataset.sent;
  if (!session) return;
  form.dataset.checked = "yes";
  form.requestSubmit(event.submitter?.isConnected ? event.submitter : null);
  delete form.dataset.checked;
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// Toasts leave after ten seconds, unless somebody reads them.
for (const toast of document.querySelectorAll(".toasts .toast")) {
  let timer;
  const stop = () => clearTimeout(timer);
  const start = () => {
    stop();
    if (!toast.matches(":hover, :focus-within")) timer = setTimeout(() => toast.remove(), 10000);
  };
  for (const type of ["pointerenter", "focusin"]) toast.addEventListener(type, stop);
  for (const type of ["pointerleave", "focusout"]) toast.addEventListener(type, () => setTimeout(start));
  start();
}

// The address of a page that was just saved is that of the page.
const address = new URL(location.href);
/** saved is whether the page is the answer to a form that was saved. */
export const saved = address.searchParams.has("saved");
if (saved) {
  address.searchParams.delete("saved");
  history.replaceState(history.state, "", address);
}
