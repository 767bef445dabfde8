import { isJsonObject } from '../../api/codec/json/json-value.ts';
import {
  newBadRequest,
  newConflict,
  newForbidden,
  newInternalError,
  newNotFound,
  newRequestEntityTooLarge,
  newStatusError,
  newUnsupportedMediaType,
} from '../../api/status-error.ts';
import type { HttpRequest } from '../../base/http-message.ts';
import type { Clock } from '../../base/time/clock.ts';
import { discover, type DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import type { CascadeRecord, CascadeRecordList } from '../documents/cascade-record.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { ConflictPolicy, ManagedPolicy, UndoPlan } from '../documents/undo-plan.ts';
import type { UndoResult } from '../documents/undo-result.ts';
import { isOfAnotherCluster } from '../record/cluster-uid.ts';
import { noteUndo } from '../record/note-undo.ts';
import { RecordError, type RecordErrorCode } from '../record/record-error.ts';
import type { RecordStore } from '../record/record-store.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import { planRecordedUndo } from '../undo/plan-recorded-undo.ts';
import { runUndo, UndoConflictError } from '../undo/run-undo.ts';
import { hasRight, missingRight, type ObjectRight } from './object-rights.ts';
import { objectRightsOf, readRightsOf } from './record-rights.ts';

/** The name of records in the details of a Status. */
const RECORDS = { group: 'kubegc.io', resource: 'cascaderecords' };
/** The body of an undo request has only an id and three words. */
const MOST_BODY_BYTES = 64 * 1024;

/** The body of `POST undo`. */
export interface UndoOrder {
  /** The id of a record, or a prefix of exactly one id. */
  readonly id: string;
  /** `rebuild` unless given. */
  readonly managed?: ManagedPolicy;
  /** `fail` unless given. */
  readonly onConflict?: ConflictPolicy;
  /** Plans and creates nothing. */
  readonly dryRun?: boolean;
}

/** One request about records. */
export interface RecordCall {
  readonly client: RestClient;
  readonly clock: Clock;
  /** Undefined: this server keeps no records. */
  readonly records: RecordStore | undefined;
  readonly request: HttpRequest;
}

/** The records whose objects the user may get, newest first (CAS-062). */
export async function listRecords({ client, records }: RecordCall): Promise<CascadeRecordList> {
  const { records: all } = await fromStore(storeOf(records).list());
  const seesAll = await hasRight(client, { verb: 'get', group: '*', resource: '*' });
  const known = new Map<string, boolean>();
  const items: Omit<CascadeRecord, 'plan'>[] = [];
  for (const record of all) {
    if (!seesAll && (await missingRight(client, readRightsOf(record), known)) !== undefined) continue;
    const { plan: _plan, ...rest } = record;
    items.push(rest);
  }
  return { apiVersion: DOCUMENT_API_VERSION, kind: 'CascadeRecordList', items };
}

/** One record with its plan. */
export async function readRecord(id: string, call: RecordCall): Promise<CascadeRecord> {
  const { client, records } = call;
  const { record } = await readable(id, client, { store: storeOf(records), discovery: await discover(client) });
  return record;
}

/**
 * Brings the objects of a record back, with the rights of the user: `get` and `create` of each kind in its namespace, checked before the
 * first object is created; the server checks each request again.
 */
export async function undoRecord(call: RecordCall): Promise<UndoPlan | UndoResult> {
  const { client, clock, records, request } = call;
  const store = storeOf(records);
  const order = orderOf(request);
  const discovery = await discover(client);
  const { record, objects } = await readable(order.id, client, { store, discovery });
  if (await isOfAnotherCluster(record, client))
    throw newConflict(
      RECORDS,
      record.id,
      `it is of another cluster: ${record.context.name} (${record.context.server})`,
    );
  const { managed = 'rebuild', onConflict = 'fail', dryRun = false } = order;
  const planned = await planRecordedUndo(objects, { id: record.id, managed, onConflict }, { client, clock, discovery });
  if (dryRun) return planned.plan;
  const created = objects.filter((_, i) => planned.plan.objects[i]!.action === 'create');
  await requireRights(client, objectRightsOf(created, 'create', discovery), record.id);
  try {
    // Goes on when the caller goes away.
    const result = await runUndo(planned, { client: client.abortedBy(undefined), clock });
    return await noteUndo({ noteUndo: (id, entry) => fromStore(store.noteUndo(id, entry), id) }, result);
  } catch (error) {
    if (!(error instanceof UndoConflictError)) throw error;
    const causes = error.conflicts.map(({ ref, message }) => ({
      reason: 'FieldValueDuplicate',
      message,
      field: `${ref.resource}/${ref.name}`,
    }));
    throw newStatusError(409, `${error.message}; nothing was created`, {
      reason: 'Conflict',
      details: { group: RECORDS.group, kind: RECORDS.resource, name: record.id, causes: causes.slice(0, MOST_CAUSES) },
    });
  }
}

/** Maximum number of conflicts in an answer. */
const MOST_CAUSES = 100;

function storeOf(records: RecordStore | undefined): RecordStore {
  if (records !== undefined) return records;
  throw newStatusError(404, 'this server keeps no records of deletions', { reason: 'NotFound', details: {} });
}

async function readable(
  id: string,
  client: RestClient,
  { store, discovery }: { readonly store: RecordStore; readonly discovery: DiscoveryResult },
): Promise<{ readonly record: CascadeRecord; readonly objects: readonly RecordedObject[] }> {
  const record = await fromStore(store.read(id), id);
  const objects = await fromStore(store.objects(record.id), record.id);
  await requireRights(client, [...readRightsOf(record), ...objectRightsOf(objects, 'get', discovery)], record.id);
  return { record, objects };
}

async function requireRights(client: RestClient, rights: readonly ObjectRight[], id: string): Promise<void> {
  const missing = await missingRight(client, rights);
  if (missing === undefined) return;
  const { verb, group, resource, namespace } = missing;
  const what = group === '*' ? 'every kind' : group === '' ? resource : `${resource}.${group}`;
  const where = namespace === undefined ? '' : ` in the namespace "${namespace}"`;
  throw newForbidden(RECORDS, id, `it has objects of ${what}${where}, which you may not ${verb}`);
}

/** Errors of records for users. The store's own messages name files of the server, which users must not see. */
const FAULTS: Readonly<Record<Exclude<RecordErrorCode, 'notFound' | 'ambiguous'>, string>> = {
  damaged: 'the record is damaged',
  laterVersion: 'a later version of kubegc wrote the record',
  unreadable: 'the records of this server cannot be read',
  unwritable: 'the records of this server cannot be written',
  key: 'the key of the Secrets in the record is missing or wrong',
  changed: 'an object changed while it was read',
};

/** A RecordError becomes the Status of its code. @param id as the user gave it */
async function fromStore<T>(work: Promise<T>, id = ''): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    if (error.code === 'notFound') throw newNotFound(RECORDS, id);
    if (error.code === 'ambiguous')
      throw newBadRequest(`several records begin with ${JSON.stringify(id)}; give more of the id`);
    throw newInternalError(FAULTS[error.code]);
  }
}

function orderOf({ body, headers }: HttpRequest): UndoOrder {
  const type = headers['content-type'];
  if (typeof type === 'string' && type.split(';')[0]?.trim() !== 'application/json')
    throw newUnsupportedMediaType(`the body of an undo is application/json, not ${type}`);
  if (body !== undefined && body.length > MOST_BODY_BYTES)
    throw newRequestEntityTooLarge(`limit is ${MOST_BODY_BYTES}`);
  let order: Partial<Record<keyof UndoOrder, unknown>>;
  try {
    order = JSON.parse(Buffer.from(body ?? []).toString('utf8')) as typeof order;
  } catch {
    throw newBadRequest('the body is no JSON; give {"id": "ID of a record"}');
  }
  if (!isJsonObject(order)) throw newBadRequest('the body is no object');
  const wrong = Object.entries(order).find(([field, value]) => !isValid(field, value));
  if (wrong !== undefined) throw newBadRequest(`invalid ${wrong[0]} ${JSON.stringify(wrong[1])}`);
  if (order.id === undefined) throw newBadRequest('the body has no id');
  return order as UndoOrder;
}

function isValid(field: string, value: unknown): boolean {
  switch (field) {
    case 'id':
      return typeof value === 'string' && value !== '';
    case 'managed':
      return value === 'rebuild' || value === 'restore';
    case 'onConflict':
      return value === 'skip' || value === 'fail';
    case 'dryRun':
      return typeof value === 'boolean';
    default:
      return false;
  }
}
