// Draws docs/pictures/cascade.svg: a terminal session recorded from the built program and a real kubectl, not drawn by hand.
//   KUBECTL=/path/to/kubectl node scripts/terminal-picture.mjs
import { spawn, execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const kubectl = process.env.KUBECTL ?? 'kubectl';
const home = mkdtempSync(join(tmpdir(), 'kubegc-picture-'));
const kubeconfig = join(home, 'kubeconfig');
const server = spawn(
  process.execPath,
  [
    join(root, 'dist/kubegc.js'),
    'up',
    '--store',
    'memory',
    '--listen',
    '127.0.0.1:0',
    '--write-kubeconfig',
    kubeconfig,
    '--log-level',
    'error',
  ],
  { cwd: home, stdio: ['ignore', 'pipe', 'inherit'] },
);

const run = async (args, input) => {
  const child = promisify(execFile)(kubectl, args, { env: { ...process.env, KUBECONFIG: kubeconfig, HOME: home } });
  if (input !== undefined) child.child.stdin.end(input);
  return (await child).stdout.trimEnd();
};

const lines = [];
const show = (kind, text) => lines.push(...text.split('\n').map((line) => ({ kind, text: line })));
const command = async (args, options = {}) => {
  show('command', `kubectl ${options.shown ?? args.join(' ')}`);
  show('output', await run(args, options.input));
};

try {
  await new Promise((resolve, reject) => {
    server.stdout.on('data', (chunk) => String(chunk).includes('kubegc is ready') && resolve());
    server.on('exit', () => reject(new Error('kubegc did not get ready')));
  });
  show('comment', '# an owner, and a Secret that names it in metadata.ownerReferences');
  await command(['create', 'configmap', 'shop']);
  const uid = await run(['get', 'configmap', 'shop', '-o', 'jsonpath={.metadata.uid}']);
  await command(['create', 'secret', 'generic', 'shop-password']);
  const patch = { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', uid }] } };
  await command(['patch', 'secret', 'shop-password', '-p', JSON.stringify(patch)], {
    shown: `patch secret shop-password -p '{"metadata":{"ownerReferences":[{…"name":"shop","uid":"…"}]}}'`,
  });
  show('comment', '# delete the owner, and what it owned follows');
  await command(['delete', 'configmap', 'shop']);
  const deadline = Date.now() + 10_000;
  while ((await run(['get', 'secrets', '-o', 'name'])) !== '' && Date.now() < deadline);
  show('command', 'kubectl get secrets');
  show('output', 'No resources found in default namespace.');
  if ((await run(['get', 'secrets', '-o', 'name'])) !== '') throw new Error('the dependent was not collected');
} finally {
  server.kill('SIGTERM');
  rmSync(home, { recursive: true, force: true });
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const [characterWidth, lineHeight, top, left] = [8.5, 22, 52, 20];
const longest = Math.max(...lines.map(({ kind, text }) => text.length + (kind === 'command' ? 2 : 0)));
const width = Math.ceil(longest * characterWidth) + 2 * left;
const height = top + lines.length * lineHeight + 10;
const rows = lines.map(({ kind, text }, index) => {
  const prompt = kind === 'command' ? '<tspan class="prompt">$ </tspan>' : '';
  return `  <text x="${left}" y="${top + index * lineHeight + 8}" class="${kind}" xml:space="preserve">${prompt}${escape(text)}</text>`;
});
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal session: deleting an owner, and its dependent follows">
  <style>
    text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
    .command { fill: #f0f6fc; } .output { fill: #9da7b3; } .comment { fill: #6e7681; font-style: italic; } .prompt { fill: #3fb950; }
  </style>
  <rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
  <circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/><circle cx="62" cy="20" r="6" fill="#27c93f"/>
${rows.join('\n')}
</svg>
`;
writeFileSync(join(root, 'docs/pictures/cascade.svg'), svg);
console.log('docs/pictures/cascade.svg');
