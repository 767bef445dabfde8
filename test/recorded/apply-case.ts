import { readFileSync } from 'node:fs';

/** One request about the object of its case. */
export interface Step {
  readonly do: 'apply' | 'post' | 'put' | 'merge' | 'json' | 'delete';
  /** The field manager. */
  readonly as: string;
  readonly force?: true;
  /** The spec of a custom resource; the operations of a JSON patch. */
  readonly spec?: unknown;
  /** Fields of the object besides the spec; those of a ConfigMap. */
  readonly with?: Readonly<Record<string, unknown>>;
}

/** The requests of one case, in order. They go to an object of the definition's kind, or to a ConfigMap. */
export interface ApplyCase {
  readonly title: string;
  readonly kind?: 'ConfigMap';
  readonly steps: readonly Step[];
}

/** The answer to a request, without what differs from run to run: uid, versions, times, the name. */
export interface StepAnswer {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly string[];
  readonly warnings?: readonly string[];
  readonly object?: unknown;
  /** Absent: as after the step before it. */
  readonly managers?: Readonly<Record<string, unknown>>;
}

/** Sends one request to a server. */
export type Send = (
  method: string,
  target: string,
  body?: { readonly type: string; readonly text: string },
) => Promise<{ readonly status: number; readonly json: unknown; readonly warnings: readonly string[] }>;

interface Answered {
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { reason?: string; message?: string; field?: string }[] };
  readonly metadata?: Readonly<Record<string, unknown>> & {
    readonly resourceVersion?: string;
    readonly managedFields?: readonly {
      readonly manager?: string;
      readonly operation?: string;
      readonly subresource?: string;
      readonly fieldsV1?: unknown;
    }[];
  };
}

export const APPLIED_KIND = { group: 'example.com', plural: 'widgets', kind: 'Widget' } as const;

/** Plays a case on an object of this name, which does not exist before. The answers, in the order of the steps. */
export async function playApplyCase(each: ApplyCase, name: string, send: Send): Promise<StepAnswer[]> {
  const config = each.kind === 'ConfigMap';
  const { group, plural, kind } = APPLIED_KIND;
  const collection = config
    ? '/api/v1/namespaces/default/configmaps'
    : `/apis/${group}/v1/namespaces/default/${plural}`;
  const head = config ? { apiVersion: 'v1', kind: 'ConfigMap' } : { apiVersion: `${group}/v1`, kind };
  const answers: StepAnswer[] = [];
  let before = '';
  for (const step of each.steps) {
    const target = `${collection}/${name}`;
    const manager = `?fieldManager=${step.as}`;
    const { metadata, ...others } = (step.with ?? {}) as { metadata?: object };
    const fields = { ...others, ...(step.spec === undefined ? {} : { spec: step.spec }) };
    const object = (extra: object = {}): string =>
      JSON.stringify({ ...head, metadata: { name, ...metadata, ...extra }, ...fields });
    let answer: Awaited<ReturnType<Send>>;
    if (step.do === 'post')
      answer = await send('POST', collection + manager, { type: 'application/json', text: object() });
    else if (step.do === 'delete') answer = await send('DELETE', target);
    else if (step.do === 'put') {
      const { metadata: found } = (await send('GET', target)).json as Answered;
      const { resourceVersion } = found ?? {};
      answer = await send('PUT', target + manager, { type: 'application/json', text: object({ resourceVersion }) });
    } else if (step.do === 'apply') {
      const force = step.force === true ? '&force=true' : '';
      answer = await send('PATCH', target + manager + force, { type: 'application/apply-patch+yaml', text: object() });
    } else {
      const text = JSON.stringify(step.do === 'json' ? step.spec : { ...fields, ...(metadata && { metadata }) });
      answer = await send('PATCH', target + manager, {
        type: `application/${step.do === 'json' ? 'json-patch' : 'merge-patch'}+json`,
        text,
      });
    }
    const compact = compactAnswer(answer, name);
    const managers = JSON.stringify(compact.managers);
    if (managers === before) delete compact.managers;
    else if (managers !== undefined) before = managers;
    answers.push(compact);
  }
  return answers;
}

function compactAnswer(
  { status, json, warnings }: Awaited<ReturnType<Send>>,
  name: string,
): { -readonly [Key in keyof StepAnswer]: StepAnswer[Key] } {
  const answered = (json ?? {}) as Answered;
  const nameless = (text: string): string => text.replaceAll(name, 'NAME');
  const warned = warnings.length === 0 ? {} : { warnings: warnings.map(nameless) };
  if (answered.kind === 'Status') {
    const { reason, message, details } = answered;
    const causes = details?.causes?.map((cause) => nameless(`${cause.reason}|${cause.field}|${cause.message}`)).sort();
    return {
      code: status,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message: inOrder(nameless(message)) }),
      ...(causes === undefined ? {} : { causes }),
      ...warned,
    };
  }
  const { metadata, kind: _kind, ...rest } = answered as Answered & { apiVersion?: string };
  delete rest.apiVersion;
  const kept = Object.entries(metadata ?? {}).filter(([key]) => !CHANGING.has(key));
  const object = kept.length === 0 ? rest : { metadata: Object.fromEntries(kept), ...rest };
  const managers = Object.fromEntries(
    (metadata?.managedFields ?? []).map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, subresource].filter((part) => part !== undefined).join(' '),
      fieldsV1,
    ]),
  );
  return {
    code: status,
    ...warned,
    object: sorted(object),
    managers: sorted(managers) as StepAnswer['managers'] & object,
  };
}

/** kube-apiserver lists several errors in the random order of Go's maps. */
function inOrder(message: string): string {
  const listed = /^(.* is invalid: )\[(.*)\]$/s.exec(message);
  if (listed !== null)
    return `${listed[1]}[${listed[2]!
      .split(/, (?=spec\.|metadata\.)/)
      .sort()
      .join(', ')}]`;
  const [head, ...lines] = message.split('\n  ');
  return [head, ...lines.sort()].join('\n  ');
}

const CHANGING = new Set(['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp', 'managedFields']);

/** The value with the members of its objects in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  );
}

export interface RecordedApplyCase extends ApplyCase {
  readonly answers: readonly StepAnswer[];
  /** The reason why our server answers differently on purpose. */
  readonly differs?: string;
}

const file = new URL('apply.jsonl', import.meta.url);

/** The recorded cases, one a line. */
export function recordedApplyCases(): RecordedApplyCase[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedApplyCase);
}
