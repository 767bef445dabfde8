// Loads `kubegc/testing` as test runners do that give each file a context of its own (Jest, vitest's vmThreads): modules of the
// package in the context, those of Node from outside. Run with --experimental-vm-modules; prints what became of a Secret.
// Such a runner fails when a module is linked that imports another one whose linking is under way, so that two imports at a time are
// an error here, whether these two share a module or not.
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createContext, SourceTextModule, SyntheticModule } from 'node:vm';

const names = [
  'AbortController',
  'AbortSignal',
  'Buffer',
  'Event',
  'EventTarget',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'Uint8Array',
  'ArrayBuffer',
];
const more = [
  'URLSearchParams',
  'clearImmediate',
  'clearTimeout',
  'console',
  'performance',
  'process',
  'queueMicrotask',
];
const timers = ['setImmediate', 'setTimeout', 'structuredClone', 'crypto', 'fetch'];
const context = createContext(
  Object.fromEntries([...names, ...more, ...timers].map((name) => [name, globalThis[name]])),
);
const modules = new Map();
let underWay;

function moduleAt(url) {
  if (!modules.has(url)) modules.set(url, url.startsWith('file:') && !isBuiltin(url) ? inside(url) : outside(url));
  return modules.get(url);
}

async function outside(name) {
  const exported = await import(name);
  const module = new SyntheticModule(Object.keys(exported), () => undefined, { context, identifier: name });
  await module.link(() => undefined);
  for (const key of Object.keys(exported)) module.setExport(key, exported[key]);
  return module;
}

async function inside(url) {
  return new SourceTextModule(await readFile(fileURLToPath(url), 'utf8'), {
    context,
    identifier: url,
    initializeImportMeta: (meta) => void (meta.url = url),
    importModuleDynamically: async (specifier) => {
      if (underWay !== undefined) throw new Error(`${specifier} is imported while ${underWay} is being imported`);
      underWay = specifier;
      const wanted = await moduleAt(resolved(specifier, url));
      if (wanted.status === 'unlinked') await wanted.link(link);
      underWay = undefined;
      await wanted.evaluate();
      return wanted;
    },
  });
}

const resolved = (specifier, from) => (specifier.startsWith('.') ? new URL(specifier, from).href : specifier);
const link = (specifier, referencing) => moduleAt(resolved(specifier, referencing.identifier));

const entry = await moduleAt(import.meta.resolve('kubegc/testing'));
await entry.link(link);
await entry.evaluate();
const { startCluster } = entry.namespace;
const cluster = await startCluster({ objects: process.argv[2] });
await cluster.client.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner' });
await cluster.settled();
const left = await cluster.client.find({ apiVersion: 'v1', kind: 'Secret', name: 'dependent' });
await cluster.stop();
console.log(left === undefined ? 'collected' : 'still there');
