// Evaluates two flags of a shop by OpenFeature.
import { OFREPProvider } from "@openfeature/ofrep-provider";
import { OpenFeature } from "@openfeature/server-sdk";

const headers = [["X-Guidon-Namespace", "default"]];
if (process.env.GUIDON_TOKEN) headers.push(["Authorization", `Bearer ${process.env.GUIDON_TOKEN}`]);

await OpenFeature.setProviderAndWait(
  new OFREPProvider({
    baseUrl: process.env.GUIDON_URL ?? "http://127.0.0.1:8080",
    headers,
    // Give up after two seconds.
    fetchImplementation: (request, options) => fetch(request, { ...options, signal: AbortSignal.timeout(2000) }),
  }),
);
const client = OpenFeature.getClient();
const user = { targetingKey: "u-3", country: "SE", orders: 2 };

// The default, here false, is the value if the server cannot be asked or has no such flag.
const dark = await client.getBooleanDetails("dark-mode", false, user);
console.log(`dark-mode: ${dark.value} (${dark.reason})`);

const payment = await client.getStringDetails("payment-methods", "international", user);
console.log(`payment-methods: ${payment.value} (${payment.reason})`);

await OpenFeature.close();
