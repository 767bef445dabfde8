import { defaultServiceReference } from './defaults-admission.ts';
import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectAt, objectsAt, setIfUnset, setIfZero } from '../fields/defaults-fields.ts';

export function defaultCustomResourceDefinition(definition: Fields): void {
  const spec = ensureObjectAt(definition, 'spec');
  const names = ensureObjectAt(spec, 'names');
  const kind = typeof names['kind'] === 'string' ? names['kind'] : '';
  setIfZero(names, 'singular', kind.toLowerCase());
  if (kind !== '') setIfZero(names, 'listKind', `${kind}List`);
  setIfUnset(spec, 'conversion', { strategy: 'None' });
  defaultServiceReference(objectAt(objectAt(objectAt(spec, 'conversion'), 'webhook'), 'clientConfig'));
  const status = ensureObjectAt(definition, 'status');
  const stored = status['storedVersions'];
  const storage = objectsAt(spec, 'versions').find((version) => version['storage'] === true);
  if ((!Array.isArray(stored) || stored.length === 0) && storage !== undefined) {
    status['storedVersions'] = [storage['name']];
  }
}

export function defaultApiService(apiService: Fields): void {
  defaultServiceReference(objectAt(apiService, 'spec'));
}
