import { X509Certificate } from 'node:crypto';
import {
  fieldDuplicate,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../api/field-error.ts';
import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { quoted } from '../../../api/meta/quoted.ts';
import { formatTime } from '../../../api/meta/time.ts';
import { assert } from '../../../base/errors/assert.ts';
import type { readCertificateRequest } from '../../authentication/certificate-request.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import { type PemBlock, pemBlocks } from '../../../api/formats/pem.ts';
import type { Strategy } from '../strategy.ts';
import { validateSigningSpec } from './certificate-signing-spec.ts';
import { repeatedIndexes } from '../../../base/collections/repeated.ts';

interface RequestCondition {
  readonly type?: string;
  readonly status?: string;
  readonly lastUpdateTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

interface SigningRequest extends KubeObject {
  spec?: Record<string, unknown>;
  status?: { readonly conditions?: readonly RequestCondition[] | null; readonly certificate?: string | null };
}

const APPROVAL_TYPES = ['Approved', 'Denied'];
/** These conditions can only be true, and are permanent. */
const LASTING_TYPES = [...APPROVAL_TYPES, 'Failed'];

let read: typeof readCertificateRequest | undefined;

/**
 * The server records the requester, and the request never changes. `/approval` changes only conditions, `/status` the rest
 * (`pkg/registry/certificates/certificates/strategy.go`, `pkg/apis/certificates/validation`).
 */
export const certificateSigningRequestStrategy: Strategy = {
  async prepareForCreate(request: SigningRequest, { user }) {
    // Preparation runs before validation and loads the ASN.1 parser.
    read ??= (await import('../../authentication/certificate-request.ts')).readCertificateRequest;
    const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = request.spec ?? {};
    request.spec = { ...asked, ...whoAsks(user) };
  },
  prepareForUpdate(next: SigningRequest, previous: SigningRequest, { subresource, now }) {
    next.spec = previous.spec ?? {};
    const before = conditionsOf(previous);
    if (subresource === 'approval') {
      const conditions = timed(conditionsOf(next), before, now);
      const { conditions: _conditions, ...rest } = previous.status ?? {};
      next.status = conditions.length === 0 ? rest : { ...rest, conditions };
    }
    if (subresource === 'status' && conditionsOf(next).length > 0) {
      next.status = { ...next.status, conditions: timed(withApprovalsOf(before, conditionsOf(next)), before, now) };
    }
  },
  validate(request) {
    assert(read !== undefined, 'what is validated was prepared');
    return validateSigningSpec(request, read);
  },
  validateUpdate(next: SigningRequest, previous: SigningRequest, { subresource }) {
    if (subresource === '') return [];
    return [
      ...validateConditions(next, previous),
      ...validateKeptConditions(next, previous, subresource),
      ...validateCertificateUpdate(next, previous),
    ];
  },
};

const conditionsOf = ({ status }: SigningRequest): readonly RequestCondition[] => status?.conditions ?? [];

const ofType = (conditions: readonly RequestCondition[], type: string | undefined): RequestCondition[] =>
  conditions.filter((condition) => condition.type === type);

/** Empty fields are absent, as in every answer of upstream. */
function whoAsks({ username, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    username,
    ...(uid === undefined || uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra: structuredClone(extra) }),
  };
}

/** Uses the stored approvals if the client kept them; validation checks added and missing ones (upstream `preserveConditionInstances`). */
function withApprovalsOf(before: readonly RequestCondition[], next: readonly RequestCondition[]): RequestCondition[] {
  const kept = [...next];
  for (const type of APPROVAL_TYPES) {
    const stored = ofType(before, type);
    if (stored.length !== ofType(next, type).length) continue;
    for (const [i, condition] of next.entries()) if (condition.type === type) kept[i] = stored.shift() ?? condition;
  }
  return kept;
}

/** Sets times that the client has left out. The transition time changes only with the status (upstream `populateConditionTimestamps`). */
function timed(
  next: readonly RequestCondition[],
  before: readonly RequestCondition[],
  now: number,
): RequestCondition[] {
  const time = formatTime(now);
  return next.map((condition) => {
    const same = ofType(before, condition.type).find(
      ({ status, lastTransitionTime }) => status === condition.status && Boolean(lastTransitionTime),
    );
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? time,
    };
  });
}

/** Follows upstream `validateConditions`: errors that the stored ones already have are accepted. */
function validateConditions(next: SigningRequest, previous: SigningRequest): FieldError[] {
  const [conditions, before] = [conditionsOf(next), conditionsOf(previous)];
  const toleratesBoth = APPROVAL_TYPES.every((type) => ofType(before, type).length > 0);
  const toleratesTwins = new Set(before.map(({ type }) => type)).size < before.length;
  const toleratesEmpty = before.some(({ type = '' }) => type === '');
  const repeated = repeatedIndexes(conditions.map(({ type = '' }) => type));
  const decided = new Set<string>();
  return conditions.flatMap(({ type = '', status = '' }, i) => {
    const path = `status.conditions[${i}]`;
    if (APPROVAL_TYPES.includes(type)) decided.add(type);
    const opposite = APPROVAL_TYPES.includes(type) && decided.size > 1;
    return [
      ...(type === '' && !toleratesEmpty ? [fieldRequired(`${path}.type`)] : []),
      ...validateStatusValue(`${path}.status`, type, status),
      ...(opposite && !toleratesBoth
        ? [fieldInvalid('status.conditions', type, 'Approved and Denied conditions are mutually exclusive')]
        : []),
      ...(repeated.has(i) && !toleratesTwins ? [fieldDuplicate(`${path}.type`, type)] : []),
    ];
  });
}

function validateStatusValue(path: string, type: string, status: string): FieldError[] {
  if (status === '') return [fieldRequired(path)];
  const supported = LASTING_TYPES.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
  return supported.includes(status) ? [] : [fieldNotSupported(path, status, supported)];
}

/** A decision cannot be revoked, and only `/approval` makes one. */
function validateKeptConditions(next: SigningRequest, previous: SigningRequest, subresource: string): FieldError[] {
  const more = (type: string): number =>
    ofType(conditionsOf(next), type).length - ofType(conditionsOf(previous), type).length;
  const refusal = (verb: string) => (type: string) =>
    fieldForbidden('status.conditions', `updates may not ${verb} a condition of type ${quoted(type)}`);
  const added = subresource === 'approval' ? [] : APPROVAL_TYPES.filter((type) => more(type) > 0);
  return [...LASTING_TYPES.filter((type) => more(type) < 0).map(refusal('remove')), ...added.map(refusal('add'))];
}

/** Preparation of `/approval` has restored the certificate, so a change comes from `/status`. */
function validateCertificateUpdate(next: SigningRequest, previous: SigningRequest): FieldError[] {
  const [certificate, before] = [next.status?.certificate ?? '', previous.status?.certificate ?? ''];
  if (certificate === before) return [];
  const path = 'status.certificate';
  const why = faultOfCertificates(before) === undefined ? faultOfCertificates(certificate) : undefined;
  return [
    ...(why === undefined ? [] : [fieldInvalid(path, '<certificate data>', why)]),
    ...(before === '' ? [] : [fieldForbidden(path, 'updates may not modify existing certificate content')]),
  ];
}

/** The error if a text in base64 is not PEM blocks of certificates only (upstream `validateCertificate`). An empty text is valid. */
function faultOfCertificates(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  return blocks.map(faultOfBlock).find((fault) => fault !== undefined);
}

function faultOfBlock({ type, lines }: PemBlock): string | undefined {
  if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quoted(type)}`;
  if (lines.some((line) => line.includes(':'))) return 'no PEM block headers are permitted';
  const der = Buffer.from(lines.join(''), 'base64');
  if (der.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
  return areCertificates(der) ? undefined : 'x509: malformed certificate';
}

/**
 * Certificates follow each other directly. The block must be an ASN.1 sequence, because the class would also parse PEM inside the block.
 */
function areCertificates(der: Buffer): boolean {
  try {
    for (let rest = der; rest.length > 0;) rest = rest.subarray(new X509Certificate(rest).raw.length);
    return true;
  } catch {
    return false;
  }
}
