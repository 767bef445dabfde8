import type { EmulatedVersion } from '../../apiserver/emulation/features.ts';

declare const KUBEGC_VERSION: string | undefined;

/** The version of the package; `0.0.0-source` without a build. */
export const kubegcVersion: string = typeof KUBEGC_VERSION === 'string' ? KUBEGC_VERSION : '0.0.0-source';

/** The Kubernetes release whose API the embedded server implements. */
export const kubernetesVersion = '1.36.2';

/** The server version for `kubectl version` (API-014), by default that of the served API. */
export function serverVersion(emulated?: EmulatedVersion): Record<string, string> {
  const behavesAs = emulated !== undefined && !kubernetesVersion.startsWith(`${emulated}.`);
  const version = behavesAs ? `${emulated}.0` : kubernetesVersion;
  const [major, minor] = version.split('.');
  return {
    major: major ?? '1',
    minor: minor ?? '',
    gitVersion: `v${version}+kubegc.${kubegcVersion}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node-${process.version}`,
    compiler: 'v8',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}
