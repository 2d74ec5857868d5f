// Evaluates two flags of a shop by OpenFeature, and again whenever they change.
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, ProviderEvents } from "@openfeature/web-sdk";

const client = OpenFeature.getClient();

function show() {
  // The default, here false, is the value if the server cannot be asked or has no such flag.
  const dark = client.getBooleanValue("dark-mode", false);
  document.querySelector("#theme").textContent = dark ? "Dark mode" : "Light mode";
  document.querySelector("#payment").textContent = `Pay with ${client.getStringValue("payment-methods", "international")}`;
}

OpenFeature.addHandler(ProviderEvents.Ready, show);
OpenFeature.addHandler(ProviderEvents.ConfigurationChanged, show);
OpenFeature.addHandler(ProviderEvents.Error, show);

// All flags are evaluated for this user at once, and then read from memory.
await OpenFeature.setContext({ targetingKey: "u-3", country: "SE" });
await OpenFeature.setProviderAndWait(
  new OFREPWebProvider({
    baseUrl: "http://127.0.0.1:8080",
    headers: [["X-Flipt-Namespace", "default"]],
    timeoutMs: 2000,
  }),
).catch(show);
