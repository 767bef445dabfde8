/** The Kubernetes release whose API the server implements, equal to that in `cli/process/version.ts`. */
export const KUBERNETES_VERSION = '1.36.2';

/** Fields of `/version` (API-014), the same on every machine. */
export function serverVersion(): Record<string, string> {
  const [major = '', minor = ''] = KUBERNETES_VERSION.split('.');
  return {
    major,
    minor,
    gitVersion: `v${KUBERNETES_VERSION}+kubegc`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'node',
    compiler: 'v8',
    platform: 'any',
  };
}
