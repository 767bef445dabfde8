/** Called once, when the work is to stop. */
export type AbortListener = (() => void) | { handleEvent(): void };

/**
 * Shows work in progress whether to stop. Every AbortSignal is one; a {@link Deadline} is one at a tenth of the cost, which matters for one
 * per request.
 */
export interface AbortNotice {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
