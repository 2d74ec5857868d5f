
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
