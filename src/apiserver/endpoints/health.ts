import type { HttpResponse } from '../../base/http-message.ts';
import { plainText } from './response/plain-text.ts';
import { queryBoolean } from './request/request-info.ts';

/** One thing that must hold; undefined when it does, else why it does not. */
export interface HealthCheck {
  readonly name: string;
  check(): string | undefined;
}

/** `/healthz`, `/livez`, `/readyz` and their checks one by one (API-013). */
export class HealthHandler {
  readonly #checks: ReadonlyMap<string, readonly HealthCheck[]>;

  constructor(checks: { readonly live: readonly HealthCheck[]; readonly ready: readonly HealthCheck[] }) {
    this.#checks = new Map([
      ['healthz', checks.live],
      ['livez', checks.live],
      ['readyz', [...checks.live, ...checks.ready]],
    ]);
  }

  /** Undefined when the path is not one of ours. */
  handle(path: string, query: URLSearchParams): HttpResponse | undefined {
    const [, root = '', name, ...rest] = path.split('/');
    const checks = this.#checks.get(root);
    if (checks === undefined || rest.length > 0) return undefined;
    if (name !== undefined && name !== '') {
      const one = checks.find((check) => check.name === name);
      if (one === undefined) return undefined;
      const problem = one.check();
      return problem === undefined ? plainText(200, 'ok') : plainText(500, `internal server error: ${problem}\n`);
    }
    const excluded = new Set(query.getAll('exclude'));
    const lines: string[] = [];
    let failed = false;
    for (const check of checks) {
      if (excluded.has(check.name)) continue;
      const problem = check.check();
      failed ||= problem !== undefined;
      lines.push(problem === undefined ? `[+]${check.name} ok` : `[-]${check.name} failed: ${problem}`);
    }
    if (failed) return plainText(500, `${lines.join('\n')}\n${root} check failed\n`);
    if (!queryBoolean(query, 'verbose')) return plainText(200, 'ok');
    return plainText(200, `${lines.join('\n')}\n${root} check passed\n`);
  }
}
