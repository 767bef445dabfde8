import type { LogFields, Logger } from '../../base/logs/logger.ts';
import type { Recorder } from './recorder.ts';

/** The collector's decisions (`collector/workers`) and everybody's warnings and errors go to the recorder; the rest is dropped. */
export function recordingLogger(recorder: Recorder, fields: LogFields = {}): Logger {
  const who = textOf(fields['controller'] ?? fields['component']) ?? 'cluster';
  const trouble = (message: string, own: LogFields = {}): void => {
    const { error, kind, namespace, name } = own;
    const target =
      textOf(name) === undefined ? '' : ` (${[kind, namespace, name].filter(Boolean).map(textOf).join(' ')})`;
    recorder.note('trouble', who, `${message}${target}`, {
      why: error instanceof Error ? error.message : textOf(error),
    });
  };
  return {
    debug(message, own = {}) {
      const [uid, reason] = [textOf(own['uid']), textOf(own['reason'])];
      if (uid !== undefined && reason !== undefined && own['verdict'] !== undefined) {
        recorder.decision({ uid, reason, sentence: message });
      }
    },
    info: () => undefined,
    warn: trouble,
    error: trouble,
    child: (more) => recordingLogger(recorder, { ...fields, ...more }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
