/**
 * Chooses the representation of an answer from the Accept header (API-020..026, API-434). Clauses are tried in order of preference, and the
 * first that can be met wins.
 */

export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf';

export const JSON_TYPE: MediaType = 'application/json';
const YAML_TYPE: MediaType = 'application/yaml';
export const PROTOBUF_TYPE: MediaType = 'application/vnd.kubernetes.protobuf';

export type TransformKind = 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

export interface Transform {
  readonly kind: TransformKind;
  /** The version of `meta.k8s.io` that the client requested. */
  readonly version: 'v1' | 'v1beta1';
}

export interface Representation {
  readonly mediaType: MediaType;
  readonly pretty: boolean;
  readonly transform?: Transform;
  /** True if the client leaves out `metadata.managedFields` (API-607). */
  readonly dropsManagers?: true;
}

/** The facts about the result on which clauses depend. */
export interface Representable {
  readonly shape: 'object' | 'list' | 'watch';
  /** Custom resources support protobuf only for their metadata, and `application/*` (API-020). */
  readonly custom: boolean;
  /** Review kinds have no metadata, so neither Table nor PartialObjectMetadata (API-434). */
  readonly hasMetadata: boolean;
  /** True if the server takes `drop=metadata.managedFields`. */
  readonly managersDropped?: boolean;
}

export type Negotiation =
  | { readonly outcome: 'accepted'; readonly representation: Representation }
  | { readonly outcome: 'notAcceptable'; readonly message: string };

interface Clause {
  readonly range: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

const plainTypes = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const streamTypes = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';

/** `userAgent` and the query parameter `pretty` determine the indentation (API-011). */
export function negotiate(accept: string | undefined, target: Representable, pretty = false): Negotiation {
  if (accept === undefined || accept.trim() === '') {
    return { outcome: 'accepted', representation: { mediaType: JSON_TYPE, pretty } };
  }
  let mediaTypeKnown = false;
  for (const clause of parseAccept(accept)) {
    const mediaType = mediaTypeOf(clause.range, target.custom);
    if (mediaType === undefined) continue;
    mediaTypeKnown = true;
    const representation = meet(clause, mediaType, target);
    if (representation !== undefined) {
      // The first clause that is met decides, and YAML has no form for streams.
      if (target.shape === 'watch' && mediaType === YAML_TYPE) {
        return { outcome: 'notAcceptable', message: onlyAccepted(streamTypes) };
      }
      return {
        outcome: 'accepted',
        representation: pretty && !representation.pretty ? { ...representation, pretty } : representation,
      };
    }
  }
  return { outcome: 'notAcceptable', message: notAcceptableMessage(target, mediaTypeKnown) };
}

function notAcceptableMessage(target: Representable, mediaTypeKnown: boolean): string {
  if (mediaTypeKnown || target.custom) {
    return onlyAccepted(plainTypes);
  }
  // Upstream, list and watch are one route, so both offer the streaming forms.
  const available = target.shape === 'object' ? plainTypes : `${plainTypes}, ${streamTypes}`;
  return `406: Not Acceptable\n\nAvailable representations: ${available}`;
}

function onlyAccepted(types: string): string {
  return `only the following media types are accepted: ${types}`;
}

function mediaTypeOf(range: string, custom: boolean): MediaType | undefined {
  switch (range) {
    case 'application/json':
    case '*/*':
      return JSON_TYPE;
    case 'application/yaml':
      return YAML_TYPE;
    case 'application/vnd.kubernetes.protobuf':
      return PROTOBUF_TYPE;
    case 'application/*':
      return custom ? JSON_TYPE : undefined;
    default:
      return undefined;
  }
}

function meet(clause: Clause, mediaType: MediaType, target: Representable): Representation | undefined {
  const parameter = (name: string) => clause.parameters.get(name) ?? '';
  let transform: Transform | undefined;
  const [as, group, version] = [parameter('as'), parameter('g'), parameter('v')];
  if (as !== '' || group !== '' || version !== '') {
    if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
    if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined;
    if (!target.hasMetadata) return undefined;
    if (as === 'Table' && mediaType === PROTOBUF_TYPE) return undefined;
    transform = { kind: as, version };
  }
  const serverVersion = parameter('sv');
  if (serverVersion !== '' && serverVersion !== 'v1') return undefined;
  const stream = parameter('stream');
  // A client that will watch may also request the streaming form of a list or an object, and gets the plain one. YAML has no such form.
  if (stream !== '' && (stream !== 'watch' || mediaType === YAML_TYPE)) return undefined;
  if (target.custom && mediaType === PROTOBUF_TYPE && transform === undefined) return undefined;
  const pretty = clause.parameters.get('pretty') === '1';
  const drops = target.managersDropped === true && dropped(clause).includes('metadata.managedFields');
  return {
    mediaType,
    pretty,
    ...(transform === undefined ? {} : { transform }),
    ...(drops ? { dropsManagers: true } : {}),
  };
}

/** The fields of `drop=a+b`; unknown ones have no effect. */
function dropped({ parameters }: Clause): readonly string[] {
  return parameters.get('drop')?.split('+') ?? [];
}

/** Clauses by descending quality, in their order if equal. Clauses of quality 0 are refusals and are dropped. */
export function parseAccept(accept: string): Clause[] {
  const clauses: Clause[] = [];
  for (const text of accept.split(',')) {
    const [range = '', ...rest] = text.split(';');
    const name = range.trim().toLowerCase();
    if (name === '') continue;
    let quality = 1;
    const parameters = new Map<string, string>();
    for (const parameter of rest) {
      const equals = parameter.indexOf('=');
      if (equals < 0) continue;
      const key = parameter.slice(0, equals).trim().toLowerCase();
      const value = unquote(parameter.slice(equals + 1).trim());
      if (key === 'q') {
        const parsed = Number(value);
        quality = Number.isFinite(parsed) ? parsed : 1;
      } else {
        parameters.set(key, value);
      }
    }
    if (quality > 0) clauses.push({ range: name, quality, parameters });
  }
  return clauses.sort((a, b) => b.quality - a.quality);
}

function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

/**
 * The client requested a single object as a list, or the reverse (API-025). `goType` is upstream's name of the object's type, such as
 * `*v1.Pod`.
 */
export function transformMismatch(
  representation: Representation,
  target: Representable,
  goType: string,
): string | undefined {
  const kind = representation.transform?.kind;
  if (kind === 'PartialObjectMetadataList' && target.shape !== 'list') {
    return `you requested PartialObjectMetadataList, but the requested object is not a list (${goType})`;
  }
  if (kind === 'PartialObjectMetadata' && target.shape === 'list') {
    return `you requested PartialObjectMetadata, but the requested object is a list (${goType})`;
  }
  return undefined;
}

/** Browsers and curl get indented JSON by default (API-011). */
export function wantsPretty(query: URLSearchParams, userAgent: string | undefined): boolean {
  const asked = query.get('pretty');
  if (asked !== null) return asked !== 'false' && asked !== '0';
  if (userAgent === undefined) return false;
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0');
}
