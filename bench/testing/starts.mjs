// Starts one thing again and again, as a test file does: the first, in a process that has loaded nothing yet, says `ready`;
// then comes a line with the milliseconds of each later one. Plain JavaScript, so that nothing is compiled first.
const [what, rounds, ...rest] = process.argv.slice(2);

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', namespace: 'default' };
const dependent = { apiVersion: 'v1', kind: 'Secret', name: 'dependent', namespace: 'default' };
const objects = `
apiVersion: v1
kind: ConfigMap
metadata: { name: owner, namespace: default }
---
apiVersion: v1
kind: Secret
metadata:
  name: dependent
  namespace: default
  ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: owner }]
`;

/** `startCluster` with two objects; checked by a cascade. */
async function clusters([module]) {
  const { startCluster } = await import(module);
  return async () => {
    const cluster = await startCluster({ objects });
    return async () => {
      if ((await cluster.client.find(dependent)) === undefined) throw new Error('the dependent was never there');
      await cluster.client.delete(owner);
      await cluster.settled();
      if ((await cluster.client.find(dependent)) !== undefined) throw new Error('the dependent was not collected');
      await cluster.stop();
    };
  };
}

/** An HTTPS server that answers one GET. */
async function servers([certFile, keyFile, caFile]) {
  const { createServer, request } = await import('node:https');
  const { readFileSync } = await import('node:fs');
  const [cert, key, ca] = [certFile, keyFile, caFile].map((file) => readFileSync(file));
  return async () => {
    const server = createServer({ cert, key }, (_, response) => response.end('{}'));
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    const status = await new Promise((settle, reject) => {
      request({ host: '127.0.0.1', port: server.address().port, ca, agent: false }, (answer) => {
        answer.resume().once('end', () => settle(answer.statusCode));
      })
        .once('error', reject)
        .end();
    });
    return async () => {
      if (status !== 200) throw new Error(`GET answered ${status}`);
      await new Promise((closed) => server.close(closed));
    };
  };
}

const start = await { clusters, servers }[what](rest);
const first = await start();
process.stdout.write('ready\n');
await first();

const later = [];
for (let round = 0; round < Number(rounds); round++) {
  const from = performance.now();
  const end = await start();
  later.push(performance.now() - from);
  await end();
}
process.stdout.write(`${JSON.stringify(later)}\n`);
