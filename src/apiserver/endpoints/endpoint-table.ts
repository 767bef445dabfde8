import type { ResourceInfo, Verb } from '../../api/kinds/resource-info.ts';
import { handleBinding, handleBindings } from './subresources/binding.ts';
import { handleConnect } from './verbs/connect.ts';
import { handleCreate } from './verbs/create.ts';
import { handleDeleteCollection } from './verbs/delete-collection.ts';
import { handleDelete } from './verbs/delete.ts';
import { handleEviction } from './subresources/eviction.ts';
import { handleGet } from './verbs/get.ts';
import { handleList } from './verbs/list.ts';
import { handleFinalize } from './subresources/namespace-finalize.ts';
import { handlePatch } from './verbs/patch.ts';
import type { Endpoint, EndpointTable } from './resource-handler.ts';
import { reviewEndpoint, type Reviewer } from './subresources/review.ts';
import { handleGetScale, handlePatchScale, handleUpdateScale } from './subresources/scale.ts';
import { handleUpdate } from './verbs/update.ts';
import { handleWatch } from './verbs/watch.ts';

const objectEndpoints: Readonly<Record<Verb, Endpoint>> = {
  create: handleCreate,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
  get: handleGet,
  list: handleList,
  patch: handlePatch,
  update: handleUpdate,
  watch: handleWatch,
};

type Endpoints = Partial<Record<Verb, Endpoint>>;

/** Subresources of the object's own kind. They read the whole object and write their part, which the strategy knows. */
const ownKindEndpoints: Endpoints = { get: handleGet, patch: handlePatch, update: handleUpdate };

/** Subresources with an endpoint of their own, by name. A name has the same meaning for every kind. */
const subresourceEndpoints: Readonly<Record<string, Endpoints>> = {
  scale: { get: handleGetScale, patch: handlePatchScale, update: handleUpdateScale },
  finalize: { update: handleFinalize },
  binding: { create: handleBinding },
  eviction: { create: handleEviction },
};

/** Subresources that would connect to a kubelet. */
const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

export interface EndpointTableOptions {
  /** Answers the kinds that can only be created. */
  readonly reviewer: Reviewer;
  /** `POST serviceaccounts/<n>/token`. */
  readonly token: Endpoint;
}

/** Rows of endpoints. */
export function endpointTable({ reviewer, token }: EndpointTableOptions): EndpointTable {
  const review = reviewEndpoint(reviewer);
  return {
    find(info: ResourceInfo, subresource: string, verb: Verb): Endpoint | undefined {
      if (subresource === '') {
        if (verb !== 'create' || !isCreateOnly(info)) return objectEndpoints[verb];
        return info.group === '' && info.resource === 'bindings' ? handleBindings : review;
      }
      if (connections.has(subresource)) return handleConnect;
      if (subresource === 'token') return token;
      return (subresourceEndpoints[subresource] ?? ownKindEndpoints)[verb];
    },
  };
}

function isCreateOnly(info: ResourceInfo): boolean {
  return info.verbs.length === 1 && info.verbs[0] === 'create';
}
