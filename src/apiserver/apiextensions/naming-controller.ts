import { equalJson } from '../../api/codec/json/json-value.ts';
import type { Condition } from '../../api/meta/conditions.ts';
import { findCondition } from '../../api/meta/conditions.ts';
import { quoted } from '../../api/meta/quoted.ts';
import type { Definition, DefinitionNames } from './definition.ts';

/** Names that other definitions of a group have. */
export interface ClaimedNames {
  /** Plurals, singulars and short names, which must be unique together. */
  readonly resources: ReadonlySet<string>;
  /** Kinds and list kinds, which must be unique together. */
  readonly kinds: ReadonlySet<string>;
}

export function claimedNames(accepted: Iterable<DefinitionNames>): ClaimedNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular = '', shortNames = [], kind, listKind = '' } of accepted) {
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    kinds.add(kind).add(listKind);
  }
  return { resources, kinds };
}

export interface NamingDecision {
  readonly acceptedNames: DefinitionNames;
  readonly namesAccepted: Condition;
  readonly established: Condition;
}

/**
 * Accepts the requested names of a definition that it already has or that no other one has (API-453; apiextensions
 * `controller/status/naming_controller.go`). Undefined if there is nothing to decide. The last of several conflicts is reported.
 */
export function decideNames({ spec, status }: Definition, claimed: ClaimedNames): NamingDecision | undefined {
  const { names } = spec;
  const { acceptedNames, conditions } = status;
  if (equalJson(names, acceptedNames)) return undefined;
  const choice = chooseNames(names, acceptedNames, claimed);
  const namesAccepted: Condition =
    choice.conflict === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...choice.conflict };
  const before = findCondition(conditions, 'NamesAccepted');
  const known = before?.status === namesAccepted.status && before.reason === namesAccepted.reason;
  if (known && before.message === namesAccepted.message && equalJson(choice.names, acceptedNames)) return undefined;
  const established = findCondition(conditions, 'Established') ?? NOT_ACCEPTED;
  return {
    acceptedNames: choice.names,
    namesAccepted,
    established: established.status !== 'True' && namesAccepted.status === 'True' ? INSTALLING : established,
  };
}

const NOT_ACCEPTED: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};

const INSTALLING: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'Installing',
  message: 'the initial names have been accepted',
};

interface Choice {
  readonly names: DefinitionNames;
  readonly conflict?: { readonly reason: string; readonly message: string };
}

function chooseNames(wanted: DefinitionNames, accepted: DefinitionNames, claimed: ClaimedNames): Choice {
  const taken = (name: string, own: string, others: ReadonlySet<string>): string | undefined =>
    name !== own && others.has(name) ? `${quoted(name)} is already in use` : undefined;
  let names: DefinitionNames = { ...accepted };
  let conflict: Choice['conflict'];
  const choose = (field: 'plural' | 'singular' | 'kind' | 'listKind', reason: string): void => {
    const others = field === 'plural' || field === 'singular' ? claimed.resources : claimed.kinds;
    const message = taken(wanted[field] ?? '', accepted[field] ?? '', others);
    if (message === undefined) names = { ...names, [field]: wanted[field] };
    else conflict = { reason, message };
  };
  choose('plural', 'PluralConflict');
  choose('singular', 'SingularConflict');
  const own = accepted.shortNames ?? [];
  const messages = (wanted.shortNames ?? [])
    .filter((name) => !own.includes(name))
    .flatMap((name) => taken(name, '', claimed.resources) ?? []);
  if (messages.length > 0) {
    const message = messages.length === 1 ? messages.join('') : `[${messages.join(', ')}]`;
    conflict = { reason: 'ShortNamesConflict', message };
  } else {
    names = withList(names, 'shortNames', wanted.shortNames);
  }
  choose('kind', 'KindConflict');
  choose('listKind', 'ListKindConflict');
  names = withList(names, 'categories', wanted.categories);
  return conflict === undefined ? { names } : { names, conflict };
}

function withList(
  names: DefinitionNames,
  field: 'shortNames' | 'categories',
  list: readonly string[] | undefined,
): DefinitionNames {
  const { [field]: _before, ...rest } = names;
  return list === undefined ? rest : { ...rest, [field]: list };
}
