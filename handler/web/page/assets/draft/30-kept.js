
// What was entered is kept by the browser's tab until it is saved, by object and revision.
const pathOf = (form) => `draft ${new URL(form.action).pathname} `;
const keyOf = (form) => pathOf(form) + (form.elements.namedItem("revision")?.value ?? "");
const sentKey = "draft sent";

// storage does something with what is kept. It may be full, or not allowed.
const storage = (act) => {
  try { return act(sessionStorage); } catch { return null; }
};
function keep(form) {
  if (!form) return;
  for (let old; (old = findKept(form));) forget(old); // at other revisions
  storage((kept) => kept.setItem(keyOf(form), fieldsOf(form).toString()));
}
function sent(form) {
  clearTimeout(typing);
  looking?.abort();
  keep(form);
  storage((kept) => kept.setItem(sentKey, keyOf(form)));
}
const forget = (key) => storage((kept) => kept.removeItem(key));

// findKept returns the key of a draft of the form's object, at whichever revision.
const findKept = (form) => storage((kept) => Object.keys(kept).find((key) => key.startsWith(pathOf(form)))) ?? null;

const offer = (form, key) => {
  const text = storage((kept) => kept.getItem(key)); // also when something else is kept since
  const note = make("div", { className: "note warn gap-b" });
  const [again, away] = ["Go on editing", "Discard them"].map((label) => make("button", { type: "button", className: "btn tiny" }, label));
  note.append(make("span", {}, "You have changes here that are not saved. ", again, " ", away));
  form.before(note);
  again.addEventListener("click", async () => {
    const data = new URLSearchParams(text);
    data.set("do", "look");
    const fresh = await update(form, data);
    if (!fresh) return;
    note.remove();
    (fresh.querySelector(".savebar button") ?? fieldsIn(fresh)[0])?.focus();
  });
  away.addEventListener("click", () => {
    forget(key);
    note.remove();
  });
};

const begun = draftForm();
const sentAs = storage((kept) => kept.getItem(sentKey));
if (sentAs && (saved || (begun && begun.dataset.dirty !== undefined && keyOf(begun) !== sentAs))) forget(sentAs); // it is stored, or goes on over another revision
forget(sentKey);
on("click", "form[data-draft] a[data-discard]", (link) => forget(keyOf(link.closest("form"))));

if (begun && (begun.dataset.dirty !== undefined || document.querySelector("[role=alert][autofocus]"))) {
  begun.dataset.dirty = "yes";
  keep(begun); // it came back with a problem
} else if (begun) {
  begun.reset(); // browsers fill in what was entered before a page is loaded again
  const key = findKept(begun);
  if (key && storage((kept) => kept.getItem(key)) === fieldsOf(begun).toString()) forget(key);
  else if (key) offer(begun, key);
}
