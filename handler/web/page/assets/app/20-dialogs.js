
// A link to a page with a question opens it as a dialog over this one.

const dialogOf = (page) => {
  const content = page?.querySelector("#main .page");
  if (!content?.querySelector("form")) return null;
  for (const rest of content.querySelectorAll(":scope > .crumbs, :scope > .note, :scope > [role=status]")) rest.remove();
  const dialog = make("dialog", { className: "asks" });
  const heading = content.querySelector("h1");
  if (heading) {
    const title = make("h2", { id: "dialog-title" }, ...heading.childNodes);
    heading.replaceWith(title);
    dialog.setAttribute("aria-labelledby", title.id);
  }
  dialog.append(...content.childNodes);
  return dialog;
};

let opening = false;
const showDialog = async (link) => {
  if (opening) return;
  opening = true;
  const dialog = dialogOf(await load(link.href));
  opening = false;
  if (!dialog) return location.assign(link.href);
  closeMenus();
  const opener = link.closest("details.menu")?.querySelector("summary") ?? link;
  dialog.addEventListener("close", () => { dialog.remove(); opener.focus(); });
  document.body.append(dialog);
  for (const input of dialog.querySelectorAll("[data-confirm]")) confirmed(input);
  dialog.showModal();
};
on("click", "a[data-dialog]", (link, event) => {
  if (!isPlain(event)) return;
  event.preventDefault();
  showDialog(link);
});
on("click", "dialog a[data-cancel]", (link, event) => {
  if (!isPlain(event)) return;
  event.preventDefault();
  link.closest("dialog").close();
});

// A button that needs a word typed wakes up when it is there, letter for letter.
const confirmed = (input) => {
  for (const button of input.form.querySelectorAll("[data-confirmed]")) button.disabled = input.value !== input.dataset.confirm;
};
on("input", "[data-confirm]", confirmed);
for (const input of document.querySelectorAll("[data-confirm]")) confirmed(input);
