import { openMemoryStore } from '../../../../src/apiserver/storage/embedded/memory-store.ts';
import type { Clock } from '../../../../src/base/time/clock.ts';
import type { HttpRequest, HttpResponse } from '../../../../src/base/http-message.ts';
import type { Random } from '../../../../src/base/random/random.ts';
import type { Send } from '../../../../src/client/rest/interceptor.ts';
import { answer, statusBody } from '../../faults.ts';
import type { ClassifiedRequest } from '../request-class.ts';
import { SimulatedServer, type SimulatedServerOptions, tooLargeVersion } from '../simulated-server.ts';
import { kindNamed } from '../simulated-kinds.ts';
import { StoreBackup } from '../store-backup.ts';
import type { KnownObject, StoredObjects } from '../stored-objects.ts';
import type { LieName, LieStep } from './lie-plan.ts';

/** Changes that the other cluster has had: its versions are ahead. */
const MORE_CHANGES = 300;
const IDENTITY = '/api/v1/namespaces/kube-system';
const NOTHING = new Uint8Array();

export type Cluster = 'own' | 'other';

export interface LiesOptions extends Omit<SimulatedServerOptions, 'store' | 'watches'> {
  readonly clock: Clock;
  readonly random: Random;
  readonly objects: StoredObjects;
  readonly wrong: string[];
}

interface ActiveLie {
  readonly step: LieStep;
  readonly resource: string | undefined;
  readonly until: number;
  readonly before: SimulatedServer | undefined;
  readonly revision: number;
}

/** Replaces answers of the cluster by false ones while a lie lasts. */
export class Lies {
  /** The lies that were given as an answer. */
  readonly told = new Set<LieName>();
  readonly #options: LiesOptions;
  #active: ActiveLie | undefined;
  #other: SimulatedServer | undefined;
  readonly #replicas: SimulatedServer[] = [];

  constructor(options: LiesOptions) {
    this.#options = options;
  }

  /** A process that starts now would take another cluster for its own. */
  get leadsElsewhere(): boolean {
    return this.leadsTo === 'other' || this.#is('otherClusterByRequest');
  }

  /** A lie lasts. */
  get lasts(): boolean {
    return this.#active !== undefined && this.#options.clock.monotonic() < this.#active.until;
  }

  /** Where a new connection leads. */
  get leadsTo(): Cluster {
    return this.#is('otherClusterByConnection') ? 'other' : 'own';
  }

  async begin(step: LieStep, own: SimulatedServer): Promise<void> {
    const { clock } = this.#options;
    const backup = await StoreBackup.of(own.store);
    const keepsOld = /^(?:staleList|laggingReplica)/.test(step.lie);
    const before = keepsOld ? this.#server(backup.open({ clock, bump: false })) : undefined;
    if (before !== undefined) {
      this.#replicas.push(before);
      await before.start();
    }
    if (step.lie.startsWith('otherCluster')) await this.#openOther();
    this.#active = {
      step,
      resource: step.kind === undefined ? undefined : kindNamed(step.kind).gvr.resource,
      until: clock.monotonic() + step.ms,
      before,
      revision: backup.revision,
    };
  }

  end(): void {
    this.#active = undefined;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#replicas, ...(this.#other === undefined ? [] : [this.#other])].map((it) => it.stop()));
  }

  /** The answer that comes over a connection that leads to `leadsTo`. */
  async answer(
    request: HttpRequest,
    classified: ClassifiedRequest,
    { leadsTo, lied, next }: Way,
  ): Promise<HttpResponse> {
    const reads = request.method === 'GET';
    const cluster = reads && this.#is('otherClusterByRequest') ? 'other' : leadsTo;
    if (cluster === 'other') {
      this.told.add(leadsTo === 'other' ? 'otherClusterByConnection' : 'otherClusterByRequest');
    }
    if (request.target.startsWith(IDENTITY)) {
      return answer(200, { metadata: { name: 'kube-system', uid: `uid of the ${cluster} cluster` } });
    }
    if (cluster === 'other') return this.#askOther(request);
    const lie = this.#toldOver(lied, classified.resource);
    if (lie === undefined) return next(request);
    switch (lie.step.lie) {
      case 'emptyList':
      case 'emptyListByConnection':
      case 'staleList':
      case 'staleListByConnection':
        return isWholeList(request) ? this.#falseList(request, lie, next) : next(request);
      case 'laggingReplica':
        return classified.what === 'read' ? this.#lagging(request, lie) : next(request);
      case 'laggingReplicaByConnection':
        return reads ? this.#replica(request, classified, lie) : next(request);
      case 'wrongNotFound':
      case 'wrongNotFoundByConnection':
        if (!this.#isLeaf(request, classified)) return next(request);
        this.told.add(lie.step.lie);
        return notFound(request);
      default:
        return next(request);
    }
  }

  #is(lie: LieStep['lie']): boolean {
    return this.#of('')?.step.lie === lie;
  }

  #of(resource: string): ActiveLie | undefined {
    const active = this.lasts ? this.#active : undefined;
    return active !== undefined && isMeant(active, resource) ? active : undefined;
  }

  /** The lie about this resource over a connection that was opened while it lasted, or was not. */
  #toldOver(lied: boolean, resource: string): ActiveLie | undefined {
    const active = this.#active;
    if (active?.step.lie.endsWith('ByConnection') !== true) return this.#of(resource);
    return lied && isMeant(active, resource) ? active : undefined;
  }

  async #falseList(request: HttpRequest, { step, before }: ActiveLie, next: Send): Promise<HttpResponse> {
    if (request.target.includes('watch=true')) return answer(422, statusBody(422, 'Invalid'));
    const asked = inJson(request);
    const truth = await jsonOf(await next(asked));
    if (truth.status !== 200) return answer(truth.status, truth.value);
    this.told.add(step.lie);
    let items: unknown = null;
    if (before !== undefined) {
      const target = asked.target.replace(/resourceVersion=\d+/, 'resourceVersion=0');
      items = (await jsonOf(await before.handler({ ...asked, target }))).value['items'];
    }
    const { resourceVersion } = truth.value['metadata'] as { resourceVersion: string };
    return answer(200, { ...truth.value, metadata: { resourceVersion }, items });
  }

  #lagging(request: HttpRequest, { step, before, revision }: ActiveLie): Promise<HttpResponse> {
    this.told.add(step.lie);
    const wanted = Number(/[?&]resourceVersion=(\d+)/.exec(request.target)?.[1] ?? 0);
    const target = request.target.replace(/([?&])resourceVersion=\d+/, '$1resourceVersion=0');
    if (wanted <= revision) return before!.handler({ ...request, target });
    return Promise.resolve(tooLargeVersion());
  }

  /** The answer of a replica that has stopped. It waits for a version that it does not come to. */
  #replica(request: HttpRequest, { what }: ClassifiedRequest, lie: ActiveLie): Promise<HttpResponse> {
    if (what === 'read') return this.#lagging(request, lie);
    const wanted = Number(/[?&]resourceVersion=(\d+)/.exec(request.target)?.[1] ?? 0);
    const enumerates = !request.target.includes('watch=true') || request.target.includes('sendInitialEvents=true');
    if (enumerates && wanted > lie.revision) return Promise.resolve(tooLargeVersion());
    this.told.add(lie.step.lie);
    return lie.before!.handler(request);
  }

  #isLeaf({ target }: HttpRequest, { what, resource }: ClassifiedRequest): boolean {
    if (what !== 'read' && what !== 'delete' && what !== 'patch') return false;
    const name = nameIn(target);
    const namespace = /\/namespaces\/([^/?]+)\//.exec(target)?.[1] ?? '';
    const all = [...this.#options.objects.values()];
    const isAt = (object: KnownObject): boolean =>
      object.name === name && object.namespace === namespace && kindNamed(object.kind).gvr.resource === resource;
    const object = all.filter(({ kind }) => kind !== 'Event').find((each) => isKnownKind(each.kind) && isAt(each));
    if (object === undefined || (object.metadata.ownerReferences ?? []).length === 0) return false;
    return !all.some(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === object.uid));
  }

  #askOther(request: HttpRequest): Promise<HttpResponse> {
    const { wrong } = this.#options;
    if (request.method !== 'GET') wrong.push(`a write went to another cluster: ${request.method} ${request.target}`);
    return this.#other!.handler(request);
  }

  async #openOther(): Promise<void> {
    if (this.#other !== undefined) return;
    const store = openMemoryStore({ clock: this.#options.clock });
    this.#other = this.#server(store);
    await this.#other.start();
    for (let index = 0; index < MORE_CHANGES; index++) await store.create(`/elsewhere/${index}`, NOTHING);
  }

  #server(store: SimulatedServerOptions['store']): SimulatedServer {
    return new SimulatedServer({ ...this.#options, store, watches: 'silent' });
  }
}

export interface Way {
  readonly leadsTo: Cluster;
  /** The connection was opened while a lie lasted. */
  readonly lied: boolean;
  readonly next: Send;
}

/** Whether the lie is about this resource; '': about any. */
function isMeant({ resource: meant }: ActiveLie, resource: string): boolean {
  return meant === undefined || resource === '' || meant === resource;
}

function isKnownKind(kind: string): boolean {
  try {
    return kindNamed(kind) !== undefined;
  } catch {
    return false;
  }
}

function isWholeList({ method, target }: HttpRequest): boolean {
  if (method !== 'GET' || /\/namespaces\/[^/?]+\//.test(target)) return false;
  return target.includes('sendInitialEvents=true') || (target.includes('limit=') && !target.includes('watch=true'));
}

function nameIn(target: string): string {
  return target.replace(/\?.*/, '').split('/').at(-1) ?? '';
}

function notFound({ target }: HttpRequest): HttpResponse {
  return answer(404, statusBody(404, 'NotFound', { details: { name: nameIn(target) } }));
}

function inJson(request: HttpRequest): HttpRequest {
  const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  return { ...request, headers: { ...request.headers, accept } };
}

async function jsonOf({ status, body }: HttpResponse): Promise<{ status: number; value: Record<string, unknown> }> {
  const chunks: Uint8Array[] = [];
  if (body instanceof Uint8Array) chunks.push(body);
  else for await (const chunk of body) chunks.push(chunk);
  return { status, value: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> };
}
