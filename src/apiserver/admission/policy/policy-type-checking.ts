import type { CelType } from '../../../api/cel/cel-type.ts';
import type { ResourceInfo } from '../../../api/kinds/resource-info.ts';
import { apiVersionOf, parseGroupVersion } from '../../../api/meta/group-version-kind.ts';
import { builtinCelType, objectMetaCelType } from '../../../api/schema/cel-types/builtin-cel-type.ts';
import type { JsonSchemaProps } from '../../../api/structural/json-schema-props.ts';
import { typedSchema } from '../../../api/structural/schema-cel-type.ts';
import { AdmissionCompiler, type ExpressionPlace } from '../cel/admission-compiler.ts';
import type { PolicySpec } from './validating-policy.ts';

/** The resources that are served when a policy is written. */
export interface ServedKinds {
  resources(): readonly ResourceInfo[];
  /** The schema of a custom resource. */
  schemaOf(info: ResourceInfo): JsonSchemaProps | undefined;
}

/** `status.typeChecking.expressionWarnings[]`. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

/** Maximum number of kinds that are checked for one rule. */
const MAX_KINDS = 10;

/**
 * Type errors of a policy's expressions for the kinds that it names without wildcards (apiserver `policy/validating/typechecking.go`). They
 * do not change the effect of the policy.
 */
export function typeCheckPolicy(spec: PolicySpec, served: ServedKinds): readonly ExpressionWarning[] {
  const checked = kindsOf(spec, served).map((info) => ({
    title: `${apiVersionOf(info)}, Kind=${info.kind}`,
    compiler: compilerFor(spec, { object: typeOf(info, served), params: paramsType(spec, served) }),
  }));
  const place: ExpressionPlace = { params: spec.paramKind === undefined ? 'none' : 'declared', authorizer: 'declared' };
  const warningsOf = (fieldRef: string, expression: string): readonly ExpressionWarning[] => {
    const warnings = checked.flatMap(({ title, compiler }) => {
      const compiled = compiler.compile(expression, 'variable', place);
      return compiled.outcome === 'problem' ? [`${title}: ${compiled.message}\n`] : [];
    });
    return warnings.length === 0 ? [] : [{ fieldRef, warning: warnings.join('\n') }];
  };
  return (spec.validations ?? []).flatMap(({ expression, messageExpression = '' }, index) => [
    ...warningsOf(`spec.validations[${index}].expression`, expression),
    ...(messageExpression === '' ? [] : warningsOf(`spec.validations[${index}].messageExpression`, messageExpression)),
  ]);
}

function compilerFor(
  { variables = [], paramKind }: PolicySpec,
  types: { readonly object: CelType; readonly params: CelType | undefined },
): AdmissionCompiler {
  const compiler = new AdmissionCompiler(types);
  const params = paramKind === undefined ? 'none' : 'declared';
  for (const { name, expression } of variables) {
    compiler.declareVariable(name, expression, { params, authorizer: 'declared' });
  }
  return compiler;
}

/** Sorted by group, version and kind, without duplicates. */
function kindsOf({ matchConstraints }: PolicySpec, served: ServedKinds): readonly ResourceInfo[] {
  const kinds = new Map<string, ResourceInfo>();
  for (const rule of matchConstraints?.resourceRules ?? []) {
    const { apiGroups = [], apiVersions = [], resources = [] } = rule;
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue;
    const plain = resources.filter((resource) => !/[*/]/.test(resource));
    const found = served
      .resources()
      .filter(
        ({ group, version, resource }) =>
          apiGroups.includes(group) && apiVersions.includes(version) && plain.includes(resource),
      );
    for (const info of found.slice(0, MAX_KINDS)) kinds.set(sortKey(info), info);
  }
  return [...kinds].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, info]) => info);
}

function sortKey({ group, version, kind }: ResourceInfo): string {
  return [group, version, kind].join('\u0000');
}

/** Undefined if the type is unknown, which allows every expression. */
function paramsType({ paramKind }: PolicySpec, served: ServedKinds): CelType | undefined {
  const { apiVersion = '', kind = '' } = paramKind ?? {};
  const gv = parseGroupVersion(apiVersion);
  const info = served
    .resources()
    .find((each) => each.group === gv?.group && each.version === gv.version && each.kind === kind);
  return info === undefined ? undefined : typeOf(info, served);
}

function typeOf(info: ResourceInfo, served: ServedKinds): CelType {
  const { kind, typeName } = info;
  if (typeName !== undefined) return builtinCelType(typeName, kind);
  const { type } = typedSchema(served.schemaOf(info) ?? {});
  const fields = type?.kind === 'object' ? type.fields : {};
  // Rules of a definition can read only the name in the metadata, policies can read all of it.
  const metadata = { type: objectMetaCelType(`${kind}.metadata`) };
  return { kind: 'object', name: kind, fields: { ...fields, metadata } };
}
