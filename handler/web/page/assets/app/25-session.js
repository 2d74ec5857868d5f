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
const awaitEnd = (ends) => {
  const wait = ends * 1000 - 10 * 60 * 1000 - Date.now();
  setTimeout(async () => wait < 2 ** 31 ? (await import("./session.js")).warn() : awaitEnd(ends), Math.min(Math.max(wait, 0), 2 ** 31 - 1));
};
if (document.body.dataset.sessionEnds) awaitEnd(Number(document.body.dataset.sessionEnds));
