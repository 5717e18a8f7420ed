import { sha256 } from '@assay/till/kernel/bytes'

/** Every run of white space becomes one space; most are one already and are passed over. */
export const oneSpaced = (text: string): string => text.replace(/[^\S ]\s*| {2,}\s*| (?=[^\S ])\s+/g, ' ')

/** The form in which texts are compared: NFC, with single spaces. */
export const normalText = (text: string): string => oneSpaced(text.normalize('NFC')).trim()

export function textDigest(text: string): Uint8Array {
  return sha256(normalText(text))
}
