// Signing in again over a page whose session has ended, or ends soon.

import { beside, load, make, onSubmit, say } from "./app.js";

// adopt makes the ways to sign in, which come from a page of their own, a part of this one.
const adopt = (ways) => {
  for (const element of ways.querySelectorAll("[id], [for], [aria-describedby]")) {
    for (const name of ["id", "for", "aria-describedby"]) {
      const ids = element.getAttribute(name);
      if (ids) element.setAttribute(name, ids.replace(/\S+/g, "session-$&"));
    }
  }
  for (const link of ways.querySelectorAll("a")) Object.assign(link, { target: "_blank", rel: "noopener" });
  return document.adoptNode(ways);
};

let asking;
let signIn; // sends the form for a token
let signingIn = false;

onSubmit("dialog.session form", async (form) => {
  if (signingIn) return;
  signingIn = true;
  await signIn(form);
  signingIn = false;
});

/**
 * renew asks the visitor to sign in, with the element that has the ways to do it. It returns
 * whether there is a session then.
 */
export const renew = (ways) => {
  asking ??= ask(ways).finally(() => { asking = undefined; });
  return asking;
};

const ask = (first) => new Promise((resolve) => {
  const title = make("h2", { id: "session-title", textContent: "Your session has ended" });
  const text = make("p", { className: "muted", textContent: "What you entered is still on this page. Sign in, and it is sent." });
  const later = make("button", { type: "button", className: "btn quiet", textContent: "Not now" });
  let ways = adopt(first);
  const dialog = make("dialog", { className: "asks session" }, title, text, ways, later);
  dialog.setAttribute("aria-labelledby", title.id);
  document.body.append(dialog);

  const isSignedIn = (page) => page?.querySelector("[data-signed-in]") != null;
  const end = () => dialog.close("signed in");
  const show = (fresh) => {
    ways.replaceWith(adopt(fresh));
    ways = fresh;
    dialog.querySelector("[autofocus], input:not([type=hidden], [hidden]), a")?.focus();
  };
  const complain = (problem) => {
    dialog.querySelector("[data-problem]")?.remove();
    const note = make("p", { className: "error", textContent: problem });
    note.dataset.problem = "yes";
    note.setAttribute("role", "alert");
    ways.before(note);
  };

  signIn = async (form) => {
    const page = await load(form.action, { form: new URLSearchParams(new FormData(form)), any: true });
    if (isSignedIn(page)) return end();
    const again = page?.querySelector("[data-ways]");
    if (again) return show(again);
    complain(page?.querySelector("main p")?.textContent ?? "The server does not answer. Try again in a moment.");
  };

  // A provider is asked in another tab. Whoever comes back from there may be signed in.
  const look = async () => {
    if (document.visibilityState !== "visible" || !dialog.open) return;
    if (isSignedIn(await load(beside)) && dialog.open) end();
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("focus", look);

  later.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    document.removeEventListener("visibilitychange", look);
    removeEventListener("focus", look);
    dialog.remove();
    const signedIn = dialog.returnValue === "signed in";
    say(signedIn ? "You are signed in" : "Nothing was sent");
    resolve(signedIn);
  });
  dialog.showModal();
  dialog.querySelector("input:not([type=hidden], [hidden])")?.focus();
});

/** warn says that the session ends soon. */
export const warn = () => {
  const link = make("a", { href: `${beside}&again=yes`, target: "_blank", textContent: "Sign in again" });
  const text = make("p", { className: "note warn" }, make("span", {}, "Your session ends in 10 minutes. ", link, " in another tab, and go on here."));
  const note = make("div", {});
  note.dataset.ending = "yes";
  note.setAttribute("role", "status");
  document.querySelector(".crumbs")?.after(note);
  setTimeout(() => note.append(text)); // a status is read when it changes
};
