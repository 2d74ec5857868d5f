// A certified OpenID provider for one client. It prints its issuer, reads the client's
// metadata as one line of JSON, and prints "ready".
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import Provider from 'oidc-provider';

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${server.address().port}`;
console.log(issuer);

const input = createInterface({ input: process.stdin });
input.on('close', () => process.exit()); // with the test
const [line] = await once(input, 'line');

const provider = new Provider(issuer, {
  clients: [JSON.parse(line)],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
  scopes: ['openid', 'email', 'profile', 'groups'],
  features: { backchannelLogout: { enabled: true } },
  pkce: { required: () => true },
  fetch: (url, { dispatcher, ...options }) => fetch(url, options), // it refuses loopback addresses
  cookies: { keys: ['for tests'] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@corp.example`, email_verified: true, name: `${id} of certified`, groups: ['flags-editors'] }),
  }),
});
provider.on('backchannel.error', (_, error) => console.error('back-channel logout:', error));
server.on('request', provider.callback());
console.log('ready');
