import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

const directory = process.env['DEBIAN_GO'] ?? join(root, '.cache/go/forky');

export const hasUnpackedGo = existsSync(join(directory, 'go/bin/go'));

/** Where `scripts/debian-go.sh` has unpacked Go; an error, never a skip, when it is not there. */
export function unpackedGo(): string {
  if (!hasUnpackedGo) throw new Error(`${directory} has no Go. Get it with: scripts/debian-go.sh .cache/go forky`);
  return directory;
}

/** The environment in which that Go builds with Debian's packages of source, and with nothing from a network. */
export function debianGoEnv(home: string): Readonly<Record<string, string>> {
  const go = unpackedGo();
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GOROOT: join(go, 'go'),
    GOPATH: join(go, 'usr/share/gocode'),
    GOCACHE: join(root, '.cache/go-build'),
    GO111MODULE: 'off',
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  };
}
