// The palette begins with the pages that somebody was at last. The browser keeps them, without
// what was asked there, until they sign out or somebody else signs in.

const recentKey = `recent ${base}`;
const mostRecent = 9; // 8 and the page itself
const { account = "", recent } = document.body.dataset;

/** recentPages returns the paths, titles and namespaces of the pages, the latest first. */
export const recentPages = () => {
  try {
    const kept = JSON.parse(localStorage.getItem(recentKey));
    if (kept.account !== account) return [];
    return kept.pages.filter((p) => p.path.startsWith(`${base}/`) && !p.path.startsWith("//") && typeof p.title === "string").slice(0, mostRecent);
  } catch { return []; } // there are none, or they are not what was kept
};

const keepRecent = () => {
  const path = location.pathname;
  const isQuestion = /\/(flags|segments|changes)\/[^/]+\/(turn-off|turn-on|copy|review|delete|undo)$/.test(path);
  const pages = recentPages().filter((p) => p.path !== path);
  if (recent && !isQuestion) pages.unshift({ path, title: recent.slice(0, 255), namespace });
  try { localStorage.setItem(recentKey, JSON.stringify({ account, pages: pages.slice(0, mostRecent) })); } catch { /* it may not be allowed */ }
};
keepRecent();

onSubmit(`form[action="${CSS.escape(base)}/sign-in/out"]`, () => {
  try { localStorage.removeItem(recentKey); } catch { /* nothing was kept */ }
});
