// The published library of Standard Webhooks verifies what a running guidon sends, and rejects what was changed on
// the way.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";

const baseUrl = process.env.GUIDON_URL;

async function call(method, path, body) {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { Authorization: `Bearer ${process.env.GUIDON_TOKEN}`, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

test("signatures of webhooks", { timeout: 60_000 }, async () => {
  let received;
  const receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(204).end();
  });
  received = [];
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  try {
    const hook = await call("POST", "/api/v1/webhooks", {
      namespaceKey: "ofrep", name: "node", url: `http://127.0.0.1:${receiver.address().port}/`,
    });
    await call("POST", `/api/v1/webhooks/${hook.id}/test`, { namespaceKey: "ofrep" });
    const next = await call("POST", `/api/v1/webhooks/${hook.id}/secret`, { namespaceKey: "ofrep", overlap: "60s" });
    await call("POST", "/api/v1/namespaces/ofrep/flags", { key: "signed", name: "Ünïcode ✓ <b>" });
    while (received.length < 2) await new Promise((resolve) => setTimeout(resolve, 50));

    assert.equal(new Webhook(hook.secret).verify(received[0].body, received[0].headers).type, "test");
    for (const secret of [hook.secret, next.secret]) {
      const event = new Webhook(secret).verify(received[1].body, received[1].headers);
      assert.equal(event.data.changes[0].after.name, "Ünïcode ✓ <b>");
    }
    const { headers, body } = received[1];
    for (const [b, h] of [
      [body + " ", headers],
      [body, { ...headers, "webhook-id": "x" }],
      [body, { ...headers, "webhook-timestamp": String(Number(headers["webhook-timestamp"]) + 1) }],
    ]) {
      assert.throws(() => new Webhook(next.secret).verify(b, h));
    }
    assert.throws(() => new Webhook(next.secret).verify(received[0].body, received[0].headers));
  } finally {
    receiver.close();
  }
});
