import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../../base/random/random.ts';

/** An encrypted text: AES-256-GCM, every part in base64. */
export interface SealedText {
  readonly iv: string;
  readonly tag: string;
  readonly data: string;
}

export const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a text so that it can be read only with the key and at its place.
 * @param place the place of the text (record id and uid); a text that was moved cannot be decrypted
 */
export function sealText(text: string, key: Uint8Array, place: string, random: Random): SealedText {
  const iv = random.bytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(place, 'utf8'));
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return { iv: base64(iv), tag: base64(cipher.getAuthTag()), data: base64(data) };
}

/** Decrypts the text. Throws if the key is wrong, or if any part was changed or moved. */
export function openText(sealed: SealedText, key: Uint8Array, place: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(sealed.iv, 'base64'), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(place, 'utf8'));
  decipher.setAuthTag(Buffer.from(sealed.tag, 'base64'));
  return Buffer.concat([decipher.update(Buffer.from(sealed.data, 'base64')), decipher.final()]).toString('utf8');
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
