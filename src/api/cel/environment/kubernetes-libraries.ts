import { type CelType, celTypes, listOf, mapOf, typeName } from '../cel-type.ts';
import { type CelFunctions, mergeFunctions } from '../function-declaration.ts';
import { authorizer, authorizerType, resourceCheckType } from '../library/authorizer.ts';
import { conversions } from '../library/conversions.ts';
import { formats, formatType } from '../library/formats.ts';
import { lists } from '../library/lists.ts';
import { cidrType, ipType, network } from '../library/network.ts';
import { operators } from '../library/operators.ts';
import { optional } from '../library/optional.ts';
import { quantity, quantityType } from '../library/quantity.ts';
import { regex } from '../library/regex.ts';
import { semver, semverType } from '../library/semver.ts';
import { strings } from '../library/strings.ts';
import { time } from '../library/time.ts';
import { urls, urlType } from '../library/urls.ts';

/** All functions that expressions can call in kube-apiserver 1.36 (apiserver `cel/environment/base.go`). */
export const kubernetesFunctions: CelFunctions = mergeFunctions([
  ...operators,
  ...conversions,
  strings,
  time,
  ...lists,
  ...optional,
  regex,
  urls,
  quantity,
  ...network,
  formats,
  semver,
  authorizer,
]);

const { bool, bytes, double, duration, dyn, int, string, timestamp, type, uint } = celTypes;

/** Types that expressions may name. */
export const kubernetesTypeNames: ReadonlyMap<string, CelType> = new Map([
  ...[bool, bytes, double, int, string, uint, celTypes.null, duration, timestamp, type].map(
    (each) => [typeName(each), each] as const,
  ),
  ['list', listOf(dyn)],
  ['map', mapOf(dyn, dyn)],
  ...[urlType, quantityType, ipType, cidrType, formatType, semverType, authorizerType, resourceCheckType].map(
    (each) => [typeName(each), each] as const,
  ),
]);
