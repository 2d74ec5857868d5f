import assert from "node:assert/strict";
import test from "node:test";
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi.js";

const baseUrl = process.env.GUIDON_URL!;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${process.env.GUIDON_TOKEN}` } });
const anonymous = createClient<paths>({ baseUrl });

test("create, evaluate and delete a flag", async () => {
  const path = { namespaceKey: "default" };
  const flag: components["schemas"]["CreateFlagRequest"] = { key: "from-ts", name: "From TypeScript", type: "BOOLEAN_FLAG_TYPE" };
  const created = await client.POST("/api/v1/namespaces/{namespaceKey}/flags", { params: { path }, body: flag });
  assert.equal(created.data?.key, "from-ts");
  const rollout = await client.POST("/api/v1/namespaces/{namespaceKey}/flags/{flagKey}/rollouts", {
    params: { path: { ...path, flagKey: "from-ts" } },
    body: { rank: 1, threshold: { percentage: 100, value: true } },
  });
  assert.equal(rollout.data?.threshold?.percentage, 100);

  const list = await client.GET("/api/v1/namespaces/{namespaceKey}/flags", { params: { path, query: { limit: 100 } } });
  assert.ok(list.data?.flags.some((f) => f.key === "from-ts"));

  const body = { flagKey: "from-ts", entityId: "user-1", context: { country: "SE" } };
  const boolean = await client.POST("/evaluate/v1/boolean", { body });
  assert.equal(boolean.data?.enabled, true);
  assert.equal(boolean.data.reason, "MATCH_EVALUATION_REASON");
  const wrong = await client.POST("/evaluate/v1/variant", { body });
  assert.equal(wrong.error?.message, "flag type BOOLEAN_FLAG_TYPE invalid");
  const batch = await client.POST("/evaluate/v1/batch", { body: { requests: [body, { flagKey: "nope" }] } });
  assert.equal(batch.data?.responses[0]?.booleanResponse?.enabled, true);
  assert.equal(batch.data.responses[1]?.errorResponse?.reason, "NOT_FOUND_ERROR_EVALUATION_REASON");

  const one = { params: { path: { ...path, key: "from-ts" } } };
  assert.equal((await client.DELETE("/api/v1/namespaces/{namespaceKey}/flags/{key}", one)).response.status, 200);
  const missing = await client.GET("/api/v1/namespaces/{namespaceKey}/flags/{key}", one);
  assert.equal(missing.response.status, 404);
  assert.deepEqual(missing.error, { code: 5, message: 'flag "default/from-ts" not found', details: [] });
});

test("evaluate a variant", async () => {
  const { data } = await client.POST("/evaluate/v1/variant", {
    body: { namespaceKey: "ofrep", flagKey: "banner", entityId: "user-1", context: { age: "42" } },
  });
  assert.equal(data?.variantKey, "plain");
});

test("OFREP", async () => {
  const header = { "X-Flipt-Namespace": "ofrep" };
  const body = { context: { targetingKey: "user-1", age: 42 } };
  const one = await client.POST("/ofrep/v1/evaluate/flags/{key}", { params: { path: { key: "adult" }, header }, body });
  assert.equal(one.data?.value, true);
  assert.equal(one.data.reason, "TARGETING_MATCH");
  const all = await client.POST("/ofrep/v1/evaluate/flags", { params: { header }, body });
  const first = all.data?.flags[0];
  assert.ok(first && !("errorCode" in first) && first.key === "adult");
  const missing = await client.POST("/ofrep/v1/evaluate/flags/{key}", { params: { path: { key: "nope" } }, body });
  assert.equal(missing.error?.errorCode, "FLAG_NOT_FOUND");
});

test("the stream of changes", async () => {
  const { data, response } = await client.GET("/api/v1/namespaces/{namespaceKey}/changes/stream", {
    params: { path: { namespaceKey: "default" }, query: { from: "0" } },
    parseAs: "stream",
  });
  assert.match(response.headers.get("Content-Type") ?? "", /^text\/event-stream/);
  let text = "";
  const decoder = new TextDecoder();
  assert.ok(data);
  for await (const piece of data) {
    text += decoder.decode(piece, { stream: true });
    if (text.includes("event: change")) break;
  }
});

test("without a token", async () => {
  const { error, response } = await anonymous.GET("/api/v1/namespaces/{namespaceKey}/flags", { params: { path: { namespaceKey: "default" } } });
  assert.equal(response.status, 401);
  assert.equal(error?.code, 16);
  assert.equal((await anonymous.GET("/health")).data?.status, "SERVING");
});
