import { typeNameOf } from '../kinds/type-table.ts';
import type { KubeObject, ManagedFieldsEntry } from '../meta/object-meta.ts';
import { applyDefaults } from '../schema/defaults/defaults.ts';
import { decodeTyped } from '../schema/decoding/typed-decoding.ts';
import { applyConfiguration } from './apply.ts';
import { conflictError } from './conflicts.ts';
import { schemaOf } from './schema.ts';
import type { TrackedPart } from './tracked-fields.ts';
import { trackUpdate } from './update-managers.ts';
import { validateTyped } from './validate-typed.ts';

const ALL_BUT_STATUS: TrackedPart = { part: 'allBut', members: ['status'] };

interface Writer {
  readonly manager: string;
  readonly force?: boolean;
  readonly subresource?: string;
}

/** Simulates a server: several managers write one object, one second apart. */
export class ApplyScenario {
  object: KubeObject | undefined;
  readonly #apiVersion: string;
  readonly #kind: string;
  readonly #typeName: string;
  #now = Date.UTC(2026, 10, 21, 12, 0, 0);

  constructor(apiVersion: string, kind: string) {
    this.#apiVersion = apiVersion;
    this.#kind = kind;
    this.#typeName = typeNameOf(apiVersion, kind)!;
  }

  get #empty(): KubeObject {
    return this.#decode({});
  }

  #decode(object: object): KubeObject {
    return decodeTyped({ ...object, apiVersion: this.#apiVersion, kind: this.#kind }, this.#typeName).object;
  }

  /** Applies these fields. Throws a conflict as the server would send it. */
  apply(fields: object, { manager, force = false, subresource = '' }: Writer): this {
    this.#now += 1000;
    const config = { metadata: { name: 'x' }, ...fields, apiVersion: this.#apiVersion, kind: this.#kind };
    const type = schemaOf(this.#typeName);
    validateTyped(config, type);
    const emptyLive = this.#empty;
    const applied = applyConfiguration({
      live: this.object ?? emptyLive,
      emptyLive,
      config,
      manager: { name: manager, operation: 'Apply', apiVersion: this.#apiVersion, subresource },
      type,
      tracked: subresource === 'status' ? { part: 'only', members: ['metadata', 'status'] } : ALL_BUT_STATUS,
      onConflict: force ? 'force' : 'refuse',
      now: this.#now,
    });
    if (applied.outcome === 'conflict') throw conflictError(applied.conflicts);
    const object = this.#decode(applied.object);
    applyDefaults(object, this.#apiVersion, this.#kind);
    this.#store(object);
    return this;
  }

  /** Replaces the object by the result of `change` on a copy of it. */
  update(change: (object: KubeObject) => object, { manager, subresource = '' }: Writer): this {
    this.#now += 1000;
    const live = this.object ?? this.#empty;
    const next = this.#decode(change(structuredClone(live)));
    applyDefaults(next, this.#apiVersion, this.#kind);
    const managedFields = trackUpdate({
      live,
      next,
      manager: { name: manager, operation: 'Update', apiVersion: this.#apiVersion, subresource },
      type: schemaOf(this.#typeName),
      tracked: subresource === 'status' ? { part: 'only', members: ['metadata', 'status'] } : ALL_BUT_STATUS,
      now: this.#now,
    });
    const { managedFields: _, ...metadata } = next.metadata ?? {};
    this.#store({ ...next, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } });
    return this;
  }

  #store(object: KubeObject): void {
    this.object = { ...object, metadata: { ...object.metadata, uid: 'u' } };
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return this.object?.metadata?.managedFields ?? [];
  }

  /** Fields by manager. The keys are `name` for an applier, `name (Update)` and `name (Update status)`. */
  get owners(): Record<string, unknown> {
    return Object.fromEntries(
      this.entries.map(({ manager, operation, subresource, fieldsV1 }) => {
        const how = operation === 'Apply' ? (subresource ?? '') : ['Update', subresource].filter(Boolean).join(' ');
        return [how === '' ? manager : `${manager} (${how})`, fieldsV1];
      }),
    );
  }

  get(...path: readonly (string | number)[]): unknown {
    return path.reduce<unknown>(
      (value, key) => (value as Record<string | number, unknown> | undefined)?.[key],
      this.object,
    );
  }
}
