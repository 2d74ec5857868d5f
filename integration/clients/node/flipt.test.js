// The published Node client of the Flipt v1 API against a running guidon, which
// sdk_test.go has started and filled and which requires a token.
import assert from "node:assert/strict";
import { test } from "node:test";
import flipt from "@flipt-io/flipt";

const connect = (token) =>
  new flipt.FliptClient({
    url: process.env.GUIDON_URL,
    authenticationStrategy: new flipt.ClientTokenAuthentication(token),
    headers: { "X-Flipt-Environment": "production" },
  });

const client = connect(process.env.GUIDON_TOKEN);
const request = { namespaceKey: "default", entityId: "entity", context: { fizz: "buzz" } };

test("variant", async () => {
  const answer = await client.evaluation.variant({ ...request, flagKey: "flag1" });
  assert.equal(answer.flagKey, "flag1");
  assert.equal(answer.match, true);
  assert.equal(answer.reason, "MATCH_EVALUATION_REASON");
  assert.equal(answer.variantKey, "variant1");
  assert.deepEqual(JSON.parse(answer.variantAttachment), { colour: "teal" });
  assert.deepEqual(answer.segmentKeys, ["segment1"]);
  assert.ok(answer.requestId);
  assert.ok(!Number.isNaN(Date.parse(answer.timestamp)));
});

test("variant of an entity outside the segment", async () => {
  const answer = await client.evaluation.variant({ ...request, flagKey: "flag1", context: {} });
  assert.equal(answer.match, false);
  assert.equal(answer.variantKey, "");
});

test("boolean", async () => {
  const answer = await client.evaluation.boolean({ ...request, flagKey: "flag_boolean" });
  assert.equal(answer.enabled, true);
  assert.equal(answer.reason, "MATCH_EVALUATION_REASON");
  assert.deepEqual(answer.segmentKeys, ["segment1"]);
});

test("batch, with a flag that does not exist", async () => {
  const { responses } = await client.evaluation.batch({
    requests: ["flag1", "flag_boolean", "notfound"].map((flagKey) => ({ ...request, flagKey })),
  });
  assert.deepEqual(
    responses.map((r) => r.type),
    ["VARIANT_EVALUATION_RESPONSE_TYPE", "BOOLEAN_EVALUATION_RESPONSE_TYPE", "ERROR_EVALUATION_RESPONSE_TYPE"],
  );
  assert.equal(responses[0].variantResponse.variantKey, "variant1");
  assert.equal(responses[1].booleanResponse.enabled, true);
  assert.deepEqual(responses[2].errorResponse, {
    flagKey: "notfound",
    namespaceKey: "default",
    reason: "NOT_FOUND_ERROR_EVALUATION_REASON",
  });
});

test("list of flags, by pages", async () => {
  const first = await client.flags.listFlags("default", { limit: 1 });
  assert.equal(first.flags.length, 1);
  assert.equal(first.totalCount, 2);
  const second = await client.flags.listFlags("default", { limit: 1, pageToken: first.nextPageToken });
  assert.equal(second.nextPageToken, "");
  assert.deepEqual([first.flags[0].key, second.flags[0].key], ["flag1", "flag_boolean"]);
});

test("errors arrive with their text", async () => {
  await assert.rejects(client.evaluation.variant({ ...request, flagKey: "nope" }), {
    message: 'flag "default/nope" not found',
  });
  await assert.rejects(client.evaluation.boolean({ ...request, flagKey: "flag1" }), {
    message: "flag type VARIANT_FLAG_TYPE invalid",
  });
  await assert.rejects(connect("wrong").evaluation.boolean({ ...request, flagKey: "flag_boolean" }), {
    message: "request was not authenticated",
  });
});
