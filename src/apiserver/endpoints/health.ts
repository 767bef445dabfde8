import type { HttpResponse } from '../../base/http-message.ts';
import { plainText } from './response/plain-text.ts';
import { quoted } from '../../api/meta/quoted.ts';

/** One health check. It returns undefined if it passes, otherwise the reason. */
export interface HealthCheck {
  readonly name: string;
  check(): string | undefined;
}

/** Serves `/healthz`, `/livez`, `/readyz` and their single checks (API-013). */
export class HealthHandler {
  readonly #checks: { readonly live: readonly HealthCheck[]; readonly ready: () => readonly HealthCheck[] };

  constructor(checks: { readonly live: readonly HealthCheck[]; readonly ready: () => readonly HealthCheck[] }) {
    this.#checks = checks;
  }

  /** Undefined for any other path. */
  handle(path: string, query: URLSearchParams): HttpResponse | undefined {
    const [, root = '', name, ...rest] = path.split('/');
    const checks = this.#checksOf(root);
    if (checks === undefined) return undefined;
    if (name !== undefined && name !== '') {
      const one = checks.find((check) => check.name === [name, ...rest].join('/'));
      if (one === undefined) return undefined;
      const problem = one.check();
      return problem === undefined ? plainText(200, 'ok') : plainText(500, `internal server error: ${problem}\n`);
    }
    const excluded = new Set(query.getAll('exclude'));
    const lines: string[] = [];
    let failed = false;
    for (const check of checks) {
      if (excluded.delete(check.name)) {
        lines.push(`[+]${check.name} excluded: ok`);
        continue;
      }
      const problem = check.check();
      failed ||= problem !== undefined;
      lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${problem}`);
    }
    if (excluded.size > 0) {
      lines.push(`warn: some health checks cannot be excluded: no matches for ${quotedNames([...excluded])}`);
    }
    if (failed) return plainText(500, `${lines.join('\n')}\n${root} check failed\n`);
    if (!query.has('verbose')) return plainText(200, 'ok');
    return plainText(200, `${lines.join('\n')}\n${root} check passed\n`);
  }

  #checksOf(root: string): readonly HealthCheck[] | undefined {
    if (root === 'healthz' || root === 'livez') return this.#checks.live;
    return root === 'readyz' ? [...this.#checks.live, ...this.#checks.ready()] : undefined;
  }
}

function quotedNames(names: readonly string[]): string {
  return names.toSorted().map(quoted).join(',');
}
