// A new flag or segment: the key follows the name until somebody writes one.

const key = document.querySelector("[data-slug]");
const name = key && document.getElementById(key.dataset.slug);

const slug = (text) =>
  text.toLowerCase().replaceAll("ß", "ss").replace(/[äöü]/g, (c) => ({ ä: "ae", ö: "oe", ü: "ue" })[c])
    .normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/[^a-z0-9_]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 255);

if (key && name) {
  let follows = key.value === "" || key.value === slug(name.value);
  name.addEventListener("input", () => { if (follows) key.value = slug(name.value); });
  key.addEventListener("input", () => { follows = key.value === ""; });
  if (follows) key.value = slug(name.value);
}

// What only one type has is hidden for the other.
const show = () => {
  const type = document.querySelector('input[name="type"]:checked')?.value;
  for (const part of document.querySelectorAll("[data-only]")) part.hidden = part.dataset.only !== type;
};
document.addEventListener("change", (event) => { if (event.target.name === "type") show(); });
show();
