
// Escape asks whether to discard what is not saved, unless it closes something.

// unsaved returns how many changes are not saved, as a text, or undefined if that is not known.
const unsaved = async (form) => {
  clearTimeout(typing);
  if (!form.dataset.effect) return undefined; // only the server can count
  await look(form);
  return document.querySelector("[data-unsaved]")?.dataset.unsaved ?? "0";
};

const askDiscard = async (form) => {
  const count = await unsaved(form);
  if (count === "0" || !form.isConnected || document.querySelector("dialog[open]")) return;
  const what = count === "1" ? "change" : "changes";
  const dialog = make("dialog", { className: "asks" });
  const [keepOn, discard] = [["btn", "Keep editing"], ["btn danger fill", `Discard ${what}`]].map(([className, text]) =>
    make("button", { type: "button", className, onclick: () => dialog.close() }, text));
  discard.addEventListener("click", () => form.querySelector("a[data-discard]").click());
  keepOn.autofocus = true;
  dialog.append(make("div", { className: "form" },
    make("h2", { id: "dialog-title" }, count ? `Discard ${count} unsaved ${what}?` : "Discard what you entered?"),
    make("p", { className: "muted" }, "You cannot undo this."),
    make("div", { className: "buttons" }, keepOn, discard)));
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
};

document.addEventListener("keydown", (event) => {
  const form = draftForm();
  if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]") || form?.dataset.dirty === undefined) return;
  event.preventDefault(); // it would close the question
  askDiscard(form);
});
