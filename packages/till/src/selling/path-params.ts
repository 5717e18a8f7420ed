const forbiddenRaw = /[;\\]|%(?![0-9a-fA-F]{2})/
// An encoded unreserved character is a second spelling of the same resource: one resource has one URL here.
const encodedUnreserved = /%(?:2[dDeE]|3[0-9]|4[1-9a-fA-F]|5[0-9aA]|5[fF]|6[1-9a-fA-F]|7[0-9aA]|7[eE])/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused
const forbiddenDecoded = /[/\\;\u0000-\u001f\u007f-\u009f]/

/** The value of a path parameter, decoded once; undefined for anything that cannot name a resource. */
export function decodePathParam(raw: string): string | undefined {
  if (raw === '' || forbiddenRaw.test(raw) || encodedUnreserved.test(raw)) return undefined
  let value = raw
  if (raw.includes('%')) {
    try {
      value = decodeURIComponent(raw)
    } catch {
      return undefined
    }
  }
  return value === '.' || value === '..' || forbiddenDecoded.test(value) ? undefined : value
}
