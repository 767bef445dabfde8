import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a whole file or nothing: a new file beside it, made durable, then renamed over it. A reader never sees half of it, and it never
 * exists with wider permissions than `mode`, even if an older file at the path had wider ones. The content may come in pieces.
 */
export async function writeFileAtomically(
  path: string,
  content: string | Iterable<string>,
  mode: number,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      for (const piece of typeof content === 'string' ? [content] : content) await file.appendFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
