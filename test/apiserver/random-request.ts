import { typeNameOf } from '../../src/api/kinds/type-table.ts';
import { encodeProtobuf } from '../../src/api/codec/protobuf/protobuf.ts';
import { stringifyYaml } from '../../src/api/codec/yaml/yaml.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { HttpRequest } from '../../src/base/http-message.ts';
import type { Random } from '../../src/base/random/random.ts';
import { typedObject } from '../arbitraries/typed-object.ts';
import type { Sample } from './samples.ts';

/**
 * Requests that are nearly right: a valid one in which something was changed, in its path, query, headers, tree or bytes. The server
 * refuses a request early if much of it is wrong; one that is nearly right gets far.
 */

const USUAL = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const METHODS = [...USUAL, ...USUAL, ...USUAL, 'PATCH', 'HEAD', 'NONSENSE'];
const SUBRESOURCES = ['status', 'scale', 'eviction', 'binding', 'finalize', 'token', 'log', 'approval', 'nonsense'];
const SEGMENTS = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2F',
  '%00',
  '%',
  '%zz',
  '%ff',
  'constructor',
  '__proto__',
  'v9',
  'ä',
  '🙂',
];
const PATHS = [
  '/',
  '/api',
  '/apis',
  '/apis/apps',
  '/api/v1',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/version',
  '/healthz',
];

const STRINGS = [
  '',
  'a',
  'A b',
  '0',
  '-1',
  '1e9',
  'null',
  'true',
  '\u0000',
  'ünï ☃ 𝄞',
  '\ud800',
  '../x',
  'x'.repeat(300),
  '$(A)',
];
const NUMBERS = [0, -1, 1.5, 1e300, 2 ** 53, -(2 ** 31) - 1, 65_536];
const KEYS = ['', '__proto__', 'constructor', 'toString', '$patch', '$retainKeys', 'metadata', 'name', 'a/b', 'ключ'];
const QUERIES: readonly (readonly [string, readonly string[]])[] = [
  ['limit', ['1', '0', '-1', 'x', '9'.repeat(30)]],
  ['continue', ['x', '', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0']],
  ['resourceVersion', ['', '0', '1', '5', '99999', '-1', 'x']],
  ['resourceVersionMatch', ['', 'Exact', 'NotOlderThan', 'x']],
  ['labelSelector', ['a', 'a=b', 'a in (b,', '!a', 'a>1', '=', 'constructor', 'a notin (b)']],
  ['fieldSelector', ['metadata.name=a', 'metadata.namespace!=default', 'spec.nodeName=', 'x=y', '=', 'a=\\']],
  ['watch', ['1', 'false', 'x']],
  ['allowWatchBookmarks', ['true']],
  ['sendInitialEvents', ['true', 'false']],
  ['timeoutSeconds', ['1', '-1', 'x', '']],
  ['timeout', ['1s', '0', 'x', '-5s']],
  ['dryRun', ['All', '', 'x']],
  ['fieldValidation', ['Strict', 'Warn', 'Ignore', 'x']],
  ['fieldManager', ['m', '\u0001', 'm'.repeat(200)]],
  ['force', ['true', 'x']],
  ['pretty', ['true', 'x']],
  ['includeObject', ['None', 'Object', 'Metadata', 'x']],
  ['gracePeriodSeconds', ['0', '-5', '30', 'x']],
  ['propagationPolicy', ['Foreground', 'Background', 'Orphan', 'x']],
  ['orphanDependents', ['true', 'false', 'x']],
  ['verbose', ['']],
];
const AS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList', 'Nosuch'];
const ACCEPTS = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  '*/*',
  'text/html',
  'application/*',
  ';;;',
  ',',
  'application/json;q=x',
  'application/json;stream=watch',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  ...AS.map((as) => `application/json;as=${as};g=meta.k8s.io;v=v1`),
  ...AS.map((as) => `application/yaml;as=${as};g=meta.k8s.io;v=v1beta1`),
  ...AS.map((as) => `application/vnd.kubernetes.protobuf;as=${as};g=meta.k8s.io;v=v1,application/json`),
];
const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const PATCH_TYPES = ['json-patch', 'merge-patch', 'strategic-merge-patch'].map((name) => `application/${name}+json`);
const APPLY_TYPE = 'application/apply-patch+yaml';
const CONTENT_TYPES = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE, ...PATCH_TYPES, APPLY_TYPE, 'text/plain'];

type Tree = Record<string, unknown>;

function chance(random: Random, probability: number): boolean {
  return random.float() < probability;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function anything(random: Random, depth = 0): unknown {
  switch (random.integer(depth > 2 ? 5 : 8)) {
    case 0:
      return null;
    case 1:
      return chance(random, 0.5);
    case 2:
      return random.pick(NUMBERS);
    case 3:
    case 4:
      return random.pick(STRINGS);
    case 5:
      return Array.from({ length: random.integer(3) }, () => anything(random, depth + 1));
    case 6:
      return [random.pick([{ name: 'c' }, { uid: 'u' }, { $patch: 'delete' }, { name: 'c', $patch: 'replace' }, null])];
    default:
      return withKey({}, random.pick(KEYS), anything(random, depth + 1));
  }
}

/** As JSON.parse would: `__proto__` is a key like any other. */
function withKey(tree: Tree, key: string, value: unknown): Tree {
  Object.defineProperty(tree, key, { value, enumerable: true, configurable: true, writable: true });
  return tree;
}

/** Every place in a tree: its container and key. */
function placesOf(value: unknown, found: [Tree | unknown[], string][] = []): [Tree | unknown[], string][] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push([value as Tree, key]);
    placesOf((value as Tree)[key], found);
  }
  return found;
}

/** Changes a tree in place, in one spot. */
function mutateTree(random: Random, tree: Tree): void {
  const places = placesOf(tree);
  if (places.length === 0) return;
  const [container, key] = random.pick(places);
  switch (random.integer(4)) {
    case 0:
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else delete container[key];
      return;
    case 1:
      if (Array.isArray(container)) container.push(structuredClone(container[Number(key)]));
      else withKey(container, random.pick(KEYS), anything(random));
      return;
    default:
      withKey(container as Tree, key, anything(random));
  }
}

function mutateBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes);
  if (copy.length === 0) return Buffer.from(random.bytes(4));
  const at = random.integer(copy.length);
  switch (random.integer(4)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      copy[at] = random.integer(256);
      return copy;
    case 2:
      return Buffer.concat([copy.subarray(0, at), random.bytes(1 + random.integer(3)), copy.subarray(at)]);
    default:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.min(copy.length, at + 1 + random.integer(8)))]);
  }
}

function encode(random: Random, tree: unknown): { bytes: Uint8Array; type: string } {
  const type = random.pick([JSON_TYPE, JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE]);
  try {
    if (type === PROTOBUF_TYPE) return { bytes: encodeProtobuf(tree as KubeObject), type };
    if (type === YAML_TYPE) return { bytes: Buffer.from(stringifyYaml(tree)), type };
  } catch {
    // A tree that the codec cannot hold is sent as JSON.
  }
  return { bytes: Buffer.from(JSON.stringify(tree)), type: JSON_TYPE };
}

function wholeObject(random: Random, sample: Sample): Tree {
  const typeName = typeNameOf(sample.apiVersion, sample.kind);
  const typed = typeName !== undefined && chance(random, 0.2) ? typedObject(random, typeName) : {};
  const { metadata } = sample.object;
  const tree: Tree = { ...typed, ...structuredClone({ ...sample.object }) };
  if (isTree(typed['metadata'])) {
    const { resourceVersion: _version, ...others } = typed['metadata'];
    tree['metadata'] = { ...others, name: metadata?.name };
  }
  return { apiVersion: sample.apiVersion, kind: sample.kind, ...tree };
}

function pointer(random: Random, tree: unknown): string {
  let value = tree;
  let text = '';
  while (typeof value === 'object' && value !== null && !chance(random, 0.2)) {
    const keys = Object.keys(value);
    if (keys.length === 0) break;
    const key = random.pick(keys);
    text += `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    value = (value as Tree)[key];
  }
  return chance(random, 0.2) ? `${text}/${random.pick([...KEYS, '-', '0', '99', '~2'])}` : text;
}

function patchOf(random: Random, type: string, tree: Tree): unknown {
  if (type === PATCH_TYPES[0]) {
    return Array.from({ length: random.integer(5) }, () => ({
      op: random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
      path: pointer(random, tree),
      from: pointer(random, tree),
      value: anything(random),
    }));
  }
  // A part of the object, changed.
  const part: Tree = {};
  for (const key of Object.keys(tree)) if (chance(random, 0.5)) withKey(part, key, structuredClone(tree[key]));
  mutateTree(random, part);
  return part;
}

/** An applied configuration: the object, with or without a part of it, changed. */
function applied(random: Random, tree: Tree): Uint8Array {
  for (const key of ['data', 'spec', 'status']) if (chance(random, 0.3)) delete tree[key];
  for (let changes = random.integer(3); changes > 0; changes--) mutateTree(random, tree);
  return Buffer.from(chance(random, 0.5) ? JSON.stringify(tree) : stringifyYaml(tree));
}

function deleteOptions(random: Random): Tree {
  const options: Tree = {};
  if (chance(random, 0.5))
    options['propagationPolicy'] = random.pick(['Foreground', 'Background', 'Orphan', 'x', null, 3]);
  if (chance(random, 0.2)) options['orphanDependents'] = random.pick([true, false, null, 'x']);
  if (chance(random, 0.3)) options['gracePeriodSeconds'] = random.pick([0, -5, 30, 1e12, 1.5, null, 'x']);
  if (chance(random, 0.2))
    options['preconditions'] = random.pick([{ uid: 'x' }, { resourceVersion: '1' }, {}, null, 3]);
  if (chance(random, 0.3)) options['dryRun'] = random.pick([['All'], ['x'], [], 'All']);
  if (chance(random, 0.3)) return { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
  return options;
}

function bodyOf(random: Random, method: string, sample: Sample): { bytes: Uint8Array; type: string } | undefined {
  if (method === 'GET' || method === 'HEAD')
    return chance(random, 0.05) ? encode(random, deleteOptions(random)) : undefined;
  if (method === 'DELETE') return chance(random, 0.5) ? encode(random, deleteOptions(random)) : undefined;
  const tree = wholeObject(random, sample);
  // The sample exists, so that most creates need another name to get far.
  if (method === 'POST' && isTree(tree['metadata']) && chance(random, 0.7)) {
    tree['metadata']['name'] = `n${random.integer(1_000_000)}`;
  }
  if (method === 'PATCH') {
    if (chance(random, 0.3)) return { bytes: applied(random, tree), type: APPLY_TYPE };
    const type = random.pick(PATCH_TYPES);
    return { bytes: Buffer.from(JSON.stringify(patchOf(random, type, tree))), type };
  }
  for (let changes = random.integer(4); changes > 0; changes--) mutateTree(random, tree);
  return encode(random, tree);
}

function targetOf(random: Random, method: string, sample: Sample): string {
  if (chance(random, 0.03)) return random.pick(PATHS);
  let path = sample.collection;
  const onObject = method !== 'POST' && chance(random, method === 'GET' ? 0.4 : 0.9);
  if (onObject) path += `/${sample.object.metadata?.name ?? ''}`;
  if (chance(random, 0.15)) path += `/${onObject ? '' : 'x/'}${random.pick(SUBRESOURCES)}`;
  if (chance(random, 0.1)) {
    const segments = path.split('/');
    segments[random.integer(segments.length)] = random.pick(SEGMENTS);
    path = segments.join('/');
  }
  // Without a manager every apply is refused.
  const query: string[] = method === 'PATCH' ? [`fieldManager=${random.pick(['m', 'n'])}`] : [];
  for (let i = random.integer(chance(random, 0.5) ? 3 : 1); i > 0; i--) {
    const [name, values] = random.pick(QUERIES);
    query.push(`${name}=${encodeURIComponent(random.pick(values))}`);
  }
  if (chance(random, 0.02)) query.push(random.pick(['%', '&&', '=', '%zz=%zz', '?']));
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** A request about `sample`, which may or may not exist. */
export function randomRequest(random: Random, sample: Sample): HttpRequest {
  const method = random.pick(METHODS);
  const body = bodyOf(random, method, sample);
  const headers: Record<string, string> = {};
  if (chance(random, 0.3)) headers['accept'] = random.pick(ACCEPTS);
  if (chance(random, 0.05)) headers['accept-encoding'] = 'gzip';
  if (chance(random, 0.05)) headers['user-agent'] = 'curl/8';
  if (chance(random, 0.05)) headers['audit-id'] = random.pick(['x', '', 'y'.repeat(1000)]);
  if (body !== undefined) {
    headers['content-type'] = chance(random, 0.03) ? random.pick(CONTENT_TYPES) : body.type;
    if (chance(random, 0.02)) delete headers['content-type'];
  }
  const request: HttpRequest = { method, target: targetOf(random, method, sample), headers };
  if (body === undefined) return request;
  return { ...request, body: chance(random, 0.15) ? mutateBytes(random, body.bytes) : body.bytes };
}
