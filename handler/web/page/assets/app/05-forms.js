
// What happens to a form between the press of its button and the response. Here are the only
// listener for submit events and the only place that submits a form. Its steps, in order:
//
//  1. A form that is already being sent is not sent again.
//  2. Handlers registered with onSubmit get the form. One may answer it in the page.
//  3. If the page has an account, the visitor must still have a session.
//  4. The browser sends the form. If it has not begun after a second, the page says so. It also
//     does if steps 2 and 3 did not reach the server: the browser would replace the page by an error.

const handlers = [];

/**
 * onSubmit calls fn with every form that matches the selector, and with its button, before the
 * form is sent. If fn answers the form in the page, it returns a promise. If that fails or
 * becomes false, the browser sends the form.
 */
export const onSubmit = (selector, fn) => handlers.push({ selector, fn });

const attempts = new WeakMap(); // the latest attempt to send a form
let leaving; // the form that the browser is about to send
let late; // the timer of a form that the browser has not begun to send
let unsent; // the note about it

addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  const isElsewhere = form.method === "dialog" || (button?.formTarget || form.target) === "_blank";
  if (isElsewhere || form === leaving) return;
  if (form.dataset.sent || isAnswered(form, button) || !maySend(form, button)) event.preventDefault();
}, true); // before any other listener

const isAnswered = (form, button) => {
  for (const { selector, fn } of handlers) {
    const answer = form.matches(selector) && fn(form, button);
    if (!answer) continue;
    answer.catch((error) => { reportError(error); return false; }).then((done) => {
      if (done !== false) return;
      if (!reached) sayUnsent(form, button);
      else if (maySend(form, button)) submit(form, button);
    });
    return true;
  }
  return false;
};

// maySend reports whether the browser may send the form now. Otherwise it is sent once the
// visitor is known to have a session.
const maySend = (form, button) => {
  const attempt = begin(form, button);
  if (!needsSession(form)) {
    leaving = form;
    return true;
  }
  ensureSession().then((session) => {
    if (attempts.get(form) !== attempt) return; // it was sent without waiting
    if (session) return reached ? submit(form, button) : sayUnsent(form, button);
    delete form.dataset.sent;
    settle();
  });
  return false;
};

const needsSession = (form) =>
  document.body.dataset.account && form.method === "post" && !form.getAttribute("action").startsWith(`${base}/sign-in`);

// begin begins an attempt to send the form. It can be sent again if the page is still here
// after a while, as it is after a download.
const begin = (form, button) => {
  const attempt = {};
  attempts.set(form, attempt);
  if (form.method === "post") form.dataset.sent = "yes";
  setTimeout(() => { if (attempts.get(form) === attempt) delete form.dataset.sent; }, 10000);
  settle();
  late = setTimeout(sayUnsent, 1000, form, button);
  return attempt;
};

// submit makes the browser send the form. It does so in a task of its own, because a browser
// ignores what is submitted while it dispatches a submit event.
const submit = (form, button) => setTimeout(() => {
  if (reached) {
    begin(form, button);
    leaving = form;
  } else settle(); // all steps are taken again
  form.requestSubmit(button?.form === form ? button : null);
});

// settle ends the wait for the browser to begin.
const settle = () => {
  clearTimeout(late);
  unsent?.remove();
  leaving = undefined;
};

// A browser that begins to send a form collects its data first.
addEventListener("formdata", ({ target }) => { if (target === leaving) settle(); }, true);

const sayUnsent = (form, button) => {
  settle();
  if (document.querySelector("dialog.session[open]")) return; // the visitor is asked to sign in
  delete form.dataset.sent;
  const again = make("button", { type: "button", className: "btn tiny", textContent: "Send it now" });
  again.addEventListener("click", () => submit(form, button));
  unsent = make("div", { className: "note warn arrived" }, make("span", {}, "This has not been sent yet. ", again));
  unsent.dataset.unsent = "yes";
  unsent.setAttribute("role", "alert");
  (form.closest("dialog") ?? document.querySelector("#main > .page") ?? document.body).prepend(unsent);
};

addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return; // otherwise the page is not back, but new
  settle();
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
