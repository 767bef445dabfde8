/** Called once, when the work is to be given up. */
export type AbortListener = (() => void) | { handleEvent(): void };

/**
 * The question of work under way whether to stop. Every AbortSignal is one; a {@link Deadline} is one that costs a
 * tenth of it, which counts where one is made for each request.
 */
export interface AbortNotice {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
