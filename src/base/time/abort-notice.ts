/** Called once, when the work is to stop. */
export type AbortListener = (() => void) | { handleEvent(): void };

/**
 * Shows work in progress that it must stop. Every AbortSignal is an AbortNotice. So is a {@link Deadline}, at a tenth of the cost, which
 * matters because each request has one.
 */
export interface AbortNotice {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
