// Draws docs/pictures: terminal sessions recorded from the built program and a real kubectl, not drawn by hand.
//   npm run build && KUBECTL=/path/to/kubectl npm run pictures              all of them
//   npm run pictures -- stuck protect                                      some
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalPicture } from './terminal-picture.mjs';
import { TerminalSession } from './terminal-session.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const object = (apiVersion, kind, name, { namespace, spec, data, ...metadata } = {}) => ({
  apiVersion,
  kind,
  metadata: { name, namespace, ...metadata },
  spec,
  data,
});
const ownedBy = (apiVersion, kind, name, uid) => ({ ownerReferences: [{ apiVersion, kind, name, uid }] });

/** A Deployment with two ready pods, and a ConfigMap and a Secret that it owns, in Namespace shop. */
async function shop(session) {
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image: 'nginx' }];
  const namespace = 'shop';
  const spec = {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
  await session.apply([object('v1', 'Namespace', 'shop'), object('apps/v1', 'Deployment', 'web', { namespace, spec })]);
  const owners = ownedBy('apps/v1', 'Deployment', 'web', await session.uidOf('deployment', 'web', '-n', 'shop'));
  await session.apply([
    object('v1', 'ConfigMap', 'web-config', { namespace, ...owners, data: { theme: 'dark' } }),
    object('v1', 'Secret', 'web-password', { namespace, ...owners }),
  ]);
  const ready = ['kubectl', 'get', 'deployment', 'web', '-n', 'shop', '-o', 'jsonpath={.status.readyReplicas}'];
  await session.until(ready, (output) => output === '2');
}

const WITH_PODS = ['--simulate-pods', 'run'];

/** By the name of the file: what the picture shows, flags of the server, and the session. */
const pictures = {
  cascade: {
    label: 'A terminal session: deleting an owner, and its dependent follows',
    async play(session) {
      session.comment('an owner, and a Secret that names it in metadata.ownerReferences');
      await session.command(['kubectl', 'create', 'configmap', 'shop']);
      const uid = await session.uidOf('configmap', 'shop');
      await session.command(['kubectl', 'create', 'secret', 'generic', 'shop-password']);
      const patch = JSON.stringify({ metadata: ownedBy('v1', 'ConfigMap', 'shop', uid) });
      session.show(
        'command',
        `kubectl patch secret shop-password -p '{"metadata":{"ownerReferences":[{…"name":"shop","uid":"…"}]}}'`,
      );
      session.show('output', await session.run(['kubectl', 'patch', 'secret', 'shop-password', '-p', patch]));
      session.comment('delete the owner, and what it owned follows');
      await session.command(['kubectl', 'delete', 'configmap', 'shop']);
      await session.until(['kubectl', 'get', 'secrets', '-o', 'name'], (output) => output === '');
      await session.command(['kubectl', 'get', 'secrets']);
    },
  },
  'before-you-delete': {
    label: 'A terminal session: a preview of a deletion, and the deletion of exactly that',
    flags: WITH_PODS,
    async play(session) {
      await shop(session);
      const shown = await session.command(['kubectl', 'cascade', 'preview', 'deployment/web', '-n', 'shop']);
      const digest = /--digest ([0-9a-f]{12})/.exec(shown)[1];
      session.comment('a preview changes nothing; this deletes what it showed, and nothing else');
      const flags = ['-n', 'shop', '--digest', digest, '--budget', '10'];
      session.shownCommand(['kubectl', 'cascade', 'delete', 'deployment/web', ...flags]);
      const output = await session.run(['kubectl', 'cascade', 'delete', 'deployment/web', ...flags]);
      session.show('output', '…');
      session.show('output', output.slice(output.search(/^Recorded /m)));
    },
  },
  stuck: {
    label: 'A terminal session: why a namespace does not go away, down to the finalizer that nobody serves',
    async play(session) {
      await session.apply([object('v1', 'Namespace', 'shop')]);
      const finalizers = ['databases.acme.example/cleanup'];
      const held = object('v1', 'ConfigMap', 'db', { namespace: 'shop', finalizers });
      await session.apply([held], ['--server-side', '--field-manager', 'acme-operator']);
      await session.command(['kubectl', 'delete', 'namespace', 'shop', '--wait=false']);
      const conditions = ['kubectl', 'get', 'namespace', 'shop', '-o', 'jsonpath={.status.conditions[*].type}'];
      await session.until(conditions, (output) => output.includes('NamespaceFinalizersRemaining'));
      await session.command(['kubectl', 'cascade', 'explain', 'namespace/shop'], { exit: 2 });
    },
  },
  protect: {
    label: 'A terminal session: the deletion of a namespace is refused, because a protected object is in it',
    flags: ['--guard'],
    async play(session) {
      await session.apply([
        object('v1', 'Namespace', 'shop'),
        object('v1', 'ConfigMap', 'orders', { namespace: 'shop' }),
      ]);
      session.comment('the server is kubegc up --guard; kubegc guard does the same for any cluster');
      const reason = 'kubegc.io/protect=holds open orders';
      await session.command(['kubectl', 'annotate', 'configmap', 'orders', '-n', 'shop', reason]);
      session.comment('orders would go with its namespace');
      await session.command(['kubectl', 'delete', 'namespace', 'shop'], { exit: 1 });
      await session.command(['kubectl', 'get', 'configmap', 'orders', '-n', 'shop', '-o', 'name']);
    },
  },
  'take-it-back': {
    label: 'A terminal session: a deletion is recorded, and undone with valid owner references',
    flags: WITH_PODS,
    async play(session) {
      await shop(session);
      session.comment('beside any cluster: it reads only, and records what anybody deletes');
      session.show('command', 'kubegc record -n shop &');
      const recorder = session.spawn(['kubegc', 'record', '-n', 'shop']);
      await recorder.says('records deletions');
      session.show('output', recorder.output());
      await session.command(['kubectl', 'delete', 'deployment', 'web', '-n', 'shop']);
      await recorder.says('recorded ');
      session.show('output', recorder.output().split('\n').at(-1));
      await session.command(['kubectl', 'cascade', 'undelete', 'deployment/web', '-n', 'shop', '--yes']);
    },
  },
  'after-a-restore': {
    label: 'A terminal session: owner references that a restore made stale are found and repaired',
    // As the page recommends: a collector would delete what is to be repaired.
    flags: ['--controllers', '*,-garbage-collector-controller'],
    async play(session) {
      const stale = '5d3c0000-0000-4000-8000-000000000001';
      await session.apply([object('v1', 'Namespace', 'restored')]);
      await session.apply([
        object('v1', 'ConfigMap', 'web', { namespace: 'restored' }),
        object('v1', 'ConfigMap', 'web-config', {
          namespace: 'restored',
          ...ownedBy('v1', 'ConfigMap', 'web', stale),
        }),
      ]);
      session.comment('after a restore every object has a new uid, and references name the old ones');
      await session.command(['kubectl', 'cascade', 'lint', '-n', 'restored'], { exit: 2 });
      await session.command(['kubectl', 'cascade', 'relink', '--live', '-n', 'restored', '--yes']);
      await session.command(['kubectl', 'cascade', 'lint', '-n', 'restored']);
    },
  },
  'for-an-ai-agent': {
    label: 'A session of an agent: a plan, a deletion that only its digest allows, and the undo',
    flags: WITH_PODS,
    async play(session) {
      await shop(session);
      session.comment('an agent calls tools; of each answer a few fields are shown');
      session.shownCommand(['kubegc', 'mcp']);
      const agent = new Client({ name: 'agent', version: '1' });
      const { env } = session;
      await agent.connect(new StdioClientTransport({ command: 'kubegc', args: ['mcp'], env, stderr: 'inherit' }));
      const call = async (tool, input, fields) => {
        const { structuredContent, content } = await agent.callTool({ name: tool, arguments: input });
        session.show('request', `→ ${tool} ${JSON.stringify(input)}`);
        if (structuredContent === undefined) session.show('error', `← ${/^error: .*/m.exec(content[0].text)[0]}`);
        else session.show('output', `← ${JSON.stringify(fields(structuredContent))}`);
        return structuredContent;
      };
      try {
        const input = { objects: ['deployment/web'], namespace: 'shop' };
        const { digest } = await call('plan', input, (plan) => ({
          digest: plan.digest.slice(0, 12),
          byOutcome: plan.summary.byOutcome,
          dataBearing: plan.summary.dataBearing.map(({ ref }) => `${ref.resource}/${ref.name}`),
        }));
        await call('apply_plan', { ...input, digest: '000000000000' }, ({ kind }) => kind);
        session.comment('a person has read the plan and says yes to its digest');
        const { id } = await call('apply_plan', { ...input, digest: digest.slice(0, 12) }, (record) => ({
          id: record.id,
          outcome: record.outcome,
        }));
        await call('undo', { id }, ({ summary }) => ({ summary }));
      } finally {
        await agent.close();
      }
    },
  },
};

const names = process.argv.slice(2);
for (const name of names) if (!(name in pictures)) throw new Error(`no picture is named ${name}`);
for (const [name, { label, flags, play }] of Object.entries(pictures)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const session = await TerminalSession.start(flags);
  try {
    await play(session);
  } finally {
    session.close();
  }
  const file = `docs/pictures/${name}.svg`;
  writeFileSync(join(root, file), terminalPicture(session.lines, label));
  console.log(file);
}
