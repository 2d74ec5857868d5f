import { oas } from "@stoplight/spectral-rulesets";

// Spectral's own rule looks at everything within a content, also at examples: it takes an
// object with the members default and type, which a response has, for a schema. Here it looks
// at the schemas alone.
const name = "oas3-valid-schema-example";
const { given, ...rule } = oas.rules[name];
const schemas = given.map((path) => path.replace("$..content..[?(", "$..content[*].schema..[?("));

export default { extends: [oas], rules: { [name]: { ...rule, given: schemas } } };
