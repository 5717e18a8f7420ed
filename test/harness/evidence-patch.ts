/** The operations of a JSON Patch (RFC 6902) that the vectors use. */
export type Change = { op: 'add' | 'remove' | 'replace'; path: string; value?: unknown }

type Container = Record<string, unknown>
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null
const pointer = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** What turns one file into the other. */
export function changesBetween(from: unknown, to: unknown, path = ''): Change[] {
  if (!isContainer(from) || !isContainer(to) || Array.isArray(from) !== Array.isArray(to))
    return from === to ? [] : [{ op: 'replace', path, value: to }]
  // From the end, so that the places of what is left in a list stay as they are.
  const gone = Object.keys(from)
    .filter((key) => !(key in to))
    .reverse()
  return [
    ...gone.map((key) => ({ op: 'remove' as const, path: `${path}/${pointer(key)}` })),
    ...Object.entries(to).flatMap(([key, value]): Change[] => {
      const at = `${path}/${pointer(key)}`
      return key in from ? changesBetween(from[key], value, at) : [{ op: 'add', path: at, value }]
    }),
  ]
}

export function withChanges(from: unknown, changes: readonly Change[]): unknown {
  const root: Container = { file: structuredClone(from) }
  for (const { op, path, value } of changes) {
    const keys = ['file', ...path.split('/').slice(1)].map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const last = keys.pop() as string
    const holder = keys.reduce((at, key) => at[key] as Container, root)
    if (op !== 'remove') holder[last] = structuredClone(value)
    else if (Array.isArray(holder)) holder.splice(Number(last), 1)
    else delete holder[last]
  }
  return root['file']
}
