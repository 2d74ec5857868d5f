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
const group = (match, ...constraints) => ({ match: `${match}_MATCH_TYPE`, constraints });
const variants = ["red", "green", "blue", "plain"].map((key) => ({ key, attachment: JSON.stringify({ key }), default: key === "plain" }));
const withoutDefault = variants.map((variant) => ({ ...variant, default: false }));

const staff = [constraint("STRING", "mail", "suffix", "@example.org"), constraint("BOOLEAN", "staff", "true")];
const german = [constraint("STRING", "country", "eq", "de")];

const document = {
  segments: [
    segment("everybody", "ANY"),
    segment("adults", "ALL", constraint("NUMBER", "age", "gte", "18"), constraint("STRING", "country", "isoneof", '["d\\u0065","fr"]')),
    segment("staff", "ANY", ...staff),
    segment("chosen", "ANY", constraint("ENTITY_ID", "entityId", "isoneof", '["entity-3","entity-4","entity-5","entity-6"]')),
    segment("early", "ALL", constraint("DATETIME", "since", "lt", "2026-01-01")),
    segment("grown-up", "ALL", { ...constraint("NUMBER", "age", "lt", "18"), negate: true }),
    segment("current", "ALL", constraint("VERSION", "app", "gte", "2.4")),
    segment("matching", "ALL", constraint("PATTERN", "mail", "eq", "@example[.]org$")),
    segment("admins", "ALL", constraint("LIST", "roles", "anyof", '["admin"]')),
    segment("quoted", "ALL", constraint("STRING", "country", "isoneof", '["de","\\""]')),
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
    {
      key: "conditions", name: "Groups, portions and everyone", enabled: true, variants,
      rules: [
        { segmentKeys: ["everybody"], portion: { percentage: 0, start: 50 }, distributions: half("plain") },
        { segmentKeys: ["adults"], groups: [group("ANY", ...staff)], distributions: half("red", "green") },
        { segmentKeys: ["adults", "early"], segmentOperator: "AND_SEGMENT_OPERATOR", groups: [group("ALL", ...german)], distributions: half("blue") },
        { groups: [group("ANY", ...staff), group("ALL", ...german)], portion: { percentage: 100, split: { seed: "s" } }, distributions: half("green", "plain") },
        { everyone: true, split: { hash: "FLIPT_BUCKET_HASH" }, distributions: half("red", "green", "blue", "plain") },
      ],
    },
    {
      key: "boolean-conditions", name: "Groups and everyone", type: "BOOLEAN_FLAG_TYPE", enabled: true,
      rollouts: [
        { segment: { segmentKeys: ["early"], value: false }, groups: [group("ALL", ...german), group("ANY", ...staff)] },
        { segment: { value: true }, groups: [group("ANY", ...german)] },
        { threshold: { percentage: 40, value: true, split: { hash: "FLIPT_BUCKET_HASH" } } },
        { segment: { value: false }, everyone: true },
      ],
    },
  ],
};

// serverOnly are flags that the client's engine would evaluate differently, with the reason.
const onlySegment = (key, reason) => ({
  flag: { key, name: key, type: "BOOLEAN_FLAG_TYPE", rollouts: [{ threshold: { percentage: 10, value: true } }, { segment: { segmentKeys: ["staff", key], value: true } }] },
  reason: `rule 2 ${reason}`,
});
const onlyRule = (key, reason, rule) => ({
  flag: { key, name: key, enabled: true, variants, rules: [{ distributions: half("red"), ...rule }] }, reason: `rule 1 ${reason}`,
});
const onlyThreshold = (key, threshold) => ({
  flag: { key, name: key, type: "BOOLEAN_FLAG_TYPE", rollouts: [{ threshold: { percentage: 10, value: true, ...threshold } }] },
  reason: "rule 1 takes its share in a way of its own",
});
const serverOnly = [
  onlySegment("grown-up", "negates a constraint"),
  onlySegment("current", "compares a version"),
  onlySegment("matching", "compares with a pattern"),
  onlySegment("admins", "compares a list"),
  onlySegment("office", "compares an address"),
  onlySegment("quoted", "compares with a list of texts that JSON escapes"),
  onlyRule("not-german", "negates a constraint", { groups: [group("ALL", { ...german[0], negate: true })] }),
  onlyRule("except", "has exceptions", { everyone: true, exceptSegmentKeys: ["staff"] }),
  onlyRule("portion", "is for a portion", { everyone: true, portion: { percentage: 99 } }),
  onlyRule("portion-by", "is for a portion", { everyone: true, portion: { percentage: 100, split: { by: "tenant" } } }),
  onlyRule("one-of-several", "has conditions for any of several segments", { segmentKeys: ["adults", "early"], groups: [group("ANY", ...staff)] }),
  onlyRule("split-by", "divides its shares in a way of its own", { everyone: true, split: { by: "tenant" } }),
  onlyRule("split-seed", "divides its shares in a way of its own", { everyone: true, split: { seed: "s" } }),
  onlyRule("split-fine", "divides its shares in a way of its own", { everyone: true, split: { hash: "FLIPT_FINE_BUCKET_HASH" } }),
  onlyRule("split-unleash", "divides its shares in a way of its own", { everyone: true, split: { seed: "group:", hash: "UNLEASH_BUCKET_HASH" } }),
  onlyRule("code-default", "gives the default in the code", { everyone: true, codeDefault: true, distributions: [] }),
  onlyThreshold("threshold-start", { start: 10 }),
  onlyThreshold("threshold-by", { split: { by: "tenant" } }),
  onlyThreshold("threshold-murmur3", { split: { hash: "MURMUR3_BUCKET_HASH" } }),
];

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
// client omits an empty attachment, and names groups of constraints and everyone as segments.
const comparable = ({ requestDurationMillis, requestId, timestamp, segmentKeys, variantAttachment = "", ...answer }) => ({
  ...answer,
  variantAttachment,
  segmentKeys: segmentKeys.filter((key) => !key.startsWith("~")).sort(),
});

before(async () => {
  await api("POST", "/api/v1/namespaces", { key: namespace, name: "Downloaded" });
  await api("POST", `/api/v1/namespaces/${namespace}/import`, {
    document: { ...document, flags: [...document.flags, ...serverOnly.map(({ flag }) => flag)] },
  });
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
  assert.deepEqual(omittedFlags, serverOnly.map(({ flag, reason }) => ({ key: flag.key, reason })));
  for (const { flag } of serverOnly) {
    const request = { flagKey: flag.key, entityId: "e", context: {} };
    assert.throws(() => (flag.type ? client.evaluateBoolean(request) : client.evaluateVariant(request)), /failed to get flag information/);
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
  assert.deepEqual(client.listFlags().map((flag) => flag.key).sort(), ["bare", "boolean", "boolean-conditions", "conditions", "halves", "off", "rules", "switch"]);
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
