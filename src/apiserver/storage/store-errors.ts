import { messageOf } from '../../base/errors/thrown.ts';

/** The store was closed; nothing more is answered. */
export class StoreClosedError extends Error {
  constructor() {
    super('the store is closed');
    this.name = 'StoreClosedError';
  }
}

/**
 * The store could not make writes durable and stopped for good. Only a restart shows whether the writes that failed with
 * it are on disk; until then no reader sees them.
 */
export class StoreFailedError extends Error {
  constructor(cause: unknown) {
    super(`the store failed and accepts no more writes: ${messageOf(cause)}`, { cause });
    this.name = 'StoreFailedError';
  }
}

/** More writes wait for the disk than the store allows. The caller may retry. */
export class StoreOverloadedError extends Error {
  constructor(waiting: number, bytes: number) {
    super(`the store is overloaded: ${waiting} operations (${bytes} bytes) wait for the disk`);
    this.name = 'StoreOverloadedError';
  }
}

/**
 * The store, in another process, does not answer, or answers that it cannot serve now. Nothing was changed; the same call may
 * succeed later.
 */
export class StoreUnavailableError extends Error {
  constructor(why: string, cause?: unknown) {
    super(`the store cannot be reached: ${why}`, { cause });
    this.name = 'StoreUnavailableError';
  }
}

/**
 * The store accepts no writes while it is full. The write may still be applied: etcd checks its space before it proposes a
 * transaction, and again after it has applied it (`quotaApplierV3`). A data file may contain the write after a restart.
 */
export class StoreFullError extends Error {
  constructor(why: string, cause?: unknown) {
    super(`the store has no room left: ${why}`, { cause });
    this.name = 'StoreFullError';
  }
}

const OUT_OF_SPACE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a call of the file system failed for lack of space, which may become free again. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error && 'code' in error && OUT_OF_SPACE.has(error.code);
}

/** At the start: no etcd answers at the addresses, or its answer is not the expected one. */
export class StoreConnectError extends Error {
  /** `troubles`: each address with its error. */
  constructor(troubles: string, cause?: unknown) {
    super(`cannot use etcd: ${troubles}`, { cause });
    this.name = 'StoreConnectError';
  }
}

/** At the start: the keys under the prefix were written by another program, or by another version. */
export class StoreForeignDataError extends Error {
  constructor(root: string, found: string) {
    super(`etcd holds ${found} under ${root}, which this version of kubegc cannot use`);
    this.name = 'StoreForeignDataError';
  }
}

/** The connection was lost, or the timeout expired, before the store answered: the write may have happened. */
export class StoreOutcomeUnknownError extends Error {
  constructor(cause?: unknown) {
    super('the store did not answer in time: whether it has done what it was asked for is not known', { cause });
    this.name = 'StoreOutcomeUnknownError';
  }
}

/** The value is larger than the store accepts; the message is the store's. */
export class StoreTooLargeError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreTooLargeError';
  }
}

/** The store refuses the call for a reason that is not known here; the message is the store's. */
export class StoreRefusedError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreRefusedError';
  }
}

/**
 * The store is behind the revision that it delivered: it was restored from a backup, or is another one. All that was read from it is
 * invalid.
 */
export class StoreRewoundError extends Error {
  constructor(told: number, current: number) {
    super(`the store had delivered revision ${told} and is now at ${current}: it was restored or replaced`);
    this.name = 'StoreRewoundError';
  }
}

/** Another live process holds the data directory. */
export class StoreLockedError extends Error {
  constructor(directory: string, pid: number) {
    super(
      `the data directory ${directory} is in use by another kubegc (process ${pid}): stop it, or choose another directory`,
    );
    this.name = 'StoreLockedError';
  }
}

/** The data directory cannot be used at all (no permission, not a directory, a path too long for the lock). */
export class StoreDirectoryError extends Error {
  constructor(directory: string, cause: unknown) {
    super(`the data directory ${directory} cannot be used: ${messageOf(cause)}`, { cause });
    this.name = 'StoreDirectoryError';
  }
}

/** The contents of the directory were written by another version or another program. */
export class StoreFormatError extends Error {
  constructor(directory: string, found: string) {
    super(
      `the data directory ${directory} holds ${found}, which this version of kubegc cannot read; choose another directory`,
    );
    this.name = 'StoreFormatError';
  }
}

/** The data on disk is damaged: a checksum, a length or the sequence of revisions is wrong. */
export class StoreCorruptedError extends Error {
  constructor(directory: string, problem: string) {
    super(
      `the data directory ${directory} is damaged: ${problem}; restore it from a backup, or choose another directory`,
    );
    this.name = 'StoreCorruptedError';
  }
}
