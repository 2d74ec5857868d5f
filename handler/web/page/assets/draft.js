// Forms with a draft in them: what the buttons would do on a new page they do in place, and
// what was entered survives until it is saved.

import { on, say } from "./app.js";
import { replace } from "./fragment.js";

const leaving = new Set(["save", "review"]); // these go to another page

const fields = (form, button) => {
  const data = new URLSearchParams(new FormData(form, button));
  return data;
};

const keyOf = (form) => `draft ${new URL(form.action).pathname} ${form.elements.namedItem("revision")?.value ?? ""}`;

const keep = (form) => {
  try { sessionStorage.setItem(keyOf(form), fields(form).toString()); } catch { /* it is full or not allowed */ }
};

const update = async (form, data) => {
  const region = form.dataset.draft;
  const fresh = await replace(form.action, region, data);
  if (!fresh) return fresh;
  prepare(fresh);
  const now = fresh.matches("form") ? fresh : fresh.querySelector("form[data-draft]") ?? document.querySelector(`form[data-draft="${region}"]`);
  if (now) keep(now);
  return fresh;
};

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!form.matches?.("form[data-draft]")) return;
  const verb = (button?.name === "do" ? button.value : "save").split(":")[0];
  if (leaving.has(verb) || button?.formAction && new URL(button.formAction).pathname !== new URL(form.action).pathname) {
    if (verb === "save") sessionStorage.removeItem(keyOf(form));
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  const data = fields(form, button);
  if (await update(form, data) === undefined) {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name: "do", value: button?.value ?? "" });
    form.append(input);
    form.submit();
  }
}, true);

// The effect on people follows what is typed.
let timer;
on("input", "form[data-draft]", (form, event) => {
  const range = event.target.closest('input[type="range"][data-pair]');
  if (range) pairWith(range);
  else if (event.target.id) fromNumber(event.target);
  keep(form);
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if (!form.isConnected || !form.dataset.effect) return;
    const data = fields(form);
    data.set("do", "look");
    await replace(form.action, form.dataset.effect, data);
  }, 300);
});

// A slider and its number are two views of one value; the number is sent.
const fill = (range) => range.style.setProperty("--p", `${range.value}%`);
const pairWith = (range) => {
  fill(range);
  const input = document.getElementById(range.dataset.pair);
  if (input) input.value = range.value;
};
const fromNumber = (input) => {
  const range = document.querySelector(`input[type="range"][data-pair="${CSS.escape(input.id)}"]`);
  if (range && input.value !== "" && Number.isFinite(Number(input.value))) {
    range.value = input.value;
    fill(range);
  }
};
on("keydown", 'input[type="range"][data-pair]', (range, event) => {
  const step = event.shiftKey && { ArrowRight: 10, ArrowUp: 10, ArrowLeft: -10, ArrowDown: -10 }[event.key];
  if (!step) return;
  event.preventDefault();
  range.value = Number(range.value) + step;
  range.dispatchEvent(new Event("input", { bubbles: true }));
});

const prepare = (within) => {
  for (const range of within.querySelectorAll('input[type="range"]')) fill(range);
};
prepare(document);

// Steps are reordered by the arrow keys on the grip, or by dragging it.
const steps = (ladder) => [...ladder.querySelectorAll(":scope > .step:not(.else)")];
const reorder = async (grip, from, to) => {
  const ladder = grip.closest("[data-ladder]");
  const count = steps(ladder).length;
  if (to < 0 || to >= count) return say("It cannot go further");
  const form = ladder.closest("form");
  const data = fields(form);
  data.set("do", `move:${from}:${to}`);
  const fresh = await update(form, data);
  if (!fresh) return;
  const now = document.querySelector("[data-ladder]");
  steps(now)[to]?.querySelector(".grip")?.focus();
  say(`Step ${to + 1} of ${count}`);
};
const place = (grip) => steps(grip.closest("[data-ladder]")).indexOf(grip.closest(".step"));
on("keydown", "[data-ladder] .grip", (grip, event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  reorder(grip, place(grip), place(grip) + step);
});
on("pointerdown", "[data-ladder] .grip", (grip, event) => {
  if (event.button !== 0) return;
  const step = grip.closest(".step");
  const ladder = grip.closest("[data-ladder]");
  const from = place(grip);
  let to = from;
  grip.setPointerCapture(event.pointerId);
  step.classList.add("dragged");
  const over = (e) => {
    const all = steps(ladder);
    const under = all.findIndex((s) => { const box = s.getBoundingClientRect(); return e.clientY < box.bottom; });
    to = under < 0 ? all.length - 1 : under;
    for (const [i, s] of all.entries()) s.classList.toggle("target", i === to && to !== from);
  };
  grip.addEventListener("pointermove", over);
  grip.addEventListener("lostpointercapture", () => {
    grip.removeEventListener("pointermove", over);
    step.classList.remove("dragged");
    for (const s of steps(ladder)) s.classList.remove("target");
    if (to !== from) reorder(grip, from, to);
  }, { once: true });
});

// A draft that was not saved, of this object at this revision, is offered again.
const form = document.querySelector("form[data-draft]");
if (form && !form.dataset.dirty) {
  const kept = sessionStorage.getItem(keyOf(form));
  if (kept && kept !== fields(form).toString()) {
    const note = document.createElement("p");
    note.className = "note warn";
    const text = document.createElement("span");
    const again = document.createElement("button");
    const forget = document.createElement("button");
    for (const [button, label] of [[again, "Go on editing"], [forget, "Throw it away"]]) {
      button.type = "button";
      button.className = "btn tiny";
      button.textContent = label;
    }
    text.append("You have changes here that were not saved. ", again, " ", forget);
    note.append(text);
    form.before(note);
    again.addEventListener("click", async () => {
      const data = new URLSearchParams(kept);
      data.set("do", "look");
      if (await update(form, data)) note.remove();
    });
    forget.addEventListener("click", () => { sessionStorage.removeItem(keyOf(form)); note.remove(); });
  }
}
