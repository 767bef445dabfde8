import { type ServedObject, TransientObject } from '../../registry/object/served-object.ts';

/** The object as a client sees it that drops `metadata.managedFields` (API-607). Shares everything else with the object. */
export function withoutManagers(served: ServedObject): ServedObject {
  if (served.metadata().managedFields === undefined) return served;
  const object = served.object();
  const { managedFields: _managedFields, ...metadata } = object.metadata ?? {};
  return new TransientObject({ ...object, metadata }, served.revision);
}

/** {@link withoutManagers} of each, made while they are read. */
export function withoutManagersEach(items: Iterable<ServedObject>): Iterable<ServedObject> {
  return {
    *[Symbol.iterator]() {
      for (const item of items) yield withoutManagers(item);
    },
  };
}
