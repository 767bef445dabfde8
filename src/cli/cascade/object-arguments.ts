import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import { findResources } from '../../cascade/snapshot/find-resource.ts';
import type { DiscoveredResource, DiscoveryResult } from '../../client/discovery/discovery.ts';
import { CommandError } from '../process/command-error.ts';
import { readManifests } from '../flags/manifests.ts';
import type { CommandOption } from '../command/command-option.ts';

/** The flags that select the objects of a command. */
export interface ObjectFlags {
  readonly selector?: string;
  readonly filename?: readonly string[];
  /** All objects of the type. */
  readonly all?: boolean;
}

export const objectOptions: readonly CommandOption[] = [
  { flags: '-l, --selector <SELECTOR>', description: 'label selector, with TYPE alone (-l app=web)' },
  { flags: '-f, --filename <FILE>', description: 'objects named by a file or directory', repeatable: true },
];

/** One object by its name, or the objects of a type that match a selector. */
export interface ObjectRequest {
  readonly resource: DiscoveredResource;
  /** Absent for cluster-scoped resources, and for all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  readonly selector?: string;
}

/** A type and a name from the command line; `name` is absent for all objects of the type. */
export interface TypedObject {
  readonly type: string;
  readonly name?: string;
}

/** Parses `TYPE/NAME …`, `TYPE NAME …` or `TYPE[,TYPE…]` with a selector. Throws a {@link CommandError} with kubectl's message. */
export function parseObjectArguments(
  args: readonly string[],
  { selector, filename = [], all = false }: ObjectFlags,
): TypedObject[] {
  if (filename.length > 0) {
    if (args.length === 0) return [];
    throw new CommandError(
      'when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well',
      'Give either -f FILE or TYPE/NAME.',
    );
  }
  const [first] = args;
  if (first === undefined) {
    throw new CommandError(
      'you must provide one or more resources by argument or filename',
      'Give TYPE/NAME, TYPE NAME, TYPE -l SELECTOR or -f FILE.',
    );
  }
  if (args.some((each) => each.includes('/'))) {
    if (selector !== undefined) {
      throw new CommandError('selectors and the all flag cannot be used when passing resource/name arguments');
    }
    return args.map((each) => parseSlashed(each));
  }
  const types = first.split(',').filter((type) => type !== '');
  const names = args.slice(1);
  if (names.length > 0 && selector !== undefined) {
    throw new CommandError('name cannot be provided when a selector is specified', 'Leave one of the two away.');
  }
  if (names.length > 0) return types.flatMap((type) => names.map((name) => ({ type, name })));
  if (selector !== undefined && all) {
    throw new CommandError('setting both --selector and --all is not allowed', 'Leave one of the two away.');
  }
  if (selector === undefined && !all) {
    throw new CommandError(
      'resource(s) were provided, but no name was specified',
      `Give ${types[0]}/NAME, a label selector with -l, or --all.`,
    );
  }
  return types.map((type) => ({ type }));
}

function parseSlashed(text: string): TypedObject {
  const [type = '', name = '', ...rest] = text.split('/');
  if (type !== '' && name !== '' && rest.length === 0) return { type, name };
  throw new CommandError(
    `arguments in resource/name form must have a single resource and name: "${text}"`,
    'Give TYPE/NAME, for example deployment/web.',
  );
}

export interface ResolveOptions {
  readonly discovery: DiscoveryResult;
  readonly namespace: string;
  readonly allNamespaces?: boolean;
}

/** Finds the resources of arguments and files. Throws a {@link CommandError} for a type that the server lacks. */
export async function objectRequests(
  args: readonly string[],
  flags: ObjectFlags,
  options: ResolveOptions,
): Promise<ObjectRequest[]> {
  const typed = parseObjectArguments(args, flags);
  if (flags.filename !== undefined && flags.filename.length > 0) return requestsOfFiles(flags.filename, options);
  return typed.map(({ type, name }) => {
    const resource = resourceOf(options.discovery, type);
    const inNamespace = resource.namespaced && !(options.allNamespaces === true && name === undefined);
    return {
      resource,
      ...(inNamespace ? { namespace: options.namespace } : {}),
      ...(name === undefined ? {} : { name }),
      ...(flags.selector === undefined ? {} : { selector: flags.selector }),
    };
  });
}

/** The resource of a type from the command line. Throws a {@link CommandError}. */
export function resourceOf(discovery: DiscoveryResult, type: string): DiscoveredResource {
  const [first] = findResources(discovery, type);
  if (first !== undefined) return first;
  const unread = [...discovery.failedGroupVersions.keys()];
  throw new CommandError(
    `the server doesn't have a resource type "${type}"`,
    unread.length === 0
      ? 'kubectl api-resources lists the types that it has.'
      : `These groups could not be read and may have it: ${unread.join(', ')}.`,
  );
}

async function requestsOfFiles(
  paths: readonly string[],
  { discovery, namespace }: ResolveOptions,
): Promise<ObjectRequest[]> {
  const manifests = await readManifests(paths);
  return manifests.map(({ file, object: { apiVersion = '', kind = '', metadata } }) => {
    const groupVersion = parseGroupVersion(apiVersion);
    const resource = discovery.resources.find(
      (each) => each.group === groupVersion?.group && each.version === groupVersion.version && each.kind === kind,
    );
    if (resource === undefined) {
      throw new CommandError(
        `${file}: no matches for kind "${kind}" in version "${apiVersion}"`,
        'Install its definition first, or leave the object away.',
      );
    }
    if (metadata?.name === undefined) {
      throw new CommandError(`${file}: a ${kind} has no name`, 'Name the object: what has no name cannot be found.');
    }
    return {
      resource,
      ...(resource.namespaced ? { namespace: metadata.namespace ?? namespace } : {}),
      name: metadata.name,
    };
  });
}
