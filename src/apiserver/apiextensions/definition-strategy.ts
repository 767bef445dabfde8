import type { Steps } from '../../base/time/steps.ts';
import type { FieldError } from '../../api/field-error.ts';
import { decideDefinitionDelete } from '../../api/deletion/definition-delete.ts';
import type { JsonSchemaProps } from '../../api/structural/json-schema-props.ts';
import type { Strategy } from '../registry/strategy.ts';
import { type Definition, type DefinitionStatus, storageVersion } from './definition.ts';

/** Checks the CEL rules of a schema. */
export type RuleCheck = (schema: JsonSchemaProps, path: string) => readonly FieldError[];

/**
 * The validation of definitions, loaded with the first one that is written. The validation of rules is loaded with the first definition
 * that has some.
 */
export interface DefinitionRules {
  validateDefinition(definition: Definition): Steps<readonly FieldError[]>;
  validateDefinitionUpdate(next: Definition, previous: Definition): Steps<readonly FieldError[]>;
  validateDefinitionStatus(definition: Definition): readonly FieldError[];
  definitionWarnings(definition: Definition, previous?: Definition): readonly string[];
}

/**
 * The strategy of CustomResourceDefinitions themselves (apiextensions `registry/customresourcedefinition`). `load` resolves when
 * definitions can be served, so that a stored one is served without a wait.
 */
export function definitionStrategy(load: (definition: Definition) => Promise<DefinitionRules>): Strategy {
  // Preparation runs before validation and loads it.
  let rules: DefinitionRules | undefined;
  const loaded = (): DefinitionRules => {
    if (rules === undefined) throw new Error('a definition is validated before it was prepared');
    return rules;
  };
  return {
    async prepareForCreate(object, { warn }) {
      const definition = object as Definition;
      rules = await load(definition);
      const stored = storageVersion(definition.spec);
      definition.status = { ...definition.status, storedVersions: stored === undefined ? [] : [stored.name] };
      for (const text of rules.definitionWarnings(definition)) warn(text);
    },
    async prepareForUpdate(object, previous, { subresource, warn }) {
      const next = object as Definition;
      rules = await load(next);
      if (subresource !== '') return;
      next.status = withStoredVersion(next.status, storageVersion(next.spec)?.name);
      for (const text of rules.definitionWarnings(next, previous as Definition)) warn(text);
    },
    validate: (object) => loaded().validateDefinition(object as Definition),
    validateUpdate: (next, previous, { subresource }) =>
      subresource === ''
        ? loaded().validateDefinitionUpdate(next as Definition, previous as Definition)
        : loaded().validateDefinitionStatus(next as Definition),
    decideDelete: decideDefinitionDelete,
  };
}

/** A version that becomes the storage version stays in storedVersions as long as objects may be stored in it. */
function withStoredVersion(status: DefinitionStatus, version: string | undefined): DefinitionStatus {
  const stored = status.storedVersions ?? [];
  if (version === undefined || stored.includes(version)) return status;
  return { ...status, storedVersions: [...stored, version] };
}
