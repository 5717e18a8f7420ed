/** The request target, split but not decoded. */
export type Target = {
  path: string /** With its leading `?`; "?" alone when there is none (RFC 9421, 2.2.7). */
  query: string
}

export const targetBytesMax = 8 * 1024

const visibleAscii = /^[\x21-\x7e]*$/

/** Undefined for anything but origin form (`/path?query`): absolute form would name an authority of the caller's choice. */
export function splitTarget(target: string): Target | undefined {
  if (!target.startsWith('/') || target.includes('#') || !visibleAscii.test(target)) return undefined
  const mark = target.indexOf('?')
  return mark < 0 ? { path: target, query: '?' } : { path: target.slice(0, mark), query: target.slice(mark) }
}
