import { newExpired, newTooLargeResourceVersion } from '../../api/status-error.ts';
import { type KeyValue, RevisionCompactedError, RevisionFutureError } from '../storage/interface.ts';
import type * as storage from '../storage/interface.ts';
import { decodeContinueToken, encodeContinueToken, INCONSISTENT } from './continue-token.ts';
import type { ResourceStore } from './resource-store.ts';
import type { Selection } from './selection.ts';
import type { ServedObject } from './object/served-object.ts';

export interface ListRequest {
  readonly selection: Selection;
  /** 0 means no limit. */
  readonly limit: number;
  /** Empty for the first page. */
  readonly continueToken: string;
  /** 0 = newest. */
  readonly revision: number;
  readonly match: '' | 'NotOlderThan' | 'Exact';
}

export interface ListPage {
  /** May be a generator, so that a long list is not in memory a second time. */
  readonly items: Iterable<ServedObject>;
  /** The revision of the items' snapshot. */
  readonly revision: number;
  readonly continueToken?: string;
  /** Only without a selector (API-096). */
  readonly remainingItemCount?: number;
  /** The shards that the list was restricted to. */
  readonly shards?: string | undefined;
}

/** Maximum number of objects that a list with a selector examines in one turn of the event loop. */
const SCAN_PAGE = 2_000;

/** Maximum number of terms of a selector that a list compares in one turn of the event loop: some 20 ms. */
const SCAN_TERMS = 50_000;

/** One page of a list (API-092..099). */
export async function listObjects(resource: ResourceStore, request: ListRequest): Promise<ListPage> {
  const { selection } = request;
  const prefix = resource.prefix(selection.namespace);
  const token = request.continueToken === '' ? undefined : decodeContinueToken(request.continueToken, prefix);
  const exact = token === undefined ? (request.match === 'Exact' ? request.revision : undefined) : token.revision;
  const page: Page = {
    prefix,
    start: token?.startKey,
    revision: exact === INCONSISTENT ? undefined : exact,
    limit: request.limit,
  };
  try {
    const result = await readPage(resource, selection, page);
    if (exact === undefined && request.revision > result.revision) {
      throw newTooLargeResourceVersion(request.revision, result.revision);
    }
    return result;
  } catch (error) {
    if (error instanceof RevisionFutureError) {
      throw newTooLargeResourceVersion(exact ?? request.revision, error.currentRevision);
    }
    if (!(error instanceof RevisionCompactedError)) throw error;
    throw token === undefined
      ? newExpired('The resourceVersion for the provided list is too old.')
      : newExpired(EXPIRED_CONTINUE, encodeContinueToken({ ...token, revision: INCONSISTENT }, prefix));
  }
}

interface Page {
  readonly prefix: string;
  readonly start: string | undefined;
  readonly revision: number | undefined;
  readonly limit: number;
}

async function readPage(resource: ResourceStore, selection: Selection, page: Page): Promise<ListPage> {
  const { store, clock } = resource.environment;
  if (selection.name !== undefined && (selection.namespace !== '' || !resource.info.namespaced)) {
    return pointRead(resource, selection, { ...page, name: selection.name });
  }
  if (selection.everything) {
    const result = await store.list(page.prefix, options(page, page.start, page.limit, page.limit > 0));
    return finish(page, result, { items: served(resource, result.items), last: result.items.at(-1) });
  }
  const suffix = selection.name === undefined ? undefined : `/${selection.name}`;
  const items: ServedObject[] = [];
  let { start } = page;
  let { revision } = page;
  const labels = labelHint(resource, selection);
  const { terms } = selection;
  let compared = 0;
  // The loop is bounded: every round moves `start` past at least one key of one snapshot.
  for (;;) {
    const result: storage.ListResult = await store.list(page.prefix, {
      ...options({ ...page, revision }, start, SCAN_PAGE, false),
      ...labels,
    });
    revision = result.revision;
    // A webhook converts all objects in one call, and only if the selector needs more than metadata.
    const converted = selection.looksInside && resource.convertsRemotely ? await resource.readAll(result.items) : [];
    for (let index = 0; index < result.items.length; index++) {
      const kv = result.items[index]!;
      if (suffix !== undefined && !kv.key.endsWith(suffix)) continue;
      compared += terms;
      if (compared > SCAN_TERMS) {
        compared = terms;
        await new Promise<void>((resolve) => clock.defer(resolve));
      }
      const labels = resource.servesStoredBytes ? selection.judgeLabels(kv.value) : 'unknown';
      if (labels === 'no match') continue;
      const object = converted[index] ?? resource.stored(kv);
      if (!(labels === 'match' ? selection.matchesFields(object) : selection.matches(object))) continue;
      // The text that the selector read is not sent, so it is released; otherwise a long list would keep it until the list is complete.
      object.dropCaches();
      items.push(object);
      if (items.length === page.limit) {
        const more = result.more || index + 1 < result.items.length;
        return finish(page, { ...result, more }, { items, last: kv });
      }
    }
    start = nextStart(result);
    if (start === undefined) return { items, revision };
    await new Promise<void>((resolve) => clock.defer(resolve));
  }
}

/** If labels are the same in every version, the store may skip objects that cannot match. */
function labelHint(resource: ResourceStore, { signature }: Selection): Pick<storage.ListOptions, 'labels'> {
  const selective = signature.low !== 0 || signature.high !== 0;
  return selective && resource.servesStoredBytes ? { labels: signature } : {};
}

function nextStart({ items, more, next }: storage.ListResult): string | undefined {
  const last = items.at(-1);
  if (!more) return undefined;
  return next ?? (last === undefined ? undefined : after(last));
}

function served(resource: ResourceStore, items: readonly KeyValue[]): Iterable<ServedObject> {
  return {
    *[Symbol.iterator]() {
      for (const kv of items) yield resource.stored(kv);
    },
  };
}

/** A list that selects one name reads one key (API-103). */
async function pointRead(
  resource: ResourceStore,
  selection: Selection,
  page: Page & { readonly name: string },
): Promise<ListPage> {
  const { store } = resource.environment;
  const key = resource.key(selection.namespace, page.name);
  let kv: KeyValue | undefined;
  let revision: number;
  if (page.revision === undefined) {
    ({ kv, revision } = await store.get(key));
  } else {
    const result = await store.list(page.prefix, { start: key, limit: 1, revision: page.revision });
    kv = result.items[0]?.key === key ? result.items[0] : undefined;
    ({ revision } = result);
  }
  const object = kv === undefined ? undefined : selection.looksInside ? await resource.read(kv) : resource.stored(kv);
  const items = object !== undefined && selection.matches(object) ? [object] : [];
  return { items, revision };
}

function options(page: Page, start: string | undefined, limit: number, countRemaining: boolean): storage.ListOptions {
  return {
    ...(start === undefined ? {} : { start }),
    ...(limit === 0 ? {} : { limit }),
    ...(page.revision === undefined ? {} : { revision: page.revision }),
    ...(countRemaining ? { countRemaining } : {}),
  };
}

function finish(
  page: Page,
  result: storage.ListResult,
  { items, last }: { readonly items: Iterable<ServedObject>; readonly last: KeyValue | undefined },
): ListPage {
  const { revision } = result;
  if (!result.more || last === undefined) return { items, revision };
  const continueToken = encodeContinueToken({ revision, startKey: after(last) }, page.prefix);
  return {
    items,
    revision,
    continueToken,
    ...(result.remaining === undefined ? {} : { remainingItemCount: result.remaining }),
  };
}

/** The smallest key greater than this one. */
function after(kv: KeyValue): string {
  return `${kv.key}\u0000`;
}

/** The error has a token with which the list continues at the newest state (API-099). */
const EXPIRED_CONTINUE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
