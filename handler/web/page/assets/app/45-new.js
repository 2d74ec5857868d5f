
// The key of something new follows its name until somebody writes one.
const slug = (text) =>
  text.toLowerCase().replaceAll("ß", "ss").replace(/[äöü]/g, (c) => ({ ä: "ae", ö: "oe", ü: "ue" })[c])
    .normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/[^a-z0-9_]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 255);

let follows = false;
const keyFor = (name) => [...document.querySelectorAll("[data-slug]")].find((key) => key.dataset.slug === name.id);
document.addEventListener("beforeinput", ({ target }) => {
  const key = keyFor(target);
  if (key) follows = key.value === "" || key.value === slug(target.value);
}, true);
document.addEventListener("input", ({ target }) => {
  const key = keyFor(target);
  if (key && follows) key.value = slug(target.value);
}, true);
