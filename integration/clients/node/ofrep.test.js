// The published OpenFeature providers for servers and browsers against a running
// guidon, which sdk_test.go has started and filled and which requires a token.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature as Server } from "@openfeature/server-sdk";
import { OpenFeature as Web } from "@openfeature/web-sdk";

const baseUrl = process.env.GUIDON_URL;
const headers = (token) => [
  ["Authorization", `Bearer ${token}`],
  ["X-Flipt-Namespace", "ofrep"],
];
const good = headers(process.env.GUIDON_TOKEN);

// user-1 is in the second half of "half". Numbers, booleans and the date keep their
// types and are compared with constraints.
const context = { targetingKey: "user-1", age: 42, beta: true, since: new Date("2026-05-01T10:20:30.123Z"), geo: { cc: "NO" } };
const banner = { text: "Hello", sizes: [1, 2.5], dark: false };

// Results of both kinds of provider: [method, flag, default, value, variant, reason].
const answers = [
  ["getBooleanDetails", "adult", false, true, "true", "TARGETING_MATCH"],
  ["getBooleanDetails", "since", false, true, "true", "TARGETING_MATCH"],
  ["getBooleanDetails", "off", true, false, "false", "STATIC"],
  ["getBooleanDetails", "named", true, false, "nope", "STATIC"],
  ["getStringDetails", "half", "?", "b", "b", "SPLIT"],
  ["getNumberDetails", "ratio", 1, 0.25, "quarter", "STATIC"],
  ["getObjectDetails", "banner", {}, banner, "plain", "TARGETING_MATCH"],
];

function check(details, [method, key, , value, variant, reason]) {
  assert.equal(details.errorCode, undefined, `${method} ${key}: ${details.errorMessage}`);
  assert.deepEqual([key, details.value, details.variant, details.reason], [key, value, variant, reason]);
}

after(async () => {
  await Server.close();
  await Web.close();
});

test("server provider", async (t) => {
  await Server.setProviderAndWait(new OFREPProvider({ baseUrl, headers: good }));
  const client = Server.getClient();
  for (const answer of answers) {
    const [method, key, fallback] = answer;
    await t.test(`${method} ${key}`, async () => check(await client[method](key, fallback, context), answer));
  }
  await t.test("metadata", async () => {
    const { flagMetadata } = await client.getObjectDetails("banner", {}, context);
    assert.deepEqual({ ...flagMetadata }, { owner: "web", segments: "adults" });
  });
  await t.test("the default of the code", async () => {
    for (const [key, code] of [["nope", "FLAG_NOT_FOUND"], ["half", "TARGETING_KEY_MISSING"], ["ratio", "TYPE_MISMATCH"]]) {
      const details = await client.getStringDetails(key, "default", { age: 42 });
      assert.deepEqual([details.value, details.errorCode], ["default", code], key);
      assert.ok(details.errorMessage, key);
    }
    assert.equal(await client.getStringValue("disabled", "default", context), "default");
  });
  await t.test("a wrong token", async () => {
    await Server.setProviderAndWait("wrong", new OFREPProvider({ baseUrl, headers: headers("wrong") }));
    const details = await Server.getClient("wrong").getBooleanDetails("adult", true, context);
    assert.deepEqual([details.value, details.errorCode], [true, "GENERAL"]);
  });
});

// statuses are those of the responses to the web provider.
const statuses = [];

before(() => {
  const plain = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await plain(...request);
    statuses.push(response.status);
    return response;
  };
});

test("web provider", async (t) => {
  await Web.setContext(context);
  statuses.length = 0;
  const provider = new OFREPWebProvider({ baseUrl, headers: good, cacheMode: "disabled" });
  await Web.setProviderAndWait(provider);
  const client = Web.getClient();
  for (const answer of answers) {
    const [method, key, fallback] = answer;
    await t.test(`${method} ${key}`, () => check(client[method](key, fallback), answer));
  }
  await t.test("the default of the code", () => {
    assert.equal(client.getStringDetails("nope", "default").errorCode, "FLAG_NOT_FOUND");
    const disabled = client.getStringDetails("disabled", "default");
    assert.deepEqual([disabled.value, disabled.reason, disabled.errorCode], ["default", "DISABLED", undefined]);
    assert.deepEqual(statuses, [200], "evaluations come from one request");
  });
  await t.test("another context is another answer", async () => {
    await Web.setContext({ ...context, age: 17 });
    assert.equal(client.getBooleanValue("adult", true), false);
    await Web.setContext({ ...context, age: 17 });
    assert.deepEqual(statuses, [200, 200, 304], "the same context once more");
    assert.equal(client.getBooleanValue("adult", true), false);
  });
  await t.test("without a targeting key", async () => {
    await Web.setContext({ age: 42 });
    assert.equal(client.getStringDetails("half", "default").errorCode, "TARGETING_KEY_MISSING");
    assert.equal(client.getBooleanValue("adult", false), true);
  });
  await t.test("a wrong token", async () => {
    const refused = new OFREPWebProvider({ baseUrl, headers: headers("wrong"), cacheMode: "disabled" });
    await assert.rejects(Web.setProviderAndWait("wrong", refused));
  });
});
