// The published OpenFeature provider for browsers is notified of changes by the event
// stream of a running guidon, which sdk_test.go has started and which requires a token.
// Node has no EventSource, so this uses the published one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { EventSource } from "eventsource";
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";

const baseUrl = process.env.GUIDON_URL;
const authorization = { Authorization: `Bearer ${process.env.GUIDON_TOKEN}` };
const namespace = `/api/v1/namespaces/events`;

async function api(method, path, body) {
  const response = await fetch(baseUrl + path, { method, headers: authorization, body: JSON.stringify(body) });
  assert.equal(response.status, 200, `${method} ${path}: ${await response.text()}`);
}

const change = (enabled) => api("PUT", `${namespace}/flags/live`, { name: "Live", enabled });

const streams = []; // the URLs of the streams that were opened
let answered = () => {}; // called with status and URL of each response to the provider

before(async () => {
  await api("POST", "/api/v1/namespaces", { key: "events", name: "Events" });
  await api("POST", `${namespace}/flags`, { key: "live", name: "Live", type: "BOOLEAN_FLAG_TYPE" });
  globalThis.EventSource = class extends EventSource {
    constructor(url) {
      super(url);
      streams.push(String(url));
    }
  };
  const plain = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await plain(...request);
    const url = request[0].url ?? String(request[0]);
    if (url.includes("/evaluate/")) answered(response.status, url);
    return response;
  };
});

after(() => OpenFeature.close());

test("web provider and event stream", { timeout: 30_000 }, async (t) => {
  const headers = [...Object.entries(authorization), ["X-Flipt-Namespace", "events"]];
  const client = OpenFeature.getClient();
  await OpenFeature.setProviderAndWait(new OFREPWebProvider({ baseUrl, headers, cacheMode: "disabled" }));
  assert.equal(client.getBooleanValue("live", true), false);
  await t.test("what came before the stream is not missed, nor fetched twice", async () => {
    const [status, url] = await new Promise((resolve) => (answered = (...answer) => resolve(answer)));
    assert.deepEqual([status, new URL(url).searchParams.get("flagConfigEtag")], [304, "2"]);
  });
  // The provider itself sends one request. Further ones are triggered by the stream.
  const changed = () => new Promise((resolve) => client.addHandler(ProviderEvents.ConfigurationChanged, resolve));

  for (const enabled of [true, false, true]) {
    await t.test(`a change to ${enabled}`, async () => {
      const told = changed();
      await change(enabled);
      await told;
      assert.equal(client.getBooleanValue("live", !enabled), enabled);
    });
  }
  await t.test("the stream", () => {
    assert.equal(streams.length, 1, "one stream for all of it");
    const url = new URL(streams[0]);
    assert.deepEqual([url.origin, url.pathname, url.searchParams.get("namespace")], [new URL(baseUrl).origin, "/ofrep/v1/events", "events"]);
    assert.ok(!streams[0].includes(process.env.GUIDON_TOKEN), "the token is in the URL");
  });
});
