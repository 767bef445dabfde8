import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, OwnerReference } from '../../api/meta/object-meta.ts';
import { formatTime } from '../../api/meta/time.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { LintFinding, LintReport } from '../documents/lint-report.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import { nameOf } from '../observed/observed-object.ts';
import { finding } from './lint-cluster.ts';

/** A kind from the table of built-in kinds, or from a definition among the manifests. */
export interface ManifestKind {
  /** Plural: `configmaps`. */
  readonly resource: string;
  /** Whether its objects are in namespaces. */
  readonly namespaced: boolean;
}

/** The input of a lint of manifests, besides them. */
export interface ManifestOptions {
  /** Default: the built-in kinds. Definitions among the manifests are added. */
  readonly kindOf?: (apiVersion: string, kind: string) => ManifestKind | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

type Kinds = NonNullable<ManifestOptions['kindOf']>;

/**
 * Problems of ownership that manifests show without a cluster (CAS-041): wrong references, and missing rights for `blockOwnerDeletion`, with
 * the rule that a role needs. Pure.
 */
export function lintManifests(
  objects: readonly KubeObject[],
  { kindOf = builtInKinds(), now }: ManifestOptions,
): LintReport {
  const kinds = withDefinitions(objects, kindOf);
  const findings: LintFinding[] = [];
  for (const object of objects) for (const each of objectFindings(object, { objects, kinds })) findings.push(each);
  for (const each of rightFindings(objects, kinds)) findings.push(each);
  return { apiVersion: DOCUMENT_API_VERSION, kind: 'LintReport', readAt: formatTime(now), source: 'list', findings };
}

interface Context {
  readonly objects: readonly KubeObject[];
  readonly kinds: Kinds;
}

function* objectFindings(object: KubeObject, { objects, kinds }: Context): Generator<LintFinding> {
  const references = object.metadata?.ownerReferences ?? [];
  if (references.length === 0) return;
  const ref = referenceTo(object, kinds);
  const namespaced = kinds(ref.apiVersion, ref.kind)?.namespaced;
  for (const reference of references) {
    const missing = (['apiVersion', 'kind', 'name', 'uid'] as const).filter((field) => !reference[field]);
    if (missing.length > 0) {
      const message = `a reference lacks ${missing.join(', ')}; the server refuses it`;
      yield finding('missingOwnerField', {
        ref,
        message,
        fix: 'Set ownerReferences from a controller, with the live owner.',
      });
      continue;
    }
    const owner = nameOf(reference);
    yield finding('uidInManifest', {
      ref,
      message: `it names ${owner} by the uid ${reference.uid}`,
      fix: 'Leave ownerReferences out of manifests: a collector deletes the object in a cluster where that uid does not exist.',
    });
    if (namespaced === false && kinds(reference.apiVersion, reference.kind)?.namespaced === true) {
      const fix = 'Use a cluster-scoped owner, or remove the reference.';
      yield finding('namespacedOwner', {
        ref,
        message: `${reference.kind} is namespaced, and the dependent is not`,
        fix,
      });
    }
    if (isSelf(object, reference))
      yield finding('selfOwner', { ref, message: 'it owns itself', fix: 'Remove the reference.' });
    const elsewhere = ownerElsewhere(object, reference, { objects, kinds });
    if (elsewhere !== undefined) {
      const fix = 'Use an owner in the same namespace, or one that is cluster-scoped.';
      yield finding('crossNamespaceOwner', { ref, message: `${owner} is in namespace ${elsewhere}`, fix });
    }
  }
  const uids = references.map(({ uid }) => uid);
  const twice = references.find(({ uid }, i) => uid && uids.indexOf(uid) !== i);
  if (twice !== undefined) {
    yield finding('duplicateOwner', {
      ref,
      message: `two references name ${nameOf(twice)}`,
      fix: 'Remove one of the two references.',
    });
  }
  const controllers = references.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const message = `${controllers.map(nameOf).join(' and ')} both claim to be its controller; the server refuses that`;
    yield finding('twoControllers', { ref, message, fix: 'Set controller: false on all but one reference.' });
  }
}

const isSelf = ({ apiVersion, kind, metadata }: KubeObject, reference: OwnerReference): boolean =>
  apiVersion === reference.apiVersion && kind === reference.kind && metadata?.name === reference.name;

/** The namespace of the only manifest that the reference can mean, if it differs from the dependent's. */
function ownerElsewhere(
  { metadata }: KubeObject,
  { apiVersion, kind, name }: OwnerReference,
  { objects, kinds }: Context,
): string | undefined {
  if (kinds(apiVersion, kind)?.namespaced !== true) return undefined;
  const same = objects.filter(
    (each) => each.apiVersion === apiVersion && each.kind === kind && each.metadata?.name === name,
  );
  const namespaces = same.map((each) => each.metadata?.namespace ?? '');
  const own = metadata?.namespace ?? '';
  return same.length === 0 || namespaces.includes(own) ? undefined : namespaces[0];
}

/** One finding for each owner kind whose finalizers no role among the manifests may update. */
function* rightFindings(objects: readonly KubeObject[], kinds: Kinds): Generator<LintFinding> {
  const needed = new Map<string, { group: string; resource: string; by: ObjectReference; owner: string }>();
  for (const object of objects) {
    for (const reference of object.metadata?.ownerReferences ?? []) {
      if (reference.blockOwnerDeletion !== true) continue;
      const { apiVersion = '', kind = '' } = reference;
      const group = parseGroupVersion(apiVersion)?.group ?? '';
      const resource = kinds(apiVersion, kind)?.resource ?? `${kind.toLowerCase()}s`;
      const by = referenceTo(object, kinds);
      if (!needed.has(`${group}/${resource}`))
        needed.set(`${group}/${resource}`, { group, resource, by, owner: nameOf(reference) });
    }
  }
  for (const { group, resource, by, owner } of needed.values()) {
    if (isGranted(objects, group, resource)) continue;
    yield finding('blockOwnerDeletionRight', {
      ref: by,
      message: `blockOwnerDeletion on ${owner} needs the right to update ${resource}/finalizers`,
      fix: `Add to the role of its controller:\n${ruleFor(group, resource)}`,
    });
  }
}

/** The rule as YAML, for a Role or ClusterRole. */
export const ruleFor = (group: string, resource: string): string =>
  `- apiGroups: ["${group}"]\n  resources: ["${resource}/finalizers"]\n  verbs: ["update"]`;

interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs?: readonly string[];
}

function isGranted(objects: readonly KubeObject[], group: string, resource: string): boolean {
  const rules = objects
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
    .flatMap((role) => (role['rules'] ?? []) as readonly PolicyRule[]);
  return rules.some(
    ({ apiGroups = [], resources = [], verbs = [] }) =>
      apiGroups.some((each) => each === '*' || each === group) &&
      resources.some((each) => ['*', '*/finalizers', `${resource}/finalizers`].includes(each)) &&
      verbs.some((each) => each === '*' || each === 'update'),
  );
}

function builtInKinds(): Kinds {
  const kinds = new Map<string, ManifestKind>(
    builtinResources().map(({ group, version, kind, resource, namespaced }) => [
      `${apiVersionOf({ group, version })}/${kind}`,
      { resource, namespaced },
    ]),
  );
  return (apiVersion, kind) => kinds.get(`${apiVersion}/${kind}`);
}

function withDefinitions(objects: readonly KubeObject[], kindOf: Kinds): Kinds {
  const defined = new Map<string, ManifestKind>();
  for (const { kind, ...object } of objects) {
    if (kind !== 'CustomResourceDefinition') continue;
    const { group, scope, names } = (object['spec'] ?? {}) as {
      group?: string;
      scope?: string;
      names?: { kind?: string; plural?: string };
    };
    const resource = names?.plural ?? '';
    defined.set(`${group}/${names?.kind}`, { resource, namespaced: scope === 'Namespaced' });
  }
  return (apiVersion, kind) =>
    kindOf(apiVersion, kind) ?? defined.get(`${parseGroupVersion(apiVersion)?.group ?? ''}/${kind}`);
}

function referenceTo({ apiVersion = '', kind = '', metadata }: KubeObject, kinds: Kinds): ObjectReference {
  const { namespace, name = metadata?.generateName ?? '', uid = '' } = metadata ?? {};
  const resource = kinds(apiVersion, kind)?.resource ?? '';
  return { apiVersion, kind, resource, ...(namespace === undefined ? {} : { namespace }), name, uid };
}
