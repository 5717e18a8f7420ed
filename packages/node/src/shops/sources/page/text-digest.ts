import { sha256 } from '@assay/till/kernel/bytes'

/** The form in which texts are compared: NFC, every run of white space one space. */
export function normalText(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[^\S ]\s*| {2,}\s*| (?=[^\S ])\s+/g, ' ')
    .trim()
}

export function textDigest(text: string): Uint8Array {
  return sha256(normalText(text))
}
