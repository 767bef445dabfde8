import { apiVersionOf, type GroupVersionKind } from '../../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';

type OptionType = 'bool' | 'string' | 'strings' | 'integers';

const streams = { stdin: 'bool', stdout: 'bool', stderr: 'bool', tty: 'bool', container: 'string' } as const;
const proxied = { path: 'string' } as const;

/** The kinds that exist only as the query of a connection, and so are not in the type table. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, OptionType>>>> = {
  PodAttachOptions: streams,
  PodExecOptions: { ...streams, command: 'strings' },
  PodPortForwardOptions: { ports: 'integers' },
  PodProxyOptions: proxied,
  ServiceProxyOptions: proxied,
  NodeProxyOptions: proxied,
};

/** The query of a connection as the options object of its kind, for admission. `path` is the proxied path. */
export function connectOptions(kind: GroupVersionKind, query: URLSearchParams, path: string): KubeObject {
  const options: KubeObject = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  for (const [name, type] of Object.entries(OPTIONS[kind.kind] ?? {})) {
    const given = name === 'path' && path !== '' ? [`/${path}`] : query.getAll(name);
    if (given.length > 0) options[name] = valueOf(given, type);
  }
  return options;
}

function valueOf(given: readonly string[], type: OptionType): unknown {
  const [first = ''] = given;
  if (type === 'bool') return first !== 'false' && first !== '0';
  if (type === 'string') return first;
  if (type === 'strings') return given;
  return given.map(Number).filter(Number.isInteger);
}
