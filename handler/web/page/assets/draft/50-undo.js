
// The steps of a draft can be undone: those of buttons, and what was entered in a field. What
// only opens or closes a part of the page is no step.
const views = new Set(["edit", "done", "name", "look", "check", "enter"]);
const mostStates = 50;
const mostText = 1 << 23; // characters; attachments have up to a million
let states = []; // of the form, as it is sent
let now = -1; // the index of the state that is shown
let travelling = Promise.resolve(); // one step after the other

const stateOf = (form) => fieldsOf(form).toString();
const begin = (form) => {
  states = form ? [stateOf(form)] : [];
  now = states.length - 1;
};

/** remember makes what is in the form a step, or the same step if it only looks different. */
function remember(form, action = "") {
  const state = stateOf(form);
  if (state === states[now]) return;
  if (now >= 0 && (views.has(action.split(":")[0]) || /^else:/.test(action))) return states[now] = state;
  states = [...states.slice(0, now + 1), state];
  while (states.length > 1 && (states.length > mostStates || states.reduce((sum, s) => sum + s.length, 0) > mostText)) states.shift();
  now = states.length - 1;
}

document.addEventListener("change", ({ target: { form } }) => { if (form?.matches("form[data-draft]")) remember(form); });
document.addEventListener("guidon:fresh", ({ detail }) => { if (detail.matches(".page")) begin(draftForm()); });

// travel shows the state before, or the one after.
const travel = async (step) => {
  remember(draftForm());
  const [from, shown] = [now, states[now]];
  while (states[now + step] !== undefined) {
    now += step;
    const data = new URLSearchParams(states[now]);
    data.set("do", "look");
    const fresh = await update(draftForm(), data);
    if (!fresh) {
      now = from;
      return fresh === undefined && say("This did not work. Try again");
    }
    if (states[now] === shown) continue; // what was typed has become part of the draft
    const form = draftForm();
    if (now === 0 && !form.dataset.effect) delete form.dataset.dirty;
    if (!fresh.contains(document.activeElement)) fresh.querySelector("h2 ~ * button, button:not(.vh)")?.focus();
    return say(step < 0 ? "Undone" : "Done again");
  }
  say(step < 0 ? "There is nothing to undo" : "There is nothing to do again");
};

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "z" || !(event.metaKey || event.ctrlKey) || event.altKey) return;
  if (!draftForm() || isTyping(event.target) || document.querySelector("dialog[open]")) return; // a field has an undo of its own
  event.preventDefault();
  const step = event.shiftKey ? 1 : -1;
  travelling = travelling.then(() => travel(step));
});
begin(begun);
