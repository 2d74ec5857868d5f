// A session may end while somebody fills in a form. What was entered stays on the page.

/** beside is the address of the sign-in page for somebody who keeps this page open. */
export const beside = `${base}/sign-in?return_to=%2Fsign-in%3Fback%3Dyes`;

/**
 * ensureSession returns "there" if the visitor has a session, or needs none. Otherwise it asks
 * the visitor to sign in, and returns "renewed", or null if that was not wanted. If it cannot
 * be found out, sending the form shows why.
 */
export const ensureSession = async () => {
  if (!document.body.dataset.account) return "there";
  const ways = (await load(beside))?.querySelector("[data-ways]");
  if (!ways) return "there";
  const { renew } = await import("./session.js");
  return (await renew(ways)) ? "renewed" : null;
};

// A page that stays open says when its session ends soon, as one does that is opened then.
const ending = () => {
  const note = document.createElement("div");
  note.dataset.ending = "yes";
  note.setAttribute("role", "status");
  const text = document.createElement("p");
  text.className = "note warn";
  const link = document.createElement("a");
  Object.assign(link, { href: `${beside}&again=yes`, target: "_blank", textContent: "Sign in again" });
  text.append("Your session ends in 10 minutes. ", link, " in another tab, and go on here.");
  document.querySelector(".crumbs")?.after(note);
  setTimeout(() => note.append(text)); // a status is read when it changes
};
const awaitEnd = (ends) => {
  const wait = ends * 1000 - 10 * 60 * 1000 - Date.now();
  setTimeout(() => wait < 2 ** 31 ? ending() : awaitEnd(ends), Math.min(Math.max(wait, 0), 2 ** 31 - 1));
};
if (document.body.dataset.sessionEnds) awaitEnd(Number(document.body.dataset.sessionEnds));
