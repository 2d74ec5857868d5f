// Reads cases from the standard input, and writes what unleash-client answers: for each case, whether
// the feature is enabled, and the name of its variant, if it has one.
import { InMemStorageProvider, Unleash } from "unleash-client";
import { text } from "node:stream/consumers";

const { features, segments, cases } = JSON.parse(await text(process.stdin));
for (const feature of features) { // as the server does
  feature.strategies = feature.strategies?.filter((strategy) => !strategy.disabled);
}
const client = new Unleash({
  appName: "test", url: "http://127.0.0.1:9/", disableMetrics: true, refreshInterval: 0, skipInstanceCountWarning: true,
  storageProvider: new InMemStorageProvider(), bootstrap: { data: features, segments },
});
client.on("error", () => {}); // there is no server
client.on("warn", () => {});
if (!client.isSynchronized()) {
  await new Promise((resolve) => client.once("synchronized", resolve));
}
const answers = cases.map(({ feature, properties, at }) => {
  const { userId, sessionId, remoteAddress, ...others } = properties;
  const context = { userId, sessionId, remoteAddress, properties: others, currentTime: new Date(at) };
  const variant = client.getVariant(feature, context);
  return { enabled: client.isEnabled(feature, context), variant: variant.enabled ? variant.name : "" };
});
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
