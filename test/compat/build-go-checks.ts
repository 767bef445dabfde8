import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianGoEnv, unpackedGo } from './debian-go.ts';

// Compiles what the suites build with client-go, so that they find it in the cache of Go:
//   npx tsx test/compat/build-go-checks.ts      after scripts/debian-go.sh
const go = join(unpackedGo(), 'go/bin/go');
// The compiler is a Go program too: a fifth of its time goes into collecting its own garbage.
const env = { ...debianGoEnv(tmpdir()), GOGC: '800' };

for (const [directory, ...args] of [
  ['go', 'build'],
  ['go-envtest', 'test', '-c'],
] as const) {
  const cwd = join(import.meta.dirname, directory);
  const { status, error } = spawnSync(go, [...args, '-o', '/dev/null', '.'], { cwd, env, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
