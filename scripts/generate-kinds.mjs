// Writes the tables of built-in kinds from two JSON documents of facts:
//
//   node scripts/generate-kinds.mjs <types.json> <resources.json>
//
// Only what a default installation serves goes in (API-399): resources of versions without alpha or beta, the kinds of
// those group versions, every type reachable from them, and the types of meta/v1. Each table is one JSON document in one
// string literal: the engine skips over a string when it loads the module and parses it when somebody asks.

import { readFileSync, writeFileSync } from 'node:fs';

const [typesPath, resourcesPath] = process.argv.slice(2);
if (typesPath === undefined || resourcesPath === undefined) {
  console.error('usage: node scripts/generate-kinds.mjs <types.json> <resources.json>');
  process.exit(2);
}

const { kinds, types, kubernetes } = JSON.parse(readFileSync(typesPath, 'utf8'));
const { resources } = JSON.parse(readFileSync(resourcesPath, 'utf8'));

const META = 'apimachinery/pkg/apis/meta/v1';
const EXTENSIONS = 'apiextensions-apiserver/pkg/apis/apiextensions/v1';

/** Types with a JSON form of their own; the tables know them by these short names and have no fields for them. */
const SPECIAL = new Map([
  [`${META}.Time`, 'Time'],
  [`${META}.MicroTime`, 'MicroTime'],
  [`${META}.FieldsV1`, 'FieldsV1'],
  ['apimachinery/pkg/api/resource.Quantity', 'Quantity'],
  ['apimachinery/pkg/util/intstr.IntOrString', 'IntOrString'],
  ['apimachinery/pkg/runtime.RawExtension', 'RawExtension'],
  [`${EXTENSIONS}.JSON`, 'JSON'],
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`, 'JSONSchemaPropsOrBool'],
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`, 'JSONSchemaPropsOrArray'],
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`, 'JSONSchemaPropsOrStringArray'],
  // Table cells: any JSON value; tables have no protobuf form.
  ['interface', 'JSON'],
]);

/** A list whose Go type has a name of its own is a message `{1: items}` in protobuf; the facts do not contain this. */
const isNamedList = (typeName, field) =>
  (field.map === true && field.list === true) || (typeName === `${META}.APIResource` && field.name === 'verbs');

const FLAGS = { pointer: 1, list: 2, map: 4, omitempty: 8, required: 16, inline: 32 };
const NAMED_LIST = 64;

const servedByDefault = (version) => !version.includes('alpha') && !version.includes('beta');

// ---- kinds ----

/** apiVersion -> [package of the types, kinds] */
const kindTable = {};
for (const [key, typeName] of Object.entries(kinds)) {
  const [group, version, kind] = key.split('/');
  if (!servedByDefault(version)) continue;
  const apiVersion = group === '' ? version : `${group === 'meta' ? 'meta.k8s.io' : group}/${version}`;
  const dot = typeName.lastIndexOf('.');
  if (typeName.slice(dot + 1) !== kind) throw new Error(`${key}: the type ${typeName} is not named after its kind`);
  const entry = (kindTable[apiVersion] ??= [typeName.slice(0, dot), []]);
  if (entry[0] !== typeName.slice(0, dot)) throw new Error(`${apiVersion}: types in two packages`);
  entry[1].push(kind);
}

// ---- types ----

const roots = Object.values(kindTable).flatMap(([path, names]) => names.map((name) => `${path}.${name}`));
roots.push(...Object.keys(types).filter((name) => name.startsWith(`${META}.`)));

const reachable = new Set();
const visit = (name) => {
  if (SPECIAL.has(name) || reachable.has(name) || types[name] === undefined) return;
  reachable.add(name);
  for (const field of types[name].fields) visit(field.type);
};
roots.forEach(visit);

const typeNames = [...reachable].sort();
const references = [];
const referenceIndex = new Map();
const reference = (type) => {
  const name = SPECIAL.get(type) ?? type;
  let index = referenceIndex.get(name);
  if (index === undefined) {
    index = references.push(name) - 1;
    referenceIndex.set(name, index);
  }
  return index;
};
// Types come first, so that the index of a type is also its row.
typeNames.forEach(reference);

const EXTRAS = ['patchStrategy', 'patchMergeKey', 'listType', 'listMapKeys', 'mapType', 'enum', 'default', 'format'];

const typeRows = typeNames.map((typeName) => {
  const { fields, ...about } = types[typeName];
  const rows = fields.map((field) => {
    let flags = 0;
    for (const [flag, bit] of Object.entries(FLAGS)) if (field[flag] === true) flags |= bit;
    if (isNamedList(typeName, field)) flags |= NAMED_LIST;
    const extras = {};
    for (const extra of EXTRAS) if (field[extra] !== undefined) extras[extra] = field[extra];
    const row = [field.name, field.number ?? 0, reference(field.type), flags];
    if (Object.keys(extras).length > 0) row.push(extras);
    return row;
  });
  return Object.keys(about).length > 0 ? [rows, about] : [rows];
});

// ---- resources ----

const STANDARD_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const sameList = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);

const STATUS = ['status', ['get', 'patch', 'update']];
const PROXY_VERBS = ['create', 'delete', 'get', 'patch', 'update'];

// The facts hold what `/apis` serves; this is what `/api/v1` serves: [resource, kind, scope, more?].
const CORE = [
  ['bindings', 'Binding', 'N', { verbs: ['create'] }],
  ['componentstatuses', 'ComponentStatus', 'C', { shortNames: ['cs'], verbs: ['get', 'list'] }],
  ['configmaps', 'ConfigMap', 'N', { shortNames: ['cm'] }],
  ['endpoints', 'Endpoints', 'N', { shortNames: ['ep'] }],
  ['events', 'Event', 'N', { shortNames: ['ev'] }],
  ['limitranges', 'LimitRange', 'N', { shortNames: ['limits'] }],
  [
    'namespaces',
    'Namespace',
    'C',
    {
      shortNames: ['ns'],
      verbs: STANDARD_VERBS.filter((verb) => verb !== 'deletecollection'),
      subresources: [['finalize', ['update']], STATUS],
    },
  ],
  [
    'nodes',
    'Node',
    'C',
    { shortNames: ['no'], subresources: [['proxy', PROXY_VERBS, { kind: 'NodeProxyOptions' }], STATUS] },
  ],
  ['persistentvolumeclaims', 'PersistentVolumeClaim', 'N', { shortNames: ['pvc'], subresources: [STATUS] }],
  ['persistentvolumes', 'PersistentVolume', 'C', { shortNames: ['pv'], subresources: [STATUS] }],
  [
    'pods',
    'Pod',
    'N',
    {
      shortNames: ['po'],
      categories: ['all'],
      subresources: [
        ['attach', ['create', 'get'], { kind: 'PodAttachOptions' }],
        ['binding', ['create'], { kind: 'Binding' }],
        ['ephemeralcontainers', ['get', 'patch', 'update']],
        ['eviction', ['create'], { kind: 'Eviction', group: 'policy' }],
        ['exec', ['create', 'get'], { kind: 'PodExecOptions' }],
        ['log', ['get']],
        ['portforward', ['create', 'get'], { kind: 'PodPortForwardOptions' }],
        ['proxy', PROXY_VERBS, { kind: 'PodProxyOptions' }],
        ['resize', ['get', 'patch', 'update']],
        STATUS,
      ],
    },
  ],
  ['podtemplates', 'PodTemplate', 'N'],
  [
    'replicationcontrollers',
    'ReplicationController',
    'N',
    {
      shortNames: ['rc'],
      categories: ['all'],
      subresources: [['scale', ['get', 'patch', 'update'], { kind: 'Scale', group: 'autoscaling' }], STATUS],
    },
  ],
  ['resourcequotas', 'ResourceQuota', 'N', { shortNames: ['quota'], subresources: [STATUS] }],
  ['secrets', 'Secret', 'N'],
  [
    'serviceaccounts',
    'ServiceAccount',
    'N',
    {
      shortNames: ['sa'],
      subresources: [['token', ['create'], { kind: 'TokenRequest', group: 'authentication.k8s.io' }]],
    },
  ],
  [
    'services',
    'Service',
    'N',
    {
      shortNames: ['svc'],
      categories: ['all'],
      subresources: [['proxy', PROXY_VERBS, { kind: 'ServiceProxyOptions' }], STATUS],
    },
  ],
].map(([resource, kind, scope, more = {}]) => ({
  group: '',
  version: 'v1',
  resource,
  kind,
  singular: kind.toLowerCase(),
  namespaced: scope === 'N',
  verbs: STANDARD_VERBS,
  ...more,
  subresources: (more.subresources ?? []).map(([subresource, verbs, other]) => ({
    subresource,
    verbs,
    responseKind: { group: '', version: 'v1', kind, ...other },
  })),
}));

if (resources.some((row) => row.group === '')) throw new Error('the facts hold the core group now: drop CORE here');
// The facts come in the order of API-398.
const resourceRows = [...CORE, ...resources]
  .filter((row) => servedByDefault(row.version))
  .map((row) => {
    const subresources = (row.subresources ?? []).map((sub) => {
      const { group, version, kind } = sub.responseKind;
      return {
        name: sub.subresource,
        verbs: sub.verbs,
        // An empty value means: the same as the resource. The facts name only another group.
        kind: { group: group || row.group, version: version || row.version, kind },
      };
    });
    return {
      group: row.group,
      version: row.version,
      resource: row.resource,
      kind: row.kind,
      singular: row.singular,
      namespaced: row.namespaced,
      ...(sameList(row.verbs, STANDARD_VERBS) ? {} : { verbs: row.verbs }),
      ...(row.shortNames === undefined ? {} : { shortNames: row.shortNames }),
      ...(row.categories === undefined ? {} : { categories: row.categories }),
      ...(subresources.length === 0 ? {} : { subresources }),
    };
  });

// ---- output ----

const header = `// Facts of the Kubernetes 1.36 API surface (names and numbers).
// Generated by scripts/generate-kinds.mjs; do not edit.
`;
const literal = (value) => `'${JSON.stringify(value).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

writeFileSync(
  new URL('../src/api/kinds/types.generated.ts', import.meta.url),
  `${header}
/** JSON of \`{ references: string[], types: [fields, about?][], kinds: { [apiVersion]: [package, kind[]] } }\`. */
export const typesJson: string =
  ${literal({ references, types: typeRows, kinds: kindTable })};
`,
);
writeFileSync(
  new URL('../src/api/kinds/resources.generated.ts', import.meta.url),
  `${header}
/** JSON of the served resources, core group first, then in discovery order (API-398). */
export const resourcesJson: string =
  ${literal(resourceRows)};
`,
);
console.log(`Kubernetes ${kubernetes}: ${typeRows.length} types, ${resourceRows.length} resources`);
