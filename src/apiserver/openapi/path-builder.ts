import type { ResourceInfo, SubresourceInfo, Verb } from '../../api/kinds/resource-info.ts';
import type { GroupVersion, GroupVersionKind } from '../../api/meta/group-version-kind.ts';

/**
 * The `paths` of one document. kubectl reads little of it (API-413: on `patch` the kind, the query parameter `fieldValidation` and the
 * media types). Other tools read the operations, so all are present, with short descriptions of parameters.
 */
export interface OperationSchemas {
  /** Returns a reference to the schema of a kind; undefined if the kind has no schema, for example the options of streams. */
  readonly kind: (kind: GroupVersionKind) => string | undefined;
  readonly list: (info: ResourceInfo) => string;
  readonly patch: string;
  readonly deleteOptions: string;
  readonly status: string;
  readonly resourceList: string;
}

export type Paths = Record<string, Record<string, unknown>>;

/** All paths of a group version, sorted. */
export function buildPaths(
  groupVersion: GroupVersion,
  resources: readonly ResourceInfo[],
  schemas: OperationSchemas,
): Paths {
  const root =
    groupVersion.group === '' ? `/api/${groupVersion.version}` : `/apis/${groupVersion.group}/${groupVersion.version}`;
  const names = new OperationNames(groupVersion);
  const paths: Paths = {
    [`${root}/`]: {
      get: {
        tags: [names.tag],
        operationId: `get${names.group}APIResources`,
        description: 'List what the group version serves.',
        responses: { ...answers([200], schemas.resourceList), ...UNAUTHORIZED },
      },
    },
  };
  for (const info of resources) {
    const scoped = info.namespaced ? `${root}/namespaces/{namespace}/${info.resource}` : `${root}/${info.resource}`;
    const writer = new ResourcePaths(info, names, schemas);
    if (info.namespaced && info.verbs.includes('list')) paths[`${root}/${info.resource}`] = writer.allNamespaces();
    paths[scoped] = writer.collection();
    const item = writer.item();
    if (item !== undefined) paths[`${scoped}/{name}`] = item;
    for (const sub of info.subresources) {
      const path = writer.subresource(sub);
      if (path !== undefined) paths[`${scoped}/{name}/${sub.name}`] = path;
    }
  }
  return Object.fromEntries(
    Object.entries(paths)
      .filter(([, operations]) => Object.keys(operations).some((method) => method !== 'parameters'))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

class ResourcePaths {
  readonly #info: ResourceInfo;
  readonly #names: OperationNames;
  readonly #schemas: OperationSchemas;
  readonly #kind: GroupVersionKind;

  constructor(info: ResourceInfo, names: OperationNames, schemas: OperationSchemas) {
    this.#info = info;
    this.#names = names;
    this.#schemas = schemas;
    this.#kind = { group: info.group, version: info.version, kind: info.kind };
  }

  allNamespaces(): Record<string, unknown> {
    return {
      get: this.#operation('list', `${this.#info.kind}ForAllNamespaces`, {
        parameters: LIST_PARAMETERS,
        responses: answers([200], this.#schemas.list(this.#info), this.#listMediaTypes),
      }),
    };
  }

  /** A list of a built-in kind can be asked for as a stream of watch events, in the same words as kube-apiserver's (API-021). */
  get #listMediaTypes(): readonly string[] {
    return this.#info.typeName === undefined ? MEDIA_TYPES : LIST_MEDIA_TYPES;
  }

  collection(): Record<string, unknown> {
    const object = this.#schemas.kind(this.#kind);
    const name = this.#scopedKind();
    const operations: Record<string, unknown> = {};
    if (this.#has('list')) {
      operations['get'] = this.#operation('list', name, {
        parameters: LIST_PARAMETERS,
        responses: answers([200], this.#schemas.list(this.#info), this.#listMediaTypes),
      });
    }
    if (this.#has('create')) {
      operations['post'] = this.#operation('post', name, {
        parameters: WRITE_PARAMETERS,
        requestBody: body(object),
        responses: answers([200, 201, 202], object),
      });
    }
    if (this.#has('deletecollection')) {
      operations['delete'] = this.#operation('deletecollection', name, {
        parameters: [...LIST_PARAMETERS, ...DELETE_PARAMETERS],
        requestBody: optionalBody(this.#schemas.deleteOptions),
        responses: answers([200], this.#schemas.status),
      });
    }
    return { ...operations, parameters: this.#pathParameters('collection') };
  }

  item(): Record<string, unknown> | undefined {
    if (!['get', 'update', 'patch', 'delete'].some((verb) => this.#has(verb as Verb))) return undefined;
    const operations = this.#objectOperations(this.#info.verbs, this.#kind, this.#scopedKind());
    if (this.#has('delete')) {
      operations['delete'] = this.#operation('delete', this.#scopedKind(), {
        parameters: DELETE_PARAMETERS,
        requestBody: optionalBody(this.#schemas.deleteOptions),
        responses: answers(
          [200, 202],
          this.#info.deleteReturnsObject ? this.#schemas.kind(this.#kind) : this.#schemas.status,
        ),
      });
    }
    return { ...operations, parameters: this.#pathParameters('item') };
  }

  /** Undefined for streams and tunnels, whose kind is a set of query parameters. */
  subresource(sub: SubresourceInfo): Record<string, unknown> | undefined {
    const object = this.#schemas.kind(sub.kind);
    if (object === undefined) return undefined;
    const name = `${this.#scopedKind()}${capitalized(sub.name)}`;
    const operations = this.#objectOperations(sub.verbs, sub.kind, name);
    if (sub.verbs.includes('create')) {
      operations['post'] = this.#operation(
        'post',
        name,
        { parameters: WRITE_PARAMETERS, requestBody: body(object), responses: answers([200, 201, 202], object) },
        sub.kind,
      );
    }
    return { ...operations, parameters: this.#pathParameters('item') };
  }

  #objectOperations(verbs: readonly Verb[], kind: GroupVersionKind, name: string): Record<string, unknown> {
    const object = this.#schemas.kind(kind);
    const operations: Record<string, unknown> = {};
    if (verbs.includes('get')) {
      operations['get'] = this.#operation('get', name, { responses: answers([200], object) }, kind);
    }
    if (verbs.includes('update')) {
      operations['put'] = this.#operation(
        'put',
        name,
        { parameters: WRITE_PARAMETERS, requestBody: body(object), responses: answers([200, 201], object) },
        kind,
      );
    }
    if (verbs.includes('patch')) {
      operations['patch'] = this.#operation(
        'patch',
        name,
        {
          parameters: [...WRITE_PARAMETERS, FORCE_PARAMETER],
          requestBody: this.#patchBody(),
          responses: answers([200, 201], object),
        },
        kind,
      );
    }
    return operations;
  }

  /** Custom resources do not support strategic merge; kubectl decides by this list (API-190, API-413). */
  #patchBody(): unknown {
    const mediaTypes = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
    if (this.#info.typeName !== undefined) mediaTypes.push('application/strategic-merge-patch+json');
    const schema = { $ref: this.#schemas.patch };
    return { content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])), required: true };
  }

  #operation(action: string, name: string, rest: Operation, kind: GroupVersionKind = this.#kind): unknown {
    const { verb, does, infix } = ACTIONS[action] ?? { verb: action, does: action, infix: '' };
    return {
      tags: [this.#names.tag],
      description: `${does} ${kind.kind}.`,
      operationId: `${verb}${this.#names.group}${infix}${name}`,
      ...(rest.parameters === undefined ? {} : { parameters: rest.parameters }),
      ...(rest.requestBody === undefined ? {} : { requestBody: rest.requestBody }),
      responses: { ...rest.responses, ...UNAUTHORIZED },
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
    };
  }

  #pathParameters(of: 'collection' | 'item'): unknown[] {
    const parameters: unknown[] = of === 'item' ? [pathParameter('name')] : [];
    if (this.#info.namespaced) parameters.push(pathParameter('namespace'));
    return [...parameters, queryParameter('pretty', 'string')];
  }

  #scopedKind(): string {
    return this.#info.namespaced ? `Namespaced${this.#info.kind}` : this.#info.kind;
  }

  #has(verb: Verb): boolean {
    return this.#info.verbs.includes(verb);
  }
}

interface Operation {
  readonly parameters?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses: Record<string, unknown>;
}

const ACTIONS: Readonly<Record<string, { readonly verb: string; readonly does: string; readonly infix: string }>> = {
  list: { verb: 'list', does: 'List or watch objects of kind', infix: '' },
  get: { verb: 'read', does: 'Read the given', infix: '' },
  post: { verb: 'create', does: 'Create a', infix: '' },
  put: { verb: 'replace', does: 'Replace the given', infix: '' },
  patch: { verb: 'patch', does: 'Change the given', infix: '' },
  delete: { verb: 'delete', does: 'Delete the given', infix: '' },
  deletecollection: { verb: 'delete', does: 'Delete all selected objects of kind', infix: 'Collection' },
};

/** `apps/v1` -> `AppsV1` and `apps_v1`; the suffix `.k8s.io` is dropped. */
class OperationNames {
  readonly group: string;
  readonly tag: string;

  constructor({ group, version }: GroupVersion) {
    const words = (group === '' ? 'core' : group.replace(/\.k8s\.io$/, '')).split(/[.-]/);
    const camel = words.map(capitalized).join('');
    this.group = `${camel}${capitalized(version)}`;
    this.tag = `${camel.charAt(0).toLowerCase()}${camel.slice(1)}_${version}`;
  }
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function pathParameter(name: string): unknown {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

function queryParameter(name: string, type: 'string' | 'boolean' | 'integer'): unknown {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

const FORCE_PARAMETER = queryParameter('force', 'boolean');

const WRITE_PARAMETERS: readonly unknown[] = [
  queryParameter('dryRun', 'string'),
  queryParameter('fieldManager', 'string'),
  queryParameter('fieldValidation', 'string'),
];

const DELETE_PARAMETERS: readonly unknown[] = [
  queryParameter('dryRun', 'string'),
  queryParameter('gracePeriodSeconds', 'integer'),
  queryParameter('orphanDependents', 'boolean'),
  queryParameter('propagationPolicy', 'string'),
];

const LIST_PARAMETERS: readonly unknown[] = [
  queryParameter('allowWatchBookmarks', 'boolean'),
  queryParameter('continue', 'string'),
  queryParameter('fieldSelector', 'string'),
  queryParameter('labelSelector', 'string'),
  queryParameter('limit', 'integer'),
  queryParameter('resourceVersion', 'string'),
  queryParameter('resourceVersionMatch', 'string'),
  queryParameter('sendInitialEvents', 'boolean'),
  queryParameter('timeoutSeconds', 'integer'),
  queryParameter('watch', 'boolean'),
];

const UNAUTHORIZED = { 401: { description: 'Unauthorized' } };

const PHRASES: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

const MEDIA_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'];
const LIST_MEDIA_TYPES = [
  'application/json',
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/yaml',
];

function answers(
  codes: readonly number[],
  ref: string | undefined,
  mediaTypes: readonly string[] = MEDIA_TYPES,
): Record<string, unknown> {
  const content =
    ref === undefined
      ? {}
      : {
          content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: { $ref: ref } }])),
        };
  return Object.fromEntries(codes.map((code) => [code, { description: PHRASES[code], ...content }]));
}

function body(ref: string | undefined): unknown {
  return { ...optionalBody(ref), required: true };
}

function optionalBody(ref: string | undefined): { content: unknown } {
  return { content: { '*/*': ref === undefined ? {} : { schema: { $ref: ref } } } };
}
