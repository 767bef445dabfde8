/** Whether the fields of an entry of `metadata.managedFields` include a finalizer. False for a value of another shape. */
export function ownsFinalizer(fieldsV1: unknown, finalizer: string): boolean {
  const metadata = isObject(fieldsV1) ? fieldsV1['f:metadata'] : undefined;
  const finalizers = isObject(metadata) ? metadata['f:finalizers'] : undefined;
  return isObject(finalizers) && Object.hasOwn(finalizers, `v:${JSON.stringify(finalizer)}`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
