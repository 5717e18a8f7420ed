import { readFileSync } from 'node:fs'
import { type Hex, isHex } from '@assay/protocol/bytes'

/** Private keys from a variable or from the file that another one names; undefined when neither is set. */
export function readKeys(
  name: string,
  given: { text: string | undefined; file: string | undefined },
  problems: string[],
): Hex[] | undefined {
  const text = given.text ?? (given.file === undefined ? undefined : readKeyFile(`${name}_FILE`, given.file, problems))
  return text === undefined ? undefined : keyList(name, text, problems)
}

function keyList(name: string, text: string, problems: string[]): Hex[] {
  const keys = text.split(/[\s,]+/).filter(Boolean)
  // The value itself must never reach a message.
  if (!keys.every((key) => isHex(key, 32))) problems.push(`${name}: each must be 32 bytes of hex`)
  return keys.filter((key): key is Hex => isHex(key, 32))
}

function readKeyFile(name: string, path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    problems.push(`${name}: cannot be read: ${path}`)
    return ''
  }
}
