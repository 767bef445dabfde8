import { messageOf } from '../../base/errors/thrown.ts';
import type { UndoResult } from '../documents/undo-result.ts';
import type { RecordStore } from './record-store.ts';

/** Notes a finished undo in its record. If that fails, the result has a warning, because the objects are back nevertheless. */
export async function noteUndo(records: Pick<RecordStore, 'noteUndo'>, result: UndoResult): Promise<UndoResult> {
  const { created: restored, left, conflict: conflicts } = result.summary;
  try {
    await records.noteUndo(result.id, { restored, left, conflicts });
    return result;
  } catch (error) {
    return { ...result, warnings: [`the undo is not noted in the record: ${messageOf(error)}`] };
  }
}
