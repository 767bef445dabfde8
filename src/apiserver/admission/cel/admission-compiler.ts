import {
  createCelEnvironment,
  type CelEnvironment,
  type CelProgram,
} from '../../../api/cel/environment/cel-environment.ts';
import { CelCompileError } from '../../../api/cel/cel-error.ts';
import {
  type CelType,
  celTypes,
  listOf,
  objectOf,
  sameType,
  typeName,
  typeParameters,
} from '../../../api/cel/cel-type.ts';
import { setKey } from '../../../api/codec/json/json-value.ts';
import { authorizerType, resourceCheckType } from '../../../api/cel/library/authorizer.ts';
import type { CelFunctions } from '../../../api/cel/function-declaration.ts';
import { namespaceType, requestType } from './admission-types.ts';
import { messageType } from './message-literals.ts';

export interface ExpressionPlace {
  /** `declared` if the policy has parameters. */
  readonly params: 'declared' | 'none';
  /** `none` for message expressions, which cannot check authorization. */
  readonly authorizer: 'declared' | 'none';
}

/** The types of objects and parameters when expressions are only type-checked; during evaluation they are dynamic. */
export interface AdmissionTypes {
  readonly object?: CelType | undefined;
  readonly params?: CelType | undefined;
}

/** A compiled expression, or the reason why it does not compile. */
export type Compiled =
  | { readonly outcome: 'compiled'; readonly program: CelProgram }
  | { readonly outcome: 'problem'; readonly message: string };

const { bool, dyn, null: nullType, string } = celTypes;

const returnTypes = {
  condition: [bool],
  message: [string],
  auditAnnotation: [string, nullType],
  /** The expression of a variable may have any type. */
  variable: undefined,
  applyConfiguration: [messageType('Object')],
  jsonPatch: [listOf(messageType('JSONPatch'))],
} as const satisfies Record<string, readonly CelType[] | undefined>;

/**
 * Compiles the expressions of one policy or webhook (apiserver `admission/plugin/cel`). Variables are declared in order, and each is known
 * to the expressions that are compiled after it.
 */
export class AdmissionCompiler {
  readonly #types: AdmissionTypes;
  readonly #variables: Record<string, CelType> = {};
  readonly #functions: CelFunctions;
  readonly #environments = new Map<string, CelEnvironment>();

  /** `functions` are added to those of all expressions. */
  constructor(types: AdmissionTypes = {}, functions: CelFunctions = {}) {
    this.#types = types;
    this.#functions = functions;
  }

  /** Compiles an expression that declares `variables.<name>`. If it does not compile, the variable has an unknown type. */
  declareVariable(name: string, expression: string, place: ExpressionPlace): Compiled {
    const compiled = this.compile(expression, 'variable', place);
    setKey(this.#variables, name, compiled.outcome === 'compiled' ? compiled.program.outputType : dyn);
    this.#environments.clear();
    return compiled;
  }

  compile(expression: string, use: keyof typeof returnTypes, place: ExpressionPlace): Compiled {
    let program: CelProgram;
    try {
      program = this.#environment(place).compile(expression);
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error;
      return { outcome: 'problem', message: `compilation failed: ${error.message}` };
    }
    const expected: readonly CelType[] | undefined = returnTypes[use];
    const { outputType } = program;
    if (expected === undefined || expected.some((type) => sameType(type, outputType))) {
      return { outcome: 'compiled', program };
    }
    const names = expected.map(printedType);
    const wanted = names.length === 1 ? (names[0] ?? '') : `one of [${names.join(' ')}]`;
    return { outcome: 'problem', message: `must evaluate to ${wanted} but got ${printedType(outputType)}` };
  }

  #environment({ params, authorizer }: ExpressionPlace): CelEnvironment {
    const key = `${params} ${authorizer}`;
    let environment = this.#environments.get(key);
    if (environment === undefined) {
      environment = createCelEnvironment({
        functions: this.#functions,
        variables: {
          object: this.#types.object ?? dyn,
          oldObject: this.#types.object ?? dyn,
          request: requestType,
          namespaceObject: namespaceType,
          ...(params === 'declared' ? { params: this.#types.params ?? dyn } : {}),
          ...(authorizer === 'declared'
            ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType }
            : {}),
          ...(Object.keys(this.#variables).length === 0
            ? {}
            : { variables: objectOf('kubernetes.variables', { ...this.#variables }) }),
        },
      });
      this.#environments.set(key, environment);
    }
    return environment;
  }
}

/** A type in cel-go's form outside of compiler messages. */
function printedType(type: CelType): string {
  const parameters = typeParameters(type).map(printedType);
  return parameters.length === 0 ? typeName(type) : `${typeName(type)}(${parameters.join(', ')})`;
}
