type Step = string | number

const isContainer = (value: unknown): value is Record<Step, unknown> => typeof value === 'object' && value !== null

const stepsOf = (path: string): Step[] =>
  [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? String(name) : Number(index),
  )

/** Every scalar and every empty list or object of a JSON value, as `a.b[0].c`. */
export function leafPaths(value: unknown, at = ''): string[] {
  if (!isContainer(value) || Object.keys(value).length === 0) return [at]
  if (Array.isArray(value)) return value.flatMap((item, index) => leafPaths(item, `${at}[${index}]`))
  return Object.entries(value).flatMap(([name, item]) => leafPaths(item, at === '' ? name : `${at}.${name}`))
}

/** Copies of a JSON value in which the field at the path has another value. */
export function changedAt(value: unknown, path: string): unknown[] {
  return otherValues(valueAt(value, path)).map((other) => edited(value, path, (parent, step) => (parent[step] = other)))
}

export const removedAt = (value: unknown, path: string): unknown =>
  edited(value, path, (parent, step) => {
    if (Array.isArray(parent)) parent.splice(Number(step), 1)
    else delete parent[step]
  })

function otherValues(value: unknown): unknown[] {
  if (typeof value === 'string') return value === '' ? ['x'] : stringsNear(value)
  if (typeof value === 'number') return [value + 1, String(value + 1)]
  if (typeof value === 'boolean') return [!value]
  if (Array.isArray(value)) return [['x']]
  return value === null ? ['x'] : [{ x: 1 }]
}

/** Never only the case of a hex digit. The last character matters: in base64 some of its bits may be ignored by a lax decoder. */
function stringsNear(text: string): string[] {
  const other = (char: string) => (/[0-8]/.test(char) ? String(Number(char) + 1) : /b/i.test(char) ? 'C' : 'B')
  const at = (index: number) => text.slice(0, index) + other(text.charAt(index)) + text.slice(index + 1)
  return [at(text.length - 1), at(text.length >> 1), at(0)]
}

function valueAt(value: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>((found, step) => (isContainer(found) ? found[step] : undefined), value)
}

function edited(value: unknown, path: string, edit: (parent: Record<Step, unknown>, step: Step) => void): unknown {
  const copy = structuredClone(value)
  const steps = stepsOf(path)
  const last = steps.pop() as Step
  const parent = steps.reduce<unknown>((found, step) => (found as Record<Step, unknown>)[step], copy)
  edit(parent as Record<Step, unknown>, last)
  return copy
}
