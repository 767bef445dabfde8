import type { KubeObject } from '../../api/meta/object-meta.ts';
import { StatusError } from '../../api/status-error.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';

const PAGE_SIZE = 500;

/** Full objects of one core resource, as one list. */
export interface BodyList {
  /** Plural in the core group. */
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly fieldSelector?: string;
}

/** Reads full objects page by page. Resolves with the server's message if it refuses. The stored objects bound the number of pages. */
export async function readBodies(
  client: RestClient,
  { resource, kind, namespace, fieldSelector }: BodyList,
): Promise<KubeObject[] | StatusError> {
  const found: KubeObject[] = [];
  let token: string | undefined;
  try {
    do {
      const { items, metadata } = await client.list(
        { gvr: { group: '', version: 'v1', resource }, ...(namespace === undefined ? {} : { namespace }) },
        { query: { limit: PAGE_SIZE, continue: token, fieldSelector } },
      );
      for (const item of items) found.push({ ...item, apiVersion: 'v1', kind });
      token = metadata.continue === '' ? undefined : metadata.continue;
    } while (token !== undefined);
    return found;
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
}
