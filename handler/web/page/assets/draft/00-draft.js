// Forms with a draft in them: what their buttons do on a new page they do in place.
// form[data-draft] names the region that the form is in, and data-effect the one that says
// what follows from the draft. Regions within that of the form follow what is typed.

import { fetchAnswer, fieldsOf, isTyping, load, make, on, onSubmit, regionOf, saved, say, swap } from "./app.js";

const leaving = new Set(["save", "create", "another", "review"]); // these go to another page

const draftForm = () => document.querySelector("form[data-draft]");
const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });

// update sends the draft and shows what became of it. It returns the new region, null if
// another request came later, or undefined if it failed.
const update = async (form, data) => {
  const region = form.dataset.draft;
  const fresh = await fetchAnswer(form, region, data);
  if (!fresh) return fresh;
  swap(regionOf(region), fresh);
  const now = draftForm();
  if (now && !now.dataset.effect) now.dataset.dirty = "yes"; // otherwise the server has compared it
  keep(now);
  if (now) remember(now, data.get("do") ?? "");
  return fresh;
};

const verbOf = (button) => (button?.name === "do" ? button.value : "").split(":");

onSubmit("form[data-draft]", (form, button) => {
  const [verb] = verbOf(button);
  const elsewhere = button?.hasAttribute("formaction") && button.formAction !== form.action;
  return leaving.has(verb) || elsewhere ? sent(form) : act(form, button);
});

// act does in place what the button does, or returns false: the whole page says why not.
const act = async (form, button) => {
  const before = new Set(fieldsIn(regionOf(form.dataset.draft)).map((f) => f.name));
  const fresh = await update(form, fieldsOf(form, button));
  if (fresh) finish(fresh, button, before);
  return fresh !== undefined;
};

// A choice that changes what can be entered after it is sent at once; but one that somebody types
// only after a second, in which browsers take what is typed for the next letter of its name. A
// space that is typed first opens the list.
let spelled; // the list in which somebody types
let choosing; // the timer
const wait = (field) => {
  clearTimeout(choosing);
  choosing = setTimeout(choose, 1000, field);
};
on("keydown", "select[data-submit]", (field, { key }) => {
  spelled = key.length === 1 && (key !== " " || spelled) ? field : undefined;
  if (choosing && spelled) wait(field);
});
on("pointerdown", "select[data-submit]", () => { spelled = undefined; });
on("focusout", "select[data-submit]", (field) => { if (choosing) choose(field); });
on("change", "form[data-draft] [data-submit]", (field) => field === spelled ? wait(field) : choose(field));
const choose = (field) => {
  clearTimeout(choosing);
  choosing = spelled = undefined;
  if (!field.isConnected) return;
  const look = document.createElement("button");
  Object.assign(look, { name: "do", value: "look", hidden: true });
  field.form.append(look); // it goes with the form when that is replaced
  look.click();
};

// The focus goes to what is wrong, to the fields that have appeared, to the same button, or
// to what is nearest to a button that is gone.
const fieldsIn = (region) => [...region.querySelectorAll("input:not([type=hidden]), select, textarea")].filter((f) => f.name && isVisible(f));

const finish = (fresh, button, before) => {
  const [verb, ...rest] = verbOf(button);
  const index = Number(rest[0]);
  const group = rest.find((part) => part.startsWith("rule.")); // of the constraint
  const focus = (selector) => {
    const element = [...fresh.querySelectorAll(selector)].find(isVisible);
    element?.focus();
    return element !== undefined;
  };
  const press = (verb) => pressed(group ? `${verb}:${group}` : verb);
  const pressed = (value) => focus(`button[name="do"][value="${CSS.escape(value)}"]`);
  const appeared = fieldsIn(fresh).find((f) => !before.has(f.name) && f.type !== "radio" && f.type !== "checkbox");
  const to = { up: index - 1, down: index + 1 }[verb];
  if (focus("[autofocus]")) return;
  const { activeElement } = document;
  if (activeElement.matches("input, select, textarea") && fresh.contains(activeElement)) return; // Enter was pressed, or somebody types on
  if (to !== undefined) {
    if (!press(`${verb}:${to}`)) press(`up:${to}`) || press(`down:${to}`) || press(`edit:${to}`);
    return say(placeOf(fresh.querySelector("[data-order]"), to));
  }
  if (appeared) {
    appeared.focus();
    return appeared.select?.(); // what is typed replaces a value that the server suggests
  }
  if (verb === "remove") say("Removed");
  if (fresh.contains(document.activeElement)) return;
  const add = () => focus(`[data-adds="${group ? group.split(".")[1] : index}"]`); // to the rule
  if (!group && add()) return;
  press(`edit:${index}`) || press(`edit:${index - 1}`) || (rest[0] && press(`${verb}:${rest[0]}`))
    || press(`${verb}:edit`) || (rest[0] && press(`need:${rest[0]}`)) || add() || focus("h2 ~ * button, button, a");
};

// What follows from the draft follows what is typed.
let typing;
let looking;
document.addEventListener("input", ({ target: { form } }) => { // a field may be outside of its form
  if (!form?.matches("form[data-draft]")) return;
  form.dataset.dirty = "yes";
  keep(form);
  looking?.abort();
  clearTimeout(typing);
  if (form.dataset.effect) typing = setTimeout(() => look(form), 300);
});

const look = async (form) => {
  if (!form.isConnected) return;
  const data = fieldsOf(form);
  data.set("do", "look");
  looking = new AbortController();
  const { signal } = looking;
  const page = await load(form.action, { region: form.dataset.effect, form: data, signal });
  if (!page || signal.aborted || !form.isConnected) return;
  for (const fresh of page.querySelectorAll("[data-region]")) {
    const old = fresh.dataset.region === form.dataset.draft ? null : regionOf(fresh.dataset.region);
    if (old && !old.isEqualNode(fresh)) swap(old, fresh.cloneNode(true));
  }
};
