// The published client that downloads a namespace and evaluates it locally, against a
// running guidon (see sdk_test.go). Its results must equal those of the server.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { FliptClient } from "@flipt-io/flipt-client-js/node";

const url = process.env.GUIDON_URL;
const clientToken = process.env.GUIDON_TOKEN;
const namespace = "downloaded";

const api = async (method, path, body) => {
  const answer = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${clientToken}` },
    body: body && JSON.stringify(body),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
};

const connect = (options) =>
  FliptClient.init({ url, namespace, authentication: { clientToken }, updateInterval: 0, errorStrategy: "fail", ...options });

const constraint = (type, property, operator, value = "") => ({ type: `${type}_COMPARISON_TYPE`, property, operator, value });
const segment = (key, matchType, ...constraints) => ({ key, name: key, matchType: `${matchType}_MATCH_TYPE`, constraints });
const half = (...variants) => variants.map((variant) => ({ variant, rollout: 100 / variants.length }));
const variants = ["red", "green", "blue", "plain"].map((key) => ({ key, attachment: JSON.stringify({ key }), default: key === "plain" }));
const withoutDefault = variants.map((variant) => ({ ...variant, default: false }));

const document = {
  segments: [
    segment("everybody", "ANY"),
    segment("adults", "ALL", constraint("NUMBER", "age", "gte", "18"), constraint("STRING", "country", "isoneof", '["de","fr"]')),
    segment("staff", "ANY", constraint("STRING", "mail", "suffix", "@example.org"), constraint("BOOLEAN", "staff", "true")),
    segment("chosen", "ANY", constraint("ENTITY_ID", "entityId", "isoneof", '["entity-3","entity-4","entity-5","entity-6"]')),
    segment("early", "ALL", constraint("DATETIME", "since", "lt", "2026-01-01T00:00:00Z")),
    segment("grown-up", "ALL", { ...constraint("NUMBER", "age", "lt", "18"), negate: true }),
    segment("current", "ALL", constraint("VERSION", "app", "gte", "2.4")),
    segment("matching", "ALL", constraint("PATTERN", "mail", "eq", "@example[.]org$")),
    segment("admins", "ALL", constraint("LIST", "roles", "anyof", '["admin"]')),
    segment("office", "ALL", constraint("ADDRESS", "ip", "isoneof", '["192.0.2.0/24"]')),
  ],
  flags: [
    { key: "halves", name: "Two halves", enabled: true, variants, rules: [{ segmentKeys: ["everybody"], distributions: half("red", "blue") }] },
    {
      key: "rules", name: "Rules in order", enabled: true, variants,
      rules: [
        { segmentKeys: ["chosen"], distributions: half("green") },
        { segmentKeys: ["adults", "staff"], segmentOperator: "AND_SEGMENT_OPERATOR", distributions: half("red", "green", "blue", "plain") },
        { segmentKeys: ["staff", "early"], segmentOperator: "OR_SEGMENT_OPERATOR", distributions: half("red", "blue") },
      ],
    },
    { key: "bare", name: "No default, no shares", enabled: true, variants: withoutDefault, rules: [{ segmentKeys: ["adults"], distributions: [] }] },
    { key: "off", name: "Off", enabled: false, variants, rules: [{ segmentKeys: ["everybody"], distributions: half("red") }] },
    {
      key: "boolean", name: "Rollouts", type: "BOOLEAN_FLAG_TYPE", enabled: false,
      rollouts: [
        { segment: { segmentKeys: ["chosen", "staff"], segmentOperator: "AND_SEGMENT_OPERATOR", value: true } },
        { segment: { segmentKeys: ["early", "adults"], value: false } },
        { threshold: { percentage: 40, value: true } },
      ],
    },
  ],
};

// serverOnly are flags that the client's engine would evaluate differently.
const serverOnly = ["grown-up", "current", "matching", "admins", "office"].map((key) => ({
  key, name: key, type: "BOOLEAN_FLAG_TYPE", rollouts: [{ threshold: { percentage: 10, value: true } }, { segment: { segmentKeys: ["staff", key], value: true } }],
}));

// entities are 2,400 entities with all combinations of context values.
const entities = Array.from({ length: 2400 }, (_, i) => ({
  entityId: `entity-${i}`,
  context: Object.fromEntries(
    [
      ["age", ["", "17", "18", "40"][i % 4]],
      ["country", ["", "de", "it"][i % 3]],
      ["mail", ["", "a@example.org", "a@example.com"][Math.floor(i / 3) % 3]],
      ["staff", ["", "true", "false"][Math.floor(i / 9) % 3]],
      ["since", ["", "2025-06-01T00:00:00Z", "2026-06-01T00:00:00Z"][Math.floor(i / 27) % 3]],
    ].filter(([, value]) => value !== ""),
  ),
}));

// comparable returns the part of a result that is the same for client and server. The
// client omits an empty attachment.
const comparable = ({ requestDurationMillis, requestId, timestamp, segmentKeys, variantAttachment = "", ...answer }) => ({
  ...answer,
  variantAttachment,
  segmentKeys: [...segmentKeys].sort(),
});

before(async () => {
  await api("POST", "/api/v1/namespaces", { key: namespace, name: "Downloaded" });
  await api("POST", `/api/v1/namespaces/${namespace}/import`, { document: { ...document, flags: [...document.flags, ...serverOnly] } });
});

for (const { key: flagKey, type } of document.flags) {
  test(`${flagKey} evaluates as on the server`, async () => {
    const client = await connect();
    for (let i = 0; i < entities.length; i += 800) {
      const requests = entities.slice(i, i + 800).map((entity) => ({ ...entity, namespaceKey: namespace, flagKey }));
      const { responses } = await api("POST", "/evaluate/v1/batch", { requests });
      for (const [j, { entityId, context }] of requests.entries()) {
        const here = type ? client.evaluateBoolean({ flagKey, entityId, context }) : client.evaluateVariant({ flagKey, entityId, context });
        const there = responses[j].booleanResponse ?? responses[j].variantResponse;
        assert.deepEqual(comparable(here), comparable(there), `${entityId} ${JSON.stringify(context)}`);
      }
    }
    client.close();
  });
}

test("a flag that only the server evaluates is an error, and named in the snapshot", async () => {
  const client = await connect();
  const { flags, omittedFlags } = await api("GET", `/internal/v1/evaluation/snapshot/namespace/${namespace}`);
  assert.deepEqual(flags.map(({ key }) => key), document.flags.map(({ key }) => key));
  assert.deepEqual(omittedFlags, [
    { key: "grown-up", reason: "rule 2 negates a constraint" },
    { key: "current", reason: "rule 2 compares a version" },
    { key: "matching", reason: "rule 2 compares with a pattern" },
    { key: "admins", reason: "rule 2 compares a list" },
    { key: "office", reason: "rule 2 compares an address" },
  ]);
  for (const { key: flagKey } of serverOnly) {
    const request = { flagKey, entityId: "e", context: {} };
    assert.throws(() => client.evaluateBoolean(request), /failed to get flag information/);
    const { responses } = client.evaluateBatch([request]);
    assert.equal(responses[0].errorEvaluationResponse?.reason, "NOT_FOUND_ERROR_EVALUATION_REASON");
  }
  client.close();
});

test("a refresh downloads what has changed and nothing else", async () => {
  const client = await connect();
  const request = { flagKey: "switch", entityId: "e", context: {} };
  assert.throws(() => client.evaluateBoolean(request));
  assert.equal(await client.refresh(), false);
  await api("POST", `/api/v1/namespaces/${namespace}/flags`, { key: "switch", name: "Switch", type: "BOOLEAN_FLAG_TYPE", enabled: true });
  assert.equal(await client.refresh(), true);
  assert.equal(client.evaluateBoolean(request).enabled, true);
  assert.equal(await client.refresh(), false);
  await api("PUT", `/api/v1/namespaces/${namespace}/flags/switch`, { name: "Switch", enabled: false });
  assert.equal(await client.refresh(), true);
  assert.equal(client.evaluateBoolean(request).enabled, false);
  assert.deepEqual(client.listFlags().map((flag) => flag.key).sort(), ["bare", "boolean", "halves", "off", "rules", "switch"]);
  client.close();
});

test("an unknown namespace is an empty one", async () => {
  const client = await connect({ namespace: "nowhere" });
  assert.deepEqual(client.listFlags(), []);
  client.close();
});

test("a wrong token is refused", async () => {
  await assert.rejects(connect({ authentication: { clientToken: "wrong" } }), { message: /Unauthorized/ });
});
