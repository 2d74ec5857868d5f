// The playground: it answers in place, a link in the address restores the form, and contexts
// are kept in this browser.

import { fetchAnswer, fieldsOf, make, on, onSubmit, regionOf, say, swap } from "./app.js";

const base = document.body.dataset.base ?? "";
const namespace = document.body.dataset.namespace;
const form = () => document.querySelector("form[data-lab]");
const ask = () => form().querySelector("[data-key=submit]").click();
const field = (name) => form().querySelector(`[name="${name}"]`);

// What is asked, as a link has it.

/** context returns the context of the form as JSON, "" for an empty one, or null for a broken one. */
const context = () => {
  const json = field("json");
  if (json) {
    if (json.value.trim() === "") return "";
    try { return JSON.stringify(JSON.parse(json.value)); } catch { return null; }
  }
  const values = form().querySelectorAll('[name="v"]');
  const entries = [...form().querySelectorAll('[name="k"]')].map((key, i) => [key.value.trim(), values[i].value]).filter(([key]) => key !== "");
  return entries.length ? JSON.stringify(Object.fromEntries(entries)) : "";
};

const fill = ({ flag, entity, at, context: json }) => {
  for (const [name, value] of [["flag", flag], ["entity", entity], ["at", at]]) field(name).value = value ?? "";
  const area = field("json");
  if (area) {
    area.value = json ?? "";
    return;
  }
  let entries = [];
  try { entries = Object.entries(JSON.parse(json || "{}")); } catch { say("The context in the link is not JSON"); }
  const rows = form().querySelector("[data-rows]");
  const empty = rows.querySelector(":scope > div").cloneNode(true);
  const all = [...entries.slice(0, 199).filter(([, value]) => value !== null), ["", ""]];
  rows.replaceChildren(...all.map(([key, value], i) => {
    const row = empty.cloneNode(true);
    const [name, text] = row.querySelectorAll("input");
    const remove = row.querySelector("button");
    Object.assign(name, { id: `k${i}`, value: key, ariaLabel: `Property ${i + 1}` });
    Object.assign(text, { id: `v${i}`, value: typeof value === "string" ? value : JSON.stringify(value), ariaLabel: `Value ${i + 1}` });
    Object.assign(remove, { value: `remove:${i}`, ariaLabel: `Remove property ${i + 1}` });
    for (const input of [name, text]) {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
    return row;
  }));
};

// The answer comes in place; the address then has what was asked, in the part that no server gets.
onSubmit("form[data-lab]", async (asked, button) => {
  const data = fieldsOf(asked, button);
  if (!data.has("do")) data.set("do", "ask");
  const fresh = await fetchAnswer(asked, "lab", data);
  if (!fresh) return fresh !== undefined;
  const old = regionOf("lab");
  const focused = old.contains(document.activeElement);
  swap(old, fresh);
  prepare();
  if (focused && !fresh.contains(document.activeElement)) (field("json") ?? [...form().querySelectorAll('[name="k"]')].at(-1)).focus(); // the button is gone
  const link = fresh.querySelector("a[data-link]");
  if (link) history.replaceState(history.state, "", link.href);
  if (fresh.dataset.announce) say(fresh.dataset.announce);
  fresh.querySelector("[role=alert][autofocus]")?.focus();
});

on("click", "a[data-link]", async (link, event) => {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  history.replaceState(history.state, "", link.href);
  try {
    await navigator.clipboard.writeText(link.href);
    say("Link copied");
    link.textContent = "Link copied";
  } catch {
    say("The link is in the address bar");
  }
});

// Contexts that this browser keeps.
const store = `playground ${base} ${namespace}`;
const most = 50;
const kept = () => {
  try {
    const all = JSON.parse(localStorage.getItem(store) ?? "[]");
    return Array.isArray(all) ? all.filter((c) => typeof c?.name === "string" && typeof c.entity === "string").slice(0, most) : [];
  } catch { return []; }
};
const keep = (all) => {
  try { localStorage.setItem(store, JSON.stringify(all)); return true; } catch { say("This browser keeps nothing here"); return false; }
};
const flagOf = () => document.querySelector("[data-saved]").dataset.flag;

// askName asks for the name of a context, and returns "" if the visitor cancels.
const askName = (proposal) => new Promise((resolve) => {
  const dialog = make("dialog", { className: "asks" });
  const title = make("h2", { id: "context-title" }, "Save this context");
  const name = make("input", { id: "context-name", className: "input", value: proposal, maxLength: 80, required: true, autocomplete: "off" });
  const field = make("div", { className: "field" });
  const buttons = make("div", { className: "row tight mt" });
  const entry = make("form", { method: "dialog", className: "form" });
  const cancel = make("button", { type: "button", className: "btn" }, "Cancel");
  field.append(make("label", { htmlFor: name.id }, "Name"), name, make("p", { className: "hint" }, "It is kept in this browser only."));
  buttons.append(cancel, make("button", { className: "btn primary", value: "save" }, "Save context"));
  entry.append(field, buttons);
  dialog.append(title, entry);
  dialog.setAttribute("aria-labelledby", title.id);
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(dialog.returnValue === "save" ? name.value.trim() : "");
  });
  document.body.append(dialog);
  dialog.showModal();
  name.select();
});

const saveContext = async () => {
  const json = context();
  if (json === null) return say("The context is not JSON");
  if (!field("entity").value) return field("entity").focus();
  const name = await askName(field("entity").value.slice(0, 80));
  if (!name) return;
  const expected = {};
  const answer = document.querySelector("[data-answer]")?.dataset.answer;
  if (answer && flagOf()) expected[flagOf()] = answer;
  const rest = kept().filter((c) => c.name !== name);
  if (rest.length >= most) return say(`There are ${most} contexts already. Delete one first.`);
  if (keep([...rest, { name, entity: field("entity").value, context: json, expected }])) show();
};
on("click", "[data-save-context]", saveContext);

const answerOf = (answer) => ("variantResponse" in answer ? answer.variantResponse.variantKey || "Nothing" : answer.booleanResponse.enabled ? "On" : "Off");

/** evaluate returns the answers for the contexts, each a text, or null if it failed. */
const evaluate = async (all) => {
  const { reference } = document.querySelector("[data-saved]").dataset; // the namespace, as of when was asked
  const url = `${base}/api/v1/namespaces/${encodeURIComponent(reference)}/flags/${encodeURIComponent(flagOf())}/explain`;
  const draft = field("draft")?.value;
  const answers = [];
  for (const c of all) { // one after the other, so that no server is flooded
    try {
      const body = { entityId: c.entity, context: JSON.parse(c.context || "{}"), ...(draft && { flag: JSON.parse(draft) }) };
      const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      answers.push(response.ok ? answerOf((await response.json()).result) : null);
    } catch { answers.push(null); }
  }
  return answers;
};

const show = (answers) => {
  const section = document.querySelector("[data-saved]");
  const all = kept();
  section.hidden = all.length === 0;
  section.querySelector("[data-run]").disabled = !flagOf();
  section.querySelector("tbody").replaceChildren(...all.map((c, i) => rowOf(c, i, answers?.[i])));
};

const rowOf = (c, i, answer) => {
  const row = document.createElement("tr");
  const name = make("th", {});
  name.scope = "row";
  const use = make("button", { type: "button", className: "btn quiet tiny" }, c.name);
  use.addEventListener("click", () => {
    fill({ flag: field("flag").value, entity: c.entity, at: field("at").value, context: c.context });
    ask();
  });
  name.append(use);
  const expectation = make("td", {});
  const expected = c.expected?.[flagOf()];
  const result = answer === undefined ? "" : answer === null ? "no answer" : expected === undefined ? "" : answer === expected ? "as expected" : `expected ${expected}`;
  expectation.append(make("span", { className: answer !== undefined && expected !== undefined ? (answer === expected ? "now" : "was") : "muted" }, result || expected || "–"));
  if (answer && answer !== expected && flagOf()) {
    const accept = make("button", { type: "button", className: "btn quiet tiny" }, "Expect this");
    accept.addEventListener("click", () => {
      const list = kept();
      list[i].expected = { ...list[i].expected, [flagOf()]: answer };
      if (!keep(list)) return;
      const fresh = rowOf(list[i], i, answer);
      row.replaceWith(fresh);
      fresh.querySelector("button").focus();
    });
    expectation.append(" ", accept);
  }
  const remove = make("button", { type: "button", className: "btn quiet tiny", ariaLabel: `Delete ${c.name}` }, "Delete");
  remove.addEventListener("click", () => {
    if (!keep(kept().filter((_, n) => n !== i))) return;
    show();
    const left = [...document.querySelectorAll("[data-saved] td:last-child button")];
    (left[i] ?? left.at(-1) ?? document.querySelector("[data-save-context]")).focus();
  });
  const last = make("td", {});
  last.append(remove);
  row.append(name, make("td", { className: "key" }, c.entity), make("td", { className: "key ell" }, c.context || "–"), make("td", {}, answer ?? ""), expectation, last);
  return row;
};

on("click", "[data-run]", async (button) => {
  button.disabled = true;
  const all = kept();
  const answers = await evaluate(all);
  show(answers);
  button.focus(); // which it had before it was disabled
  const wrong = all.filter((c, i) => c.expected?.[flagOf()] !== undefined && c.expected[flagOf()] !== answers[i]).length;
  say(wrong ? `${wrong} not as expected` : "All as expected");
});

const prepare = () => {
  form().querySelector("[data-save-context]").hidden = false;
  show();
};
prepare();

// A link in the address is asked at once.
const link = new URLSearchParams(location.hash.slice(1));
if (link.has("entity") || link.has("flag")) {
  const answered = document.querySelector("[data-answer]");
  if (!answered) {
    fill(Object.fromEntries(link));
    if (link.get("entity")) ask();
  }
}
