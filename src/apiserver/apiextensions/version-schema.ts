import { setKey } from '../../api/codec/json/json-value.ts';
import { apiVersionOf, type GroupVersionKind } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { decodeMetadata } from '../../api/schema/decoding/typed-decoding.ts';
import type { TypeSchema } from '../../api/apply/schema.ts';
import { applySchema } from '../../api/structural/apply-schema.ts';
import { applyStructuralDefaults, dropUnsetNulls } from '../../api/structural/defaulting.ts';
import { coerceEmbedded } from '../../api/structural/embedded-metadata.ts';
import { hasRules, type JsonSchemaProps } from '../../api/structural/json-schema-props.ts';
import { prune } from '../../api/structural/pruning.ts';
import type { RuleValidator } from '../../api/structural/rule-validator.ts';
import { SchemaValidator } from '../../api/structural/schema-validator.ts';
import { type StructuralSchema, structuralSchema } from '../../api/structural/structural-schema.ts';
import type { DecodedObject, ObjectSchema } from '../registry/object/object-schema.ts';

/**
 * The schema of one version of a custom resource, parsed on first use, because a server has many more definitions than definitions with
 * objects.
 */
export class VersionSchema implements ObjectSchema {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The schema in the definition. */
  readonly props: JsonSchemaProps | undefined;
  #typeSchema: TypeSchema | undefined;
  #structural: StructuralSchema | undefined;
  #validator: SchemaValidator | undefined;
  #statusValidator: SchemaValidator | undefined;
  #rules: RuleValidator | 'none' | undefined;

  constructor({ group, version, kind }: GroupVersionKind, props: JsonSchemaProps | undefined) {
    this.group = group;
    this.version = version;
    this.kind = kind;
    this.props = props;
  }

  /** The types of its fields for server-side apply (API-222). */
  get typeSchema(): TypeSchema {
    return (this.#typeSchema ??= applySchema(this.props ?? {}));
  }

  get structural(): StructuralSchema {
    return (this.#structural ??= structuralSchema(this.props ?? {}));
  }

  get validator(): SchemaValidator {
    return (this.#validator ??= new SchemaValidator(this.props ?? {}));
  }

  /** The schema of the status alone, by which a write through `/status` is validated (API-465). */
  get statusValidator(): SchemaValidator {
    return (this.#statusValidator ??= new SchemaValidator(this.props?.properties?.['status'] ?? {}));
  }

  /** Loads the evaluator of CEL rules (API-471), before the first object is validated. Undefined if there is nothing to load. */
  prepareRules(): Promise<void> | undefined {
    if (this.#rules === undefined && !hasRules(this.props ?? {})) this.#rules = 'none';
    return this.#rules === undefined ? this.#loadRules() : undefined;
  }

  async #loadRules(): Promise<void> {
    const { RuleValidator } = await import('../../api/structural/rule-validator.ts');
    const { typedSchema } = await import('../../api/structural/schema-cel-type.ts');
    this.#rules ??= new RuleValidator(typedSchema(this.props ?? {}));
  }

  /** Undefined if there are no rules. */
  get rules(): RuleValidator | undefined {
    if (this.#rules === undefined) throw new Error('an object is judged by rules that nobody has prepared');
    return this.#rules === 'none' ? undefined : this.#rules;
  }

  /** Prunes an object and reports its unknown fields (API-234, API-461). */
  decode(object: KubeObject, nulls?: 'kept'): DecodedObject {
    const { metadata, unknownFields } = decodeMetadata(object.metadata, this);
    const { metadata: _metadata, ...rest } = object;
    const pruned = prune(rest, this.structural);
    dropUnsetNulls(pruned.object, this.structural, nulls === 'kept' ? 'untyped' : 'all');
    const unknownEmbedded = coerceEmbedded(pruned.object, this.structural, this);
    return {
      object: { ...pruned.object, metadata },
      unknownFields: [...unknownFields.map((path) => `metadata.${path}`), ...pruned.unknownFields, ...unknownEmbedded],
    };
  }

  /** Applies the defaults of the schema (API-462). */
  applyDefaults(object: KubeObject): void {
    applyStructuralDefaults(object, this.structural);
  }

  /** Converts an object of any version to this version. The result shares only metadata with the input. */
  adopt(object: KubeObject): KubeObject {
    const { metadata = {}, ...rest } = object;
    const adopted = prune(rest, this.structural).object as KubeObject;
    setKey(adopted, 'apiVersion', apiVersionOf(this));
    dropUnsetNulls(adopted, this.structural);
    applyStructuralDefaults(adopted, this.structural);
    const { kind, apiVersion, ...content } = adopted;
    return {
      ...(kind === undefined ? {} : { kind }),
      ...(apiVersion === undefined ? {} : { apiVersion }),
      metadata,
      ...content,
    };
  }
}
