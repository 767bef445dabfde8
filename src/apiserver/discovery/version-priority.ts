/**
 * Orders the versions of one group: stable before beta before alpha, higher numbers first, other names last and alphabetically (API-398;
 * apimachinery `pkg/version`). Negative if `left` comes first.
 */
export function compareVersions(left: string, right: string): number {
  const a = rankOf(left);
  const b = rankOf(right);
  if (a === undefined || b === undefined) {
    if (a !== undefined) return -1;
    if (b !== undefined) return 1;
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return b.stability - a.stability || b.major - a.major || b.minor - a.minor;
}

interface Rank {
  readonly stability: number;
  readonly major: number;
  readonly minor: number;
}

const KUBE_VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

function rankOf(version: string): Rank | undefined {
  const match = KUBE_VERSION.exec(version);
  if (match === null) return undefined;
  const [, major, level, minor] = match;
  return {
    stability: level === undefined ? 2 : level === 'beta' ? 1 : 0,
    major: Number(major),
    minor: Number(minor ?? 0),
  };
}
